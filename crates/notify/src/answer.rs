//! What became of a message, and telling the engine.

use std::time::Duration;

use engine::Engine;
use model::command::{Fail, Finish, GiveBack, Snooze};
use model::submission::Failure;
use model::{Code, Command, Json, Millis, Token};
use serde_json::Value;

/// A settlement is good long after its lease's time if nobody else has the task.
const TRIES_MAX: usize = 120;
const PAUSE: Duration = Duration::from_secs(1);
const TEXT_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// An outcome of the task, with its output.
    Done(&'static str, Value),
    Failed {
        code: String,
        message: String,
        retryable: bool,
    },
    /// Not now: another time, as if it had not been claimed.
    Later(Duration),
    /// Not here: another server, as if it had not been claimed.
    Elsewhere,
}

impl Answer {
    pub(crate) fn failed(code: impl Into<String>, message: impl Into<String>) -> Answer {
        Answer::Failed { code: code.into(), message: message.into(), retryable: true }
    }

    /// Another try would fail the same way.
    pub(crate) fn hopeless(code: impl Into<String>, message: impl Into<String>) -> Answer {
        Answer::Failed { code: code.into(), message: message.into(), retryable: false }
    }

    fn command(&self, token: Token) -> Command {
        match self {
            Answer::Done(outcome, output) => Command::Finish(Finish {
                token,
                outcome: (*outcome).into(),
                output: Some(Json::from(output.clone())),
                result: None,
                children: Vec::new(),
                entries: Vec::new(),
            }),
            Answer::Failed { code, message, retryable } => {
                let failure = Failure { code: code.as_str().into(), message: message.clone() };
                Command::Fail(Fail { token, failure, retryable: *retryable })
            }
            Answer::Elsewhere => Command::GiveBack(GiveBack { token }),
            Answer::Later(after) => {
                let span = Millis::new(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
                Command::Snooze(Snooze { token, span })
            }
        }
    }

    /// Says it until it is heard.
    pub(crate) async fn tell(self, engine: &Engine, token: Token) {
        let mut answer = self;
        for _ in 0..TRIES_MAX {
            let Err(refusal) = engine.settle(token, answer.command(token)).await else { return };
            match refusal.code {
                Code::Unavailable | Code::OutcomeUnknown | Code::Overloaded => {
                    tokio::time::sleep(PAUSE).await;
                }
                Code::StaleLease | Code::UnknownSubmission => {
                    tracing::warn!(submission = %token.submission, "a delivery's answer came too late");
                    return;
                }
                Code::Draining => return,
                // A pipeline of somebody's own that does not know the outcome: said where people look for failures.
                code if matches!(answer, Answer::Done(..)) => {
                    answer = Answer::hopeless(code.as_str(), refusal.message);
                }
                code => {
                    tracing::error!(submission = %token.submission, code = code.as_str(), "{refusal}");
                    return;
                }
            }
        }
        tracing::error!(submission = %token.submission, "nobody could be told what became of a delivery");
    }
}

/// What another side said, fit to be kept and shown: one line of visible characters, not many.
pub(crate) fn tame(text: &str, chars_max: usize) -> String {
    let visible = text.chars().map(|c| if is_visible(c) { c } else { ' ' });
    let mut line = String::new();
    for word in visible.take(TEXT_CHARS_MAX.max(chars_max)).collect::<String>().split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.chars().count() > chars_max {
        line = line.chars().take(chars_max).collect::<String>() + "..";
    }
    line
}

/// Tells whether a character is what it looks like. Some are none, and some turn the text around them.
fn is_visible(c: char) -> bool {
    let steers = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffd}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !steers
}

#[cfg(test)]
mod tests {
    use super::tame;

    #[test]
    fn what_others_say_is_kept_short_and_plain() {
        assert_eq!(tame("  all\r\n\tfine \u{1b}[31m\0", 20), "all fine [31m");
        assert_eq!(tame(&"x".repeat(10_000), 5), "xxxxx..");
        assert_eq!(tame("", 5), "");
        assert_eq!(
            tame("250 ok\u{202e}drowssap\u{2028}next\u{200b}\u{feff}\u{e0041}", 40),
            "250 ok drowssap next"
        );
    }
}
