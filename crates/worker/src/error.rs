//! Errors between those who ask and whoever answers: a server, or the engine in the same process.

use wire::api::Problem;

/// A call that was not answered as it was meant.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server said no, and why.
    #[error("{} ({})", .0.detail, .0.code)]
    Problem(Box<Problem>),
    /// No answer came. Whether the server did what it was asked is not known unless the connection was refused.
    #[error("the server at {server} cannot be reached: {reason}")]
    Unreachable { server: String, reason: String },
    /// The server does not talk TLS and was asked to, or the other way around.
    #[error("the server at {server} {}", if *.talks_tls { "talks TLS: use https://" } else { "does not talk TLS: use http://" })]
    Scheme { server: String, talks_tls: bool },
    /// An answer came that is not one of Milepost's.
    #[error("the server's answer cannot be understood: {0}")]
    Protocol(String),
    /// An answer came that is larger than what was asked for can be.
    #[error("the server's answer has over {bytes_max} bytes, and what was asked for cannot have more")]
    TooLarge { bytes_max: usize },
    /// The client was given something it cannot use.
    #[error("{0}")]
    Setup(String),
}

impl Error {
    /// The stable code of a refusal.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Error::Problem(problem) => Some(&problem.code),
            _ => None,
        }
    }

    /// Tells whether asking again later may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Error::Problem(problem) => problem.status >= 500 || problem.status == 429,
            Error::Unreachable { .. } | Error::Protocol(_) => true,
            Error::Scheme { .. } | Error::TooLarge { .. } | Error::Setup(_) => false,
        }
    }
}
