//! Receipts: the names by which whoever submitted at a public page finds the submission again.
//!
//! A receipt is made from a submission's id and a key of the deployment, and read back with the same key: nothing is stored
//! beside the submission, every server over the store reads it, and a mail can name it in the very commit it is about. Its
//! first half is a code of the pipeline and the id that nobody makes or changes without the key (HMAC-SHA256, 128 bits); its
//! second half is the id, encrypted under that code, so that a receipt does not tell the id, which says when it was made.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

use crate::submission::SubmissionId;

/// The bytes of each half.
const HALF: usize = 16;
/// The letters of a receipt.
pub const RECEIPT_CHARS: usize = 43;

/// The deployment's key for receipts.
#[derive(Clone, PartialEq, Eq)]
pub struct ReceiptKey([u8; 32]);

impl ReceiptKey {
    /// The purpose of the secret that the key is.
    pub const PURPOSE: &'static str = "receipts";

    #[must_use]
    pub fn new(secret: [u8; 32]) -> ReceiptKey {
        ReceiptKey(secret)
    }

    /// Returns the receipt of a submission. The same one has the same receipt.
    #[must_use]
    pub fn receipt(&self, pipeline: &str, id: SubmissionId) -> String {
        let code = self.code(pipeline, id);
        let hidden = xor(*id.0.as_bytes(), self.mask(&code));
        BASE64_URL_SAFE_NO_PAD.encode([code, hidden].concat())
    }

    /// Returns the submission of a pipeline that a receipt is for; none where the key has made no such receipt.
    #[must_use]
    pub fn read(&self, pipeline: &str, receipt: &str) -> Option<SubmissionId> {
        if receipt.len() != RECEIPT_CHARS {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(receipt).ok()?;
        let (code, hidden) = bytes.split_first_chunk::<HALF>()?;
        let id = SubmissionId(Uuid::from_bytes(xor(hidden.try_into().ok()?, self.mask(code))));
        // Compared in a time that says nothing about the code.
        let made = self.mac(b"code\0", pipeline, id).verify_truncated_left(code);
        made.is_ok().then_some(id)
    }

    fn code(&self, pipeline: &str, id: SubmissionId) -> [u8; HALF] {
        let whole = self.mac(b"code\0", pipeline, id).finalize().into_bytes();
        std::array::from_fn(|index| whole[index])
    }

    fn mac(&self, purpose: &[u8], pipeline: &str, id: SubmissionId) -> Hmac<Sha256> {
        let mut mac = self.keyed();
        // No name of a pipeline has a byte of zero, so one text never passes for two others.
        for part in [purpose, pipeline.as_bytes(), b"\0", id.0.as_bytes()] {
            mac.update(part);
        }
        mac
    }

    fn mask(&self, code: &[u8; HALF]) -> [u8; HALF] {
        let mut mac = self.keyed();
        mac.update(b"mask\0");
        mac.update(code);
        let whole = mac.finalize().into_bytes();
        std::array::from_fn(|index| whole[index])
    }

    fn keyed(&self) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of this kind may have any length")
    }
}

fn xor(a: [u8; HALF], b: [u8; HALF]) -> [u8; HALF] {
    std::array::from_fn(|index| a[index] ^ b[index])
}

/// Leaves out the key.
impl fmt::Debug for ReceiptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiptKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> SubmissionId {
        "0192f0c1-2345-7abc-8def-0123456789ab".parse().expect("it is an id")
    }

    #[test]
    fn a_receipt_is_read_back_by_its_key_for_its_pipeline_alone() {
        let key = ReceiptKey::new([7; 32]);
        let receipt = key.receipt("skills", id());
        assert_eq!((receipt.len(), key.read("skills", &receipt)), (RECEIPT_CHARS, Some(id())));
        assert_eq!(key.receipt("skills", id()), receipt, "the same submission has the same");
        assert_eq!(key.read("others", &receipt), None);
        assert_eq!(ReceiptKey::new([8; 32]).read("skills", &receipt), None);
        assert!(!format!("{key:?}").contains('7'));
    }

    #[test]
    fn a_receipt_that_was_changed_anywhere_is_none() {
        let key = ReceiptKey::new([7; 32]);
        let receipt = key.receipt("skills", id());
        for place in 0..receipt.len() {
            for letter in ["A", "B", "Q", "_"] {
                let changed = format!("{}{letter}{}", &receipt[..place], &receipt[place + 1..]);
                assert!(changed == receipt || key.read("skills", &changed).is_none(), "{changed}");
            }
        }
        for text in
            ["", "0192f0c1-2345-7abc-8def-0123456789ab", &"A".repeat(43), &"ä".repeat(43), &receipt[1..]]
        {
            assert_eq!(key.read("skills", text), None, "{text}");
        }
    }

    #[test]
    fn a_receipt_does_not_show_the_id_or_when_it_was_made() {
        let key = ReceiptKey::new([7; 32]);
        let bytes = |id| BASE64_URL_SAFE_NO_PAD.decode(key.receipt("skills", id)).expect("it is base64");
        let next = SubmissionId(Uuid::from_u128(id().0.as_u128() + 1));
        let (first, second) = (bytes(id()), bytes(next));
        assert!(!first.windows(6).any(|part| part == &id().0.as_bytes()[..6]));
        let same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
        assert!(same < 8, "{same} bytes of neighbours are the same");
    }
}
