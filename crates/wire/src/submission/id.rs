//! The ids of submissions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::digest::Digest;
use crate::time::Time;

/// A UUIDv7: ordered by the time it was made, so new rows land at the end of every index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SubmissionId(pub Uuid);

impl SubmissionId {
    /// The id of a parent's child by a name the parent gave it: the same name is the same child, however often it is
    /// made. Its time is the parent's.
    #[must_use]
    pub fn of_child(parent: SubmissionId, name: &str) -> Self {
        let hash = Digest::of_parts(&[b"child\0", parent.0.as_bytes(), name.as_bytes()]).0;
        let mut millis = [0; 8];
        millis[2..].copy_from_slice(&parent.0.as_bytes()[..6]);
        let chance: [u8; 10] = std::array::from_fn(|index| hash[index]);
        SubmissionId(
            uuid::Builder::from_unix_timestamp_millis(u64::from_be_bytes(millis), &chance).into_uuid(),
        )
    }

    /// Makes the id that stands where a submission's would, for a series of acts that concern none. No submission has
    /// such an id.
    #[must_use]
    pub fn of_series(name: &str) -> Self {
        let hash = Digest::of_parts(&[b"series\0", name.as_bytes()]).0;
        SubmissionId(uuid::Builder::from_custom_bytes(std::array::from_fn(|index| hash[index])).into_uuid())
    }

    /// Returns the time at which the submission was made, or its maker: the first bits say so.
    #[must_use]
    pub fn made_at(self) -> Time {
        let millis = self.0.as_u128() >> 80;
        Time::from_millis(i64::try_from(millis).expect("48 bits fit"))
    }

    /// Nobody's.
    pub const NIL: SubmissionId = SubmissionId(Uuid::nil());

    #[must_use]
    pub fn new(at: Time, chance: [u8; 10]) -> Self {
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        SubmissionId(uuid::Builder::from_unix_timestamp_millis(millis, &chance).into_uuid())
    }
}

impl SubmissionId {
    /// The id of the `nth` submission that a server makes at a time: greater than those it made before, so that what
    /// comes in one call keeps the order of the call wherever ids decide. `nth` counts modulo 2^26.
    #[must_use]
    pub fn nth(at: Time, nth: u32, chance: [u8; 6]) -> Self {
        // Around the bits that say which kind of UUID this is: 4 of one byte, 8, 6 of the next, 8.
        let [a, b, c] = [(nth >> 22) & 0x0f, (nth >> 14) & 0xff, (nth >> 8) & 0x3f];
        let counted = [a, b, c, nth & 0xff].map(|bits| u8::try_from(bits).unwrap_or(u8::MAX));
        let mut bytes = [0; 10];
        bytes[..4].copy_from_slice(&counted);
        bytes[4..].copy_from_slice(&chance);
        SubmissionId::new(at, bytes)
    }
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for SubmissionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(SubmissionId)
    }
}
