//! The differences between two versions of a pipeline.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::is_invisible;

/// Longer values are cut when they are shown; the data has them whole.
const SHOWN_CHARS_MAX: usize = 160;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The place that the difference is about, as the file would name it.
    pub place: String,
    pub what: What,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Added,
    Removed,
    Changed,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.what {
            What::Added => '+',
            What::Removed => '-',
            What::Changed => '~',
        };
        write!(f, "{sign} {}", printable(&self.place))?;
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => write!(f, " {} -> {}", shown(old), shown(new)),
            (Some(value), None) | (None, Some(value)) => write!(f, " {}", shown(value)),
            (None, None) => Ok(()),
        }
    }
}

/// A value on a terminal: quoted where it would run into what is around it, and cut where it is long.
fn shown(value: &str) -> String {
    let mut text = printable(value);
    if let Some((at, _)) = text.char_indices().nth(SHOWN_CHARS_MAX) {
        text.truncate(at);
        text.push('…');
    }
    let bare = !text.contains(char::is_whitespace) || text.starts_with(['"', '[', '{', '(']);
    if bare && !text.is_empty() { text } else { format!("`{text}`") }
}

/// Escapes what a terminal would obey.
fn printable(text: &str) -> String {
    let mut printable = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() || is_invisible(c) => printable.extend(c.escape_default()),
            c => printable.push(c),
        }
    }
    printable
}
