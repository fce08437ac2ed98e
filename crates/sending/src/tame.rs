//! Texts of receivers, cleaned before they are recorded.

/// The characters that are looked at: more is never shown.
const TEXT_CHARS_MAX: usize = 500;

/// Returns what another side said, fit to be kept and shown: one line of visible characters, not many.
pub(crate) fn tame(text: &str, chars_max: usize) -> String {
    let visible = text.chars().map(|c| if is_visible(c) { c } else { ' ' });
    let mut line = String::new();
    for word in visible.take(TEXT_CHARS_MAX.max(chars_max)).collect::<String>().split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.chars().count() > chars_max {
        line = line.chars().take(chars_max).collect::<String>() + "..";
    }
    line
}

/// Tells whether a character is what it looks like. Some are none, and some turn the text around them.
fn is_visible(c: char) -> bool {
    let steers = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffd}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !steers
}

#[cfg(test)]
mod tests {
    use super::tame;

    #[test]
    fn what_others_say_is_kept_short_and_plain() {
        assert_eq!(tame("  all\r\n\tfine \u{1b}[31m\0", 20), "all fine [31m");
        assert_eq!(tame(&"x".repeat(10_000), 5), "xxxxx..");
        assert_eq!(tame("", 5), "");
        assert_eq!(
            tame("250 ok\u{202e}drowssap\u{2028}next\u{200b}\u{feff}\u{e0041}", 40),
            "250 ok drowssap next"
        );
    }
}
