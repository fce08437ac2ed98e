//! Bytes as hexadecimal text, as the list's files and browsers have them.

use std::fmt::Write as _;

use wire::Digest;

#[must_use]
pub(crate) fn hex(digest: &Digest) -> String {
    hex_of(&digest.0)
}

#[must_use]
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // A text takes whatever is written into it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads bytes; none where the text is anything but pairs of hexadecimal digits.
#[must_use]
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    (0..text.len()).step_by(2).map(pair).collect()
}
