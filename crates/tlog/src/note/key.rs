//! Verifier keys: `<name>+<id>+<algorithm and public key>`, the line a deployment publishes and a verifier is given.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature as Ed25519Signature, VerifyingKey};
use wire::Digest;

use super::{from_base64, to_base64};

/// The kind of a key: what it signs, and who signs with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// The note's text: a log.
    Ed25519,
    /// The text and a time: a witness.
    CosignatureV1,
}

impl Algorithm {
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Algorithm::Ed25519 => 1,
            Algorithm::CosignatureV1 => 4,
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        [Algorithm::Ed25519, Algorithm::CosignatureV1].into_iter().find(|known| known.byte() == byte)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("not a key line: it reads name+id+key")]
    Shape,
    #[error("a key's name is not empty and has no space, plus or control character")]
    Name,
    #[error("algorithm {0} is not known here; Ed25519 is 1, a witness's cosignature 4")]
    Algorithm(u8),
    #[error("the key's id is not that of its name and key: a letter may be wrong")]
    Id,
    #[error("the bytes are no Ed25519 key")]
    Key,
}

/// Tells whether a key may have this name.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c.is_control() || c == '+')
}

/// Returns the id of a key in signature lines: short, and no secret.
pub(super) fn key_id(name: &str, algorithm: Algorithm, public: &[u8; 32]) -> u32 {
    let Digest(hash) = Digest::of_parts(&[name.as_bytes(), b"\n", &[algorithm.byte()], public]);
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// A public key by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: u32,
    algorithm: Algorithm,
    key: VerifyingKey,
}

impl VerifierKey {
    pub fn new(name: &str, algorithm: Algorithm, public: &[u8; 32]) -> Result<Self, KeyError> {
        if !is_key_name(name) {
            return Err(KeyError::Name);
        }
        let key = VerifyingKey::from_bytes(public).map_err(|_| KeyError::Key)?;
        Ok(VerifierKey { name: name.to_owned(), id: key_id(name, algorithm, public), algorithm, key })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    #[must_use]
    pub fn public(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Tells whether these are the signature bytes of this key under `text`.
    #[must_use]
    pub fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        match self.algorithm {
            Algorithm::Ed25519 => self.strictly(text.as_bytes(), signature),
            Algorithm::CosignatureV1 => self.cosigned_at(text, signature).is_some(),
        }
    }

    /// The time, in seconds, at which this witness's signature says it was made; `None` if it is not its signature.
    #[must_use]
    pub fn cosigned_at(&self, text: &str, signature: &[u8]) -> Option<u64> {
        let (time, signature) = signature.split_first_chunk::<8>()?;
        let time = u64::from_be_bytes(*time);
        let is_time = self.algorithm == Algorithm::CosignatureV1 && i64::try_from(time).is_ok();
        (is_time && self.strictly(cosigned_text(text, time).as_bytes(), signature)).then_some(time)
    }

    fn strictly(&self, message: &[u8], signature: &[u8]) -> bool {
        Ed25519Signature::from_slice(signature)
            .is_ok_and(|signature| self.key.verify_strict(message, &signature).is_ok())
    }
}

/// Returns the text that a witness signs.
pub(super) fn cosigned_text(text: &str, seconds: u64) -> String {
    format!("cosignature/v1\ntime {seconds}\n{text}")
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.algorithm.byte()], self.public().as_slice()].concat();
        write!(f, "{}+{:08x}+{}", self.name, self.id, to_base64(&key))
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut parts = text.trim_end_matches('\n').splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(KeyError::Shape);
        };
        let bytes = from_base64(key).ok_or(KeyError::Shape)?;
        let (algorithm, public) = bytes.split_first().ok_or(KeyError::Shape)?;
        let algorithm = Algorithm::of_byte(*algorithm).ok_or(KeyError::Algorithm(*algorithm))?;
        let public = public.try_into().map_err(|_| KeyError::Key)?;
        let key = VerifierKey::new(name, algorithm, public)?;
        if format!("{:08x}", key.id) == id { Ok(key) } else { Err(KeyError::Id) }
    }
}
