//! Digests as hexadecimal text, as the list's files and browsers have them.

use std::fmt::Write as _;

use wire::Digest;

#[must_use]
pub(crate) fn hex(digest: &Digest) -> String {
    digest.0.iter().fold(String::with_capacity(64), |mut text, byte| {
        // A text takes whatever is written into it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
