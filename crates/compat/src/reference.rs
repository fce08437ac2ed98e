//! References that callers hand back: leases that are acknowledged, messages that are purged. Opaque to whoever has them.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wire::{Name, SubmissionId};

/// More than any of them needs.
const CHARS_MAX: usize = 2_048;

/// The lease of a message, with what its settlement takes besides the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseId {
    #[serde(rename = "l")]
    pub(crate) token: String,
    #[serde(rename = "t")]
    pub(crate) task: String,
    #[serde(rename = "a")]
    pub(crate) attempt: u32,
}

/// A message that was peeked at: a submission and its visit of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageRef {
    #[serde(rename = "i")]
    pub(crate) submission: SubmissionId,
    #[serde(rename = "s")]
    pub(crate) state: Name,
    #[serde(rename = "r")]
    pub(crate) requeues: u32,
}

/// Returns the name of a message, as consumers know it.
pub(crate) fn id(submission: SubmissionId, state: &str, requeues: u32) -> String {
    format!("{submission}.{state}.{requeues}")
}

pub(crate) fn write(reference: &impl Serialize) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(reference).expect("a reference has only string keys"))
}

/// Reads a reference; none is one that was not given out here.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    let bytes = (text.len() <= CHARS_MAX).then(|| BASE64_URL_SAFE_NO_PAD.decode(text).ok())??;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_back_and_nothing_else_is() {
        let lease = LeaseId { token: "x".to_owned(), task: "a.b".to_owned(), attempt: 2 };
        assert_eq!(read(&write(&lease)), Some(lease));
        for text in ["", "?", "e30", &"A".repeat(CHARS_MAX + 1)] {
            assert_eq!(read::<LeaseId>(text), None, "{text}");
        }
    }
}
