//! The reasons why there is no answer. Paths and queries of addresses may hold secrets and are in no text.

use std::error::Error as StdError;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the address cannot be used: {0}")]
    InvalidUrl(&'static str),
    #[error("addresses that begin with `{0}:` are not fetched")]
    RefusedScheme(String),
    #[error("port {0} is not among those that may be connected to")]
    RefusedPort(u16),
    #[error("{0} is not on the public internet, and this deployment does not allow it")]
    RefusedAddress(String),
    #[error("the name {0} cannot be resolved")]
    Dns(String),
    #[error("cannot connect to {host}: {reason}")]
    Connect { host: String, reason: String },
    #[error("no secure connection to {host}: {reason}")]
    Tls { host: String, reason: String },
    #[error("it took too long")]
    Timeout,
    #[error("the answer's headers are too large")]
    HeadTooLarge,
    #[error("it is larger than the {0} bytes that are allowed")]
    TooLarge(u64),
    #[error("the other side closed the connection before its answer was complete")]
    Closed,
    #[error("what came back is no HTTP answer")]
    Garbled,
    #[error("the answer is longer than it said")]
    Overlong,
    #[error("the answer is not the part that was asked for: {0}")]
    OtherPart(&'static str),
    #[error("what was to be sent cannot be read: {0}")]
    Upload(String),
    #[error("redirected more than {0} times")]
    Redirects(usize),
}

impl Error {
    /// Stable, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidUrl(_) => "invalid-url",
            Error::RefusedScheme(_) => "refused-scheme",
            Error::RefusedPort(_) => "refused-port",
            Error::RefusedAddress(_) => "refused-address",
            Error::Dns(_) => "dns",
            Error::Connect { .. } => "connect",
            Error::Tls { .. } => "tls",
            Error::Timeout => "timeout",
            Error::HeadTooLarge => "head-too-large",
            Error::TooLarge(_) => "too-large",
            Error::Closed => "closed",
            Error::Garbled => "garbled",
            Error::Overlong => "overlong",
            Error::OtherPart(_) => "other-part",
            Error::Upload(_) => "upload",
            Error::Redirects(_) => "redirects",
        }
    }

    /// Returns whether another try might go better. What is not allowed now will not be allowed then.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        !self.is_refusal() && !matches!(self, Error::InvalidUrl(_) | Error::TooLarge(_))
    }

    /// Returns whether the policy keeps this from being fetched.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Error::RefusedScheme(_) | Error::RefusedPort(_) | Error::RefusedAddress(_))
    }

    /// Returns the reason that one of ours gave further down, where a library wraps it in errors of its own.
    pub(crate) fn beneath(error: &(dyn StdError + 'static)) -> Option<Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(ours) = error.downcast_ref::<Error>() {
                return Some(ours.clone());
            }
            // The source of an error of I/O skips the one it was made of.
            next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        None
    }
}
