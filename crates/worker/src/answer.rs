//! Answers of handlers.

use std::fmt;
use std::time::Duration;

use wire::api::{ChildBody, EntryChangeBody};
use wire::{Json, Millis};

/// A task that went well, or that is not to be done yet.
#[derive(Debug, Clone)]
pub struct Outcome(pub(crate) Kind);

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Finished {
        outcome: String,
        output: Option<Json>,
        result: Option<Json>,
        children: Vec<ChildBody>,
        entries: Vec<EntryChangeBody>,
    },
    Snoozed(Millis),
}

impl Outcome {
    /// Makes one of the outcomes that the task's state declares under `on`.
    #[must_use]
    pub fn new(outcome: impl Into<String>) -> Outcome {
        let (children, entries) = (Vec::new(), Vec::new());
        Outcome(Kind::Finished { outcome: outcome.into(), output: None, result: None, children, entries })
    }

    /// Says that the task of a join state has made its last children: from here on they are waited for.
    #[must_use]
    pub fn sealed() -> Outcome {
        Outcome::new(wire::api::SEALED)
    }

    /// Says "not yet": the task is given out again after this long, and no attempt is counted.
    #[must_use]
    pub fn snooze(span: Duration) -> Outcome {
        Outcome(Kind::Snoozed(millis(span)))
    }

    /// Sets the document that guards, metadata and later tasks see of this one.
    #[must_use]
    pub fn output(mut self, json: impl Into<Json>) -> Outcome {
        if let Kind::Finished { output, .. } = &mut self.0 {
            *output = Some(json.into());
        }
        self
    }

    /// Adds submissions that are made in the commit of this answer, where the state joins some.
    #[must_use]
    pub fn children(mut self, more: impl IntoIterator<Item = ChildBody>) -> Outcome {
        if let Kind::Finished { children, .. } = &mut self.0 {
            children.extend(more);
        }
        self
    }

    /// Changes an entry of a system in the commit of this answer. An entry that is not what the change expects refuses the
    /// answer as a whole.
    #[must_use]
    pub fn entry(mut self, change: EntryChangeBody) -> Outcome {
        if let Kind::Finished { entries, .. } = &mut self.0 {
            entries.push(change);
        }
        self
    }

    /// Sets the document that the submission as a whole came to.
    #[must_use]
    pub fn result(mut self, json: impl Into<Json>) -> Outcome {
        if let Kind::Finished { result, .. } = &mut self.0 {
            *result = Some(json.into());
        }
        self
    }
}

/// An attempt that went wrong: tried again as the pipeline says, unless it is permanent.
///
/// Any error becomes one through `?`, under the code `error`. (So this is no `std::error::Error` itself.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code that retry rules and guards look at.
    pub code: String,
    /// The text that people read.
    pub message: String,
    pub retryable: bool,
    /// The pause before another try; none: as the pipeline says.
    pub after: Option<Millis>,
}

impl Failure {
    /// Makes a failure. Retry rules and guards look at `code`, people read `message`.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure { code: code.into(), message: message.into(), retryable: true, after: None }
    }

    /// Sets the pause before another try, in place of the pipeline's. How often it is tried stays the pipeline's to say.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Failure {
        self.after = Some(millis(pause));
        self
    }

    /// Says that another try would fail in the same way.
    #[must_use]
    pub fn permanent(mut self) -> Failure {
        self.retryable = false;
        self
    }
}

fn millis(span: Duration) -> Millis {
    Millis::new(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        let mut message = error.to_string();
        let mut inner = error.source();
        while let Some(source) = inner {
            message = format!("{message}: {source}");
            inner = source.source();
        }
        Failure::new("error", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_is_a_failure_that_is_tried_again() {
        fn read() -> Result<u32, Failure> {
            Ok("x".parse::<u32>()?)
        }
        assert_eq!(read(), Err(Failure::new("error", "invalid digit found in string")));
        assert!(!Failure::new("a", "b").permanent().retryable);
    }
}
