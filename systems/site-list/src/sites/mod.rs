//! Sites as they are on the network: their names, and what they answer.

mod names;
mod visit;

use crate::refused::Refused;

pub use names::Names;
pub use visit::{Reach, Sites};

/// The reason why a site could not be judged as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The site itself is the reason: asking again would give the same answer.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The way to it is, and may be better the next time.
    #[error("{code}: {message}")]
    Passing { code: &'static str, message: String },
}

impl Trouble {
    fn passing(code: &'static str, message: impl Into<String>) -> Trouble {
        Trouble::Passing { code, message: message.into() }
    }
}
