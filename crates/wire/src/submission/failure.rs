//! Failures, and how they may be said.

use serde::{Deserialize, Serialize};

use crate::Name;

/// A failure, as workers say it and people read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub code: Name,
    pub message: String,
}

impl Failure {
    const CODE_BYTES_MAX: usize = 64;
    const MESSAGE_CHARS_MAX: usize = 2_000;
    /// The spelling of a code, for messages to people.
    pub const CODE_SPELLING: &str =
        "use 1 to 64 characters of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit";

    /// A failure whose message is cut where it is too long.
    #[must_use]
    pub fn new(code: impl Into<Name>, message: &str) -> Self {
        Failure { code: code.into(), message: message.chars().take(Self::MESSAGE_CHARS_MAX).collect() }
    }

    /// Tells whether a text is spelled as an error code must be.
    #[must_use]
    pub fn is_code(code: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        code.len() <= Self::CODE_BYTES_MAX
            && code.bytes().next().is_some_and(plain)
            && code.bytes().all(|byte| plain(byte) || b"._-".contains(&byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_short_plain_words() {
        for code in ["a", "git-clone", "http.404", "9_lives", &"a".repeat(64)] {
            assert!(Failure::is_code(code), "{code}");
        }
        for code in ["", "-a", ".a", "A", "a b", "é", "a\n", &"a".repeat(65)] {
            assert!(!Failure::is_code(code), "{code}");
        }
    }
}
