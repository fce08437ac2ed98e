//! Positions that a caller carries from one page to the next without being able to read them.
//!
//! The place is hidden under a digest of a secret and of a number that is itself a digest of secret and place: equal places
//! look equal, nothing else can be told from one, and what was not made here does not open.

use model::Digest;

/// The number of bytes that are hidden: a time and an id.
pub(crate) const PLACE: usize = 24;
const NUMBER: usize = 8;

#[derive(Clone, Copy)]
pub(crate) struct Seal(pub(crate) [u8; 32]);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl Seal {
    pub(crate) fn close(&self, place: [u8; PLACE]) -> String {
        let number = self.number(&place);
        let hidden = self.mask(&number, place);
        number.iter().chain(&hidden).map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn open(&self, text: &str) -> Option<[u8; PLACE]> {
        let digits = text.as_bytes();
        if digits.len() != 2 * (NUMBER + PLACE) || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let bytes: Option<Vec<u8>> =
            (0..NUMBER + PLACE).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect();
        let bytes = bytes?;
        let (number, hidden) = (bytes[..NUMBER].try_into().ok()?, bytes[NUMBER..].try_into().ok()?);
        let place = self.mask(&number, hidden);
        (self.number(&place) == number).then_some(place)
    }

    fn number(&self, place: &[u8; PLACE]) -> [u8; NUMBER] {
        let digest = Digest::of_parts(&[&self.0, b"number", place]).0;
        std::array::from_fn(|index| digest[index])
    }

    fn mask(&self, number: &[u8; NUMBER], place: [u8; PLACE]) -> [u8; PLACE] {
        let digest = Digest::of_parts(&[&self.0, b"mask", number]).0;
        std::array::from_fn(|index| place[index] ^ digest[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_here_and_nowhere_else() {
        let (seal, other) = (Seal([1; 32]), Seal([2; 32]));
        let place = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let sealed = seal.close(place);
        assert_eq!(seal.open(&sealed), Some(place));
        assert_eq!(other.open(&sealed), None);
        let plain: String = place.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!sealed.contains(&plain[..8]), "{sealed}");
        for wrong in ["", "00", &sealed[1..], &sealed.replace(&sealed[..2], "zz"), &"é".repeat(32)] {
            assert_eq!(seal.open(wrong), None, "{wrong}");
        }
    }
}
