//! The exit codes of commands: part of the contract, for scripts rely on them.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine,
    /// The question was answered, and the answer is no: it failed, it has problems, it did not end in time.
    Negative,
    Usage,
    NotFound,
    Refused,
    Auth,
    Unreachable,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Negative => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Refused => 4,
            Exit::Auth => 5,
            Exit::Unreachable => 6,
        }
    }
}

/// An error of our own that says how to end and what to do next.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) next: Option<String>,
}

impl Stop {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Stop {
        Stop { exit, message: message.into(), next: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Stop {
        Stop::new(Exit::Usage, message)
    }

    pub(crate) fn next(mut self, next: impl Into<String>) -> Stop {
        self.next = Some(next.into());
        self
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}
