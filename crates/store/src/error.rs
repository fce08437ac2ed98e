//! Three errors, three reactions.

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// Another commit came first. Take and decide again.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The store cannot be reached or cannot write now. Say so (503) and go on when it is back.
    #[error("store unavailable: {message}")]
    Unavailable {
        message: String,
        /// Lost while committing: the changes are there whole or not at all, and only the store knows.
        outcome_unknown: bool,
    },
    /// Stored data makes no sense, or a write may not have reached the disk. Stop: going on could make it worse.
    #[error("store corrupt: {0}")]
    Corrupt(String),
}

impl Error {
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Error::Unavailable { message: message.into(), outcome_unknown: false }
    }

    #[must_use]
    pub fn corrupt(message: impl Into<String>) -> Self {
        Error::Corrupt(message.into())
    }
}
