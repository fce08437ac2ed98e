//! Telling how a task ended, until somebody has heard.

use std::time::Duration;

use wire::api::{ErrorBody, FailBody, FinishBody, GiveBackBody, Problem, SnoozeBody};

use crate::TaskSource;
use crate::answer::{Failure, Kind, Outcome};
use crate::retries::Retries;

/// A settlement is good long after its lease's time if nobody else has the task: worth ten minutes of trying.
const TRIES: Retries =
    Retries { times: 130, pause: Duration::from_millis(200), pause_max: Duration::from_secs(5) };

/// The last word about a task, the same at every try.
#[derive(Debug, Clone)]
pub enum Settlement {
    Finish(FinishBody),
    Fail(FailBody),
    Snooze(SnoozeBody),
    GiveBack(GiveBackBody),
}

impl Settlement {
    pub(crate) fn new(token: String, answer: Result<Outcome, Failure>) -> Settlement {
        match answer {
            Ok(Outcome(Kind::Finished { outcome, output, result, children, entries })) => {
                Settlement::Finish(FinishBody { token, outcome, output, result, children, entries })
            }
            Ok(Outcome(Kind::Snoozed(span))) => Settlement::Snooze(SnoozeBody { token, span }),
            Err(Failure { code, message, retryable, after }) => {
                let error = ErrorBody { code: error_code(&code), message, retryable, retry_after: after };
                Settlement::Fail(FailBody { token, error })
            }
        }
    }

    /// Makes the settlement of a task that was stopped before its end.
    pub(crate) fn give_back(token: String) -> Settlement {
        Settlement::GiveBack(GiveBackBody { token })
    }

    pub(crate) async fn send(self, source: &dyn TaskSource) {
        let mut settlement = self;
        loop {
            let Some(problem) = settlement.answered(source).await else { return };
            match settlement.instead(&problem) {
                Some(other) => settlement = other,
                None => return,
            }
        }
    }

    /// Returns the problem with it, if there is one.
    async fn answered(&self, source: &dyn TaskSource) -> Option<Problem> {
        for failed in 1..=TRIES.times {
            match source.settle(self).await {
                Ok(result) => match result.problem {
                    Some(problem) if problem.status >= 500 => {}
                    problem => return problem,
                },
                Err(error) if error.is_passing() => {}
                Err(error) => {
                    tracing::error!(%error, "the server refuses to hear how a task ended; its lease will expire");
                    return None;
                }
            }
            tokio::time::sleep(TRIES.pause_after(failed)).await;
        }
        tracing::error!("the server could not be told how a task ended; its lease will expire");
        None
    }

    /// Returns the failure that is told in place of an answer that the pipeline does not take: another try would repeat it,
    /// and people look for failures where failures are.
    fn instead(&self, problem: &Problem) -> Option<Settlement> {
        let token = match self {
            Settlement::Finish(body) => &body.token,
            Settlement::Snooze(body) => &body.token,
            Settlement::Fail(_) => {
                tracing::warn!(code = problem.code, detail = problem.detail, "a failure was not taken");
                return None;
            }
            Settlement::GiveBack(_) => {
                tracing::warn!(code = problem.code, detail = problem.detail, "a task was not taken back");
                return None;
            }
        };
        if problem.code == "stale-lease" || problem.code == "unknown-submission" {
            tracing::warn!(code = problem.code, "a task's answer came too late and changes nothing");
            return None;
        }
        tracing::error!(code = problem.code, detail = problem.detail, "a task's answer was refused");
        let failure = Failure::new(problem.code.clone(), problem.detail.clone()).permanent();
        Some(Settlement::new(token.clone(), Err(failure)))
    }
}

/// Returns the code as the server takes it: a failure must not be lost over its spelling.
fn error_code(code: &str) -> String {
    const CHARS_MAX: usize = 64;
    let lower = code.chars().map(|c| c.to_ascii_lowercase());
    let plain = lower.map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let plain: String = plain.skip_while(|c| !c.is_ascii_alphanumeric()).take(CHARS_MAX).collect();
    if plain.is_empty() { "error".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::error_code;

    #[test]
    fn error_codes_are_brought_into_shape() {
        assert_eq!(error_code("git-clone"), "git-clone");
        assert_eq!(error_code("Bad Gateway: 502"), "bad-gateway--502");
        assert_eq!(error_code("__x"), "x");
        assert_eq!(error_code("é"), "error");
        assert_eq!(error_code(&"a".repeat(100)).len(), 64);
    }
}
