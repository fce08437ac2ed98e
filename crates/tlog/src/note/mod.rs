//! Signed notes, the keys that sign them, and the two texts that are signed: checkpoints and cosignatures (C2SP signed-note,
//! tlog-checkpoint, tlog-cosignature).

mod checkpoint;
mod key;
mod signed;
mod signer;
mod trust;

pub use checkpoint::{Checkpoint, MalformedCheckpoint};
pub use key::{Algorithm, KeyError, VerifierKey, is_key_name};
pub use signed::{MalformedNote, NOTE_BYTES_MAX, Note, SIGNATURES_MAX, Signature};
pub use signer::{Cosigner, SignError, Signer, SigningKey, sign_checkpoint};
pub use trust::{Cosigned, Distrust, Opened, Trust};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wire::Digest;

pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Strict: one text for one value, so that no byte of a proof can change unseen.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

pub fn hash_from_base64(text: &str) -> Option<Digest> {
    Some(Digest(from_base64(text)?.try_into().ok()?))
}

/// A decimal without sign or leading zeros.
pub fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}
