//! The keys and witnesses a verifier believes, and a checkpoint whose signatures were checked with them.

use super::{Algorithm, Checkpoint, MalformedCheckpoint, MalformedNote, Note, Signature, VerifierKey};
use crate::policy::Policy;

/// The log's keys, and the witnesses that must have seen what the log signs.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Any one suffices: while keys overlap, a verifier may know only the old or only the new one.
    pub keys: Vec<VerifierKey>,
    pub policy: Option<Policy>,
}

/// A checkpoint whose signatures were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub checkpoint: Checkpoint,
    pub note: Note,
    /// Names of the keys of the log that signed it.
    pub signed_by: Vec<String>,
    pub cosigned_by: Vec<Cosigned>,
    /// Names in signatures nobody here knows: they say nothing, and are not held against it.
    pub unknown: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cosigned {
    pub name: String,
    /// Seconds since 1970, by the witness's clock.
    pub at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    #[error(transparent)]
    Note(#[from] MalformedNote),
    #[error(transparent)]
    Checkpoint(#[from] MalformedCheckpoint),
    #[error("the signature of {0} is not of this text")]
    Forged(String),
    #[error("no key you trust signed the checkpoint of {origin}; you trust {trusted}")]
    Unsigned { origin: String, trusted: String },
    #[error("too few witnesses you trust have seen the checkpoint: {cosigned} of them, which is no quorum")]
    Unwitnessed { cosigned: usize },
}

impl Trust {
    #[must_use]
    pub fn key(key: VerifierKey) -> Self {
        Trust { keys: vec![key], policy: None }
    }

    fn log_keys(&self) -> impl Iterator<Item = &VerifierKey> {
        let of_policy = self.policy.iter().flat_map(|policy| policy.logs.iter().map(|log| &log.key));
        self.keys.iter().chain(of_policy)
    }

    /// Checks every signature of a known key. One that is wrong spoils the whole: somebody tampered.
    pub fn open(&self, bytes: &[u8]) -> Result<Opened, Distrust> {
        let note = Note::parse(bytes)?;
        let checkpoint: Checkpoint = note.text.parse()?;
        let (mut signed_by, mut cosigned_by, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        let mut witnesses = Vec::new();
        for signature in &note.signatures {
            let is = |key: &VerifierKey| key.name() == signature.name && key.id() == signature.id;
            let log = self.log_keys().find(|key| is(key) && key.algorithm() == Algorithm::Ed25519);
            let witness = self.policy.as_ref().and_then(|policy| policy.witness_of(signature));
            if let Some(key) = log {
                checked(key.verifies(&note.text, &signature.bytes), signature)?;
                // A log signs as itself: its key does not speak for another log.
                if key.name() == checkpoint.origin && !signed_by.contains(&signature.name) {
                    signed_by.push(signature.name.clone());
                }
            } else if let Some((index, key)) = witness {
                let at = key.cosigned_at(&note.text, &signature.bytes);
                checked(at.is_some(), signature)?;
                if !witnesses.contains(&index) {
                    witnesses.push(index);
                    cosigned_by.push(Cosigned { name: signature.name.clone(), at: at.unwrap_or_default() });
                }
            } else {
                unknown.push(signature.name.clone());
            }
        }
        if signed_by.is_empty() {
            let trusted: Vec<String> = self.log_keys().map(|key| key.name().to_owned()).collect();
            return Err(Distrust::Unsigned { origin: checkpoint.origin, trusted: trusted.join(", ") });
        }
        if self.policy.as_ref().is_some_and(|policy| !policy.is_satisfied_by(&witnesses)) {
            return Err(Distrust::Unwitnessed { cosigned: witnesses.len() });
        }
        Ok(Opened { checkpoint, note, signed_by, cosigned_by, unknown })
    }
}

fn checked(holds: bool, signature: &Signature) -> Result<(), Distrust> {
    if holds { Ok(()) } else { Err(Distrust::Forged(signature.name.clone())) }
}
