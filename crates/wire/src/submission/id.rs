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

    /// The letters of an id from which on it is looked for by its beginning.
    const PREFIX_MIN: usize = 4;
    const LETTERS: usize = 32;

    /// Returns the least and the greatest id that begin as a text does, with hyphens or without; none where the text is no
    /// beginning of an id.
    #[must_use]
    pub fn beginning_with(text: &str) -> Option<(SubmissionId, SubmissionId)> {
        let letters: String = text.chars().filter(|letter| *letter != '-').collect();
        let is_one = (Self::PREFIX_MIN..=Self::LETTERS).contains(&letters.len())
            && letters.bytes().all(|letter| letter.is_ascii_hexdigit())
            && !text.starts_with('-');
        let number = is_one.then(|| u128::from_str_radix(&letters, 16).ok()).flatten()?;
        let open = 4 * u32::try_from(Self::LETTERS - letters.len()).ok()?;
        let (least, rest) = (number << open, (1_u128 << open) - 1);
        Some((SubmissionId(Uuid::from_u128(least)), SubmissionId(Uuid::from_u128(least | rest))))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<(String, String)> {
        let range = SubmissionId::beginning_with(text);
        range.map(|(least, greatest)| (least.to_string(), greatest.to_string()))
    }

    #[test]
    fn beginnings_of_ids_are_told_from_other_text() {
        let whole = "019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57";
        assert_eq!(shown(whole), Some((whole.to_owned(), whole.to_owned())));
        let begins = |least: &str, greatest: &str| Some((least.to_owned(), greatest.to_owned()));
        assert_eq!(
            shown("019A8c5e"),
            begins("019a8c5e-0000-0000-0000-000000000000", "019a8c5e-ffff-ffff-ffff-ffffffffffff")
        );
        assert_eq!(
            shown("019a8c5e-7f1c-7d"),
            begins("019a8c5e-7f1c-7d00-0000-000000000000", "019a8c5e-7f1c-7dff-ffff-ffffffffffff")
        );
        for other in ["019", "order-7", "", "-019a", "019a8c5g", "+19a8c5e", &"a".repeat(33)] {
            assert_eq!(shown(other), None, "{other}");
        }
    }
}
