//! The exit codes of commands: part of the contract, for scripts rely on them.

use std::fmt;

/// The end of a command, as scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
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
    /// Returns the number that the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
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

/// An error that says how to end and what to do next.
#[derive(Debug)]
pub struct Stop {
    pub exit: Exit,
    pub message: String,
    pub next: Option<String>,
}

impl Stop {
    #[must_use]
    pub fn new(exit: Exit, message: impl Into<String>) -> Stop {
        Stop { exit, message: message.into(), next: None }
    }

    /// Makes one about a command that was given wrongly.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Stop {
        Stop::new(Exit::Usage, message)
    }

    /// Says what to do next.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Stop {
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
