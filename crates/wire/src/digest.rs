//! SHA-256 values, as base64url text without padding wherever they are written.

use std::fmt;
use std::str::FromStr;

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeSliceError, Engine as _};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::token::Bits;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest where there is nothing to digest.
    pub const NONE: Digest = Digest([0; 32]);

    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Digest::of_parts(&[bytes])
    }

    /// A document's, as leaves have it: of its salt and then its text.
    #[must_use]
    pub fn salted(salt: Bits, text: &str) -> Self {
        Digest::of_parts(&[&salt.0, text.as_bytes()])
    }

    /// The digest of the parts, one after the other.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Digest(hash.finalize().into())
    }
}

/// Characters of a digest's text.
pub const TEXT_LEN: usize = 43;

impl Digest {
    /// Writes the text into a buffer: every event has several digests, and none of them should ask for memory.
    pub fn text<'b>(&self, buffer: &'b mut [u8; TEXT_LEN]) -> &'b str {
        let written = URL_SAFE_NO_PAD.encode_slice(self.0, buffer).map(|length| &buffer[..length]);
        written.ok().and_then(|text| std::str::from_utf8(text).ok()).expect("32 bytes are 43 characters")
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(&mut [0; TEXT_LEN]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes) {
            Ok(32) => Ok(Digest(bytes)),
            Ok(_) | Err(DecodeSliceError::OutputSliceTooSmall) => Err("not 32 bytes"),
            Err(DecodeSliceError::DecodeError(_)) => Err("not base64url"),
        }
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text(&mut [0; TEXT_LEN]))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader)
    }
}

/// Reads in place: rows and events have several digests each, and none needs a text of its own.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SHA-256 value as base64url")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
        text.parse().map_err(E::custom)
    }
}
