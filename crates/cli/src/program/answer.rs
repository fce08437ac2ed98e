//! The answers of a program, and what its end says where it answered nothing.

use std::process::ExitStatus;

use client::{Failure, Outcome};
use model::{Json, Millis};
use serde::Deserialize;
use wire::api::{ChildBody, ErrorBody};
use wire::submission::Progress;

/// One of `outcome`, `error` and `snooze`; or `progress`, after which an answer is still to come.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    /// The token of the task, where one process has many.
    pub(super) token: Option<String>,
    outcome: Option<String>,
    output: Option<Json>,
    result: Option<Json>,
    children: Option<Vec<ChildBody>>,
    error: Option<ErrorBody>,
    snooze: Option<Millis>,
    pub(super) progress: Option<Progress>,
}

impl Said {
    pub(super) fn read(bytes: &[u8]) -> Result<Said, String> {
        let said: Said = serde_json::from_slice(bytes).map_err(|error| Json::fault_of(bytes, &error))?;
        let Said { outcome, error, snooze, output, result, children, progress, .. } = &said;
        let answers = [outcome.is_some(), error.is_some(), snooze.is_some(), progress.is_some()];
        if answers.iter().filter(|answers| **answers).count() != 1 {
            return Err("an answer has one of outcome, error and snooze".to_owned());
        }
        if outcome.is_none() && (output.is_some() || result.is_some() || children.is_some()) {
            return Err("output, result and children go with an outcome".to_owned());
        }
        Ok(said)
    }

    /// Reads a line that says how far the task has come, and nothing else.
    pub(super) fn progress_of(line: &[u8]) -> Option<Progress> {
        // Anything else than an object with this member is quickly passed over.
        let said = line.trim_ascii_start().starts_with(b"{").then(|| Said::read(line).ok())??;
        said.progress
    }

    pub(super) fn answer(self) -> Result<Outcome, Failure> {
        if let Some(ErrorBody { code, message, retryable, retry_after }) = self.error {
            let failure = Failure { after: retry_after, ..Failure::new(code, message) };
            return Err(if retryable { failure } else { failure.permanent() });
        }
        if let Some(span) = self.snooze {
            return Ok(Outcome::snooze(span.into()));
        }
        let mut outcome = Outcome::new(self.outcome.unwrap_or_default());
        if let Some(output) = self.output {
            outcome = outcome.output(output);
        }
        if let Some(result) = self.result {
            outcome = outcome.result(result);
        }
        Ok(outcome.children(self.children.unwrap_or_default()))
    }
}

/// An answer that cannot be understood: a fault of the program that another try would repeat.
pub(super) fn invalid(why: &str) -> Failure {
    Failure::new("invalid-answer", format!("the program's answer cannot be understood: {why}")).permanent()
}

/// The end of a program that did not answer.
pub(super) fn ended(status: ExitStatus, last_words: &str) -> Failure {
    let (code, how) = match status.code() {
        Some(0) => ("no-answer".to_owned(), "ended well without an answer".to_owned()),
        Some(number) => (format!("exit-{number}"), format!("ended with exit code {number}")),
        None => {
            let number = signal(status);
            (format!("signal-{number}"), format!("was ended by signal {number}"))
        }
    };
    let message = match last_words {
        "" => format!("the program {how} and said nothing"),
        words => words.to_owned(),
    };
    Failure::new(code, message)
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> i32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_thing() {
        for good in [
            r#"{"outcome": "sent"}"#,
            r#"{"outcome": "sent", "output": {"n": 1.10}, "result": null, "children": [{"payload": 1}]}"#,
            r#"{"error": {"code": "smtp", "message": "no route"}}"#,
            r#"{"snooze": "30s"}"#,
            r#"{"progress": {"done": 3, "total": 10, "line": "a.nc"}}"#,
        ] {
            assert!(Said::read(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in [
            "",
            "sent",
            "{}",
            r#"{"outcome": "sent", "snooze": "30s"}"#,
            r#"{"snooze": "30"}"#,
            r#"{"snooze": "30s", "output": 1}"#,
            r#"{"progress": {"done": 3}, "outcome": "sent"}"#,
            r#"{"progress": {"done": -1}}"#,
            r#"{"outcome": "sent", "outptu": 1}"#,
            r#"{"outcome": "sent"} {"outcome": "sent"}"#,
        ] {
            assert!(Said::read(bad.as_bytes()).is_err(), "{bad}");
        }
        let told = Said::read(b"nope").unwrap_err();
        assert_eq!(told, "it is not JSON: expected a value at line 1 column 1");
    }

    #[test]
    fn failures_keep_whether_they_are_for_good() {
        let read = |text: &str| Said::read(text.as_bytes()).unwrap().answer().unwrap_err();
        let failure = read(r#"{"error": {"code": "smtp", "message": "no", "retryable": false}}"#);
        assert_eq!(failure, Failure::new("smtp", "no").permanent());
        assert_eq!(read(r#"{"error": {"code": "smtp", "message": "no"}}"#), Failure::new("smtp", "no"));
    }
}
