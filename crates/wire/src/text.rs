//! Text of others, shown to people.

/// Marks that turn the direction of writing or take no room.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
