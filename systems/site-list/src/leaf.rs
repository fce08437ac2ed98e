//! Leaves of the list's log: one before the wait and one after it.

use serde::{Deserialize, Serialize};
use wire::Digest;

use crate::action::Action;
use crate::policy::{Policy, Signer};
use crate::rules::Host;

/// The side of the wait that a leaf is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Preliminary,
    Confirmation,
}

/// A change as the log has it. The order of the fields is part of the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    pub domain: Host,
    pub action: Action,
    /// None where the site leaves the list.
    pub signers: Option<Vec<Signer>>,
    pub threshold: Option<u32>,
    pub phase: Phase,
    /// The moment at which the submission came to be submitted: the same however often it is.
    pub date: String,
}

impl Leaf {
    /// Writes the exact bytes that the log hashes.
    ///
    /// # Panics
    /// Never: a leaf is texts and numbers.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can be written")
    }

    /// Reads a leaf, which must be in its one spelling.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Leaf> {
        let leaf: Leaf = serde_json::from_slice(bytes).ok()?;
        (leaf.json().as_bytes() == bytes).then_some(leaf)
    }

    /// Returns the policy that the change gives the site.
    #[must_use]
    pub fn policy(&self) -> Option<Policy> {
        Some(Policy { signers: self.signers.clone()?, threshold: self.threshold? })
    }

    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.json().as_bytes())
    }
}
