//! Why there is no answer. Paths and queries of addresses may hold secrets and are in no text.

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
    #[error("the other side closed the connection before its answer was complete")]
    Closed,
    #[error("what came back is no HTTP answer")]
    Garbled,
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
            Error::Closed => "closed",
            Error::Garbled => "garbled",
            Error::Redirects(_) => "redirects",
        }
    }

    /// Whether another try might go better. What is not allowed now will not be allowed then.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        !matches!(
            self,
            Error::InvalidUrl(_) | Error::RefusedScheme(_) | Error::RefusedPort(_) | Error::RefusedAddress(_)
        )
    }
}
