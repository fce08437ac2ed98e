//! Lease tokens: the submission, the number of the lease and random bits, as one opaque word.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::submission::SubmissionId;

/// The random part, so that a token cannot be guessed from an id and a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bits(pub [u8; 16]);

/// Never printed: who knows the bits can settle the lease.
impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bits(..)")
    }
}

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let bytes = URL_SAFE_NO_PAD.decode(text.as_bytes()).map_err(serde::de::Error::custom)?;
        let bits = bytes.try_into().map_err(|_| serde::de::Error::custom("not 16 bytes"))?;
        Ok(Bits(bits))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseToken {
    pub submission: SubmissionId,
    pub lease_no: u64,
    pub bits: Bits,
}

impl LeaseToken {
    /// Returns the bytes that the text spells.
    #[must_use]
    pub fn bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..16].copy_from_slice(self.submission.0.as_bytes());
        bytes[16..24].copy_from_slice(&self.lease_no.to_be_bytes());
        bytes[24..].copy_from_slice(&self.bits.0);
        bytes
    }
}

impl fmt::Display for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.bytes()))
    }
}

impl FromStr for LeaseToken {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| "not a lease token")?;
        let bytes: [u8; 40] = bytes.try_into().map_err(|_| "not a lease token")?;
        let (id, rest) = bytes.split_at(16);
        let (no, bits) = rest.split_at(8);
        Ok(LeaseToken {
            submission: SubmissionId(Uuid::from_slice(id).map_err(|_| "not a lease token")?),
            lease_no: u64::from_be_bytes(no.try_into().map_err(|_| "not a lease token")?),
            bits: Bits(bits.try_into().map_err(|_| "not a lease token")?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    #[test]
    fn a_token_reads_back_as_it_was_written() {
        let token = LeaseToken {
            submission: SubmissionId::new(Time::from_millis(1), [7; 10]),
            lease_no: u64::MAX,
            bits: Bits([9; 16]),
        };
        assert_eq!(token.to_string().parse(), Ok(token));
        assert!("".parse::<LeaseToken>().is_err());
        assert!(format!("{token}A").parse::<LeaseToken>().is_err());
    }

    #[test]
    fn a_token_never_shows_its_bits_in_debug_output() {
        assert_eq!(format!("{:?}", Bits([1; 16])), "Bits(..)");
    }
}
