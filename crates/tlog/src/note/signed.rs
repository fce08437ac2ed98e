//! A text and the signatures under it.

use std::fmt;

use super::key::is_key_name;
use super::{from_base64, to_base64};

/// A larger note is refused before it is read.
pub const NOTE_BYTES_MAX: usize = 1 << 20;
/// The specification asks for at least 16.
pub const SIGNATURES_MAX: usize = 100;

const DASH: &str = "\u{2014} ";

/// Signed text, not yet believed: only [`super::Trust`] says who signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Ends with a newline.
    pub text: String,
    pub signatures: Vec<Signature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub id: u32,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a signed note: {0}")]
pub struct MalformedNote(pub &'static str);

impl Note {
    pub fn parse(bytes: &[u8]) -> Result<Self, MalformedNote> {
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(MalformedNote("it is over 1 MB"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| MalformedNote("it is not UTF-8"))?;
        if text.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(MalformedNote("it has a control character"));
        }
        let split = text.rfind("\n\n").ok_or(MalformedNote("no blank line before the signatures"))?;
        let (text, lines) = (&text[..=split], &text[split + 2..]);
        let signatures = Signature::parse_lines(lines)?;
        if signatures.is_empty() {
            return Err(MalformedNote("it has no signature"));
        }
        Ok(Note { text: text.to_owned(), signatures })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| signature.fmt(f))
    }
}

impl Signature {
    /// Zero or more signature lines, each with its newline.
    pub fn parse_lines(lines: &str) -> Result<Vec<Self>, MalformedNote> {
        let mut signatures = Vec::new();
        for line in lines.split_inclusive('\n') {
            let line = line.strip_suffix('\n').ok_or(MalformedNote("its last line has no newline"))?;
            signatures.push(Signature::parse(line).ok_or(MalformedNote("a line is no signature"))?);
            if signatures.len() > SIGNATURES_MAX {
                return Err(MalformedNote("it has over 100 signatures"));
            }
        }
        Ok(signatures)
    }

    fn parse(line: &str) -> Option<Self> {
        let (name, encoded) = line.strip_prefix(DASH)?.split_once(' ')?;
        let bytes = from_base64(encoded)?;
        let (id, bytes) = bytes.split_first_chunk::<4>()?;
        let valid = is_key_name(name) && !bytes.is_empty();
        valid.then(|| Signature { name: name.to_owned(), id: u32::from_be_bytes(*id), bytes: bytes.to_vec() })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.id.to_be_bytes(), self.bytes.as_slice()].concat();
        writeln!(f, "{DASH}{} {}", self.name, to_base64(&bytes))
    }
}
