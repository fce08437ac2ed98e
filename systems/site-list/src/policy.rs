//! The policy that browsers are handed: who may sign for a site.

use serde::{Deserialize, Serialize};
use wire::Digest;

pub const SIGNERS_MAX: usize = 16;

/// An identity, and the issuer that vouches for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signer {
    pub identity: String,
    pub issuer: String,
}

/// The signers of a site in their one form, and how many of them must sign.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub signers: Vec<Signer>,
    pub threshold: u32,
}

/// A policy as it is handed out. The order of the fields is part of the format.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    #[serde(rename = "x-sigstore-signers")]
    signers: Vec<Signer>,
    #[serde(rename = "x-sigstore-threshold")]
    threshold: u32,
}

impl Policy {
    /// Writes the exact bytes that browsers hash.
    ///
    /// # Panics
    /// Never: a policy is texts and a number.
    #[must_use]
    pub fn json(&self) -> String {
        let published = Published { signers: self.signers.clone(), threshold: self.threshold };
        serde_json::to_string(&published).expect("texts and numbers can be written")
    }

    /// Reads a policy as it is handed out.
    ///
    /// # Errors
    /// When the text is of another shape.
    pub fn read(json: &str) -> Result<Policy, serde_json::Error> {
        let Published { signers, threshold } = serde_json::from_str(json)?;
        Ok(Policy { signers, threshold })
    }

    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.json().as_bytes())
    }
}
