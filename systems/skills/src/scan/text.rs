//! Texts as rules see them: decoded, without what nobody sees, and with letters that look alike made one.

use unicode_normalization::UnicodeNormalization as _;

use super::finding::{Category, Finding, Severity};

/// The letters of a mixed word that is worth a finding: units and formulas are shorter.
const WORD_CHARS_MIN: usize = 4;

/// A text to be matched, in which every place knows its line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    /// Each place in `text` where a line begins, with its number.
    lines: Vec<(usize, u32)>,
}

impl Text {
    pub(super) fn push_line(&mut self, line: u32, text: &str) {
        self.lines.push((self.text.len(), line));
        self.text.push_str(text);
    }

    pub(super) fn line_at(&self, place: usize) -> u32 {
        let index = self.lines.partition_point(|(start, _)| *start <= place);
        index.checked_sub(1).map_or(0, |index| self.lines[index].1)
    }

    /// Returns each line with its number.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        let ends = self.lines.iter().skip(1).map(|(start, _)| *start).chain([self.text.len()]);
        self.lines.iter().zip(ends).map(|((start, no), end)| (*no, &self.text[*start..end]))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Reads bytes as UTF-8, and says what is odd about them. What is no text is none.
pub(super) fn decode(file: &str, bytes: &[u8], findings: &mut Vec<Finding>) -> Option<String> {
    let of_file =
        |rule: &str, message: &str| Finding::of_file(rule, Severity::High, file, message.to_owned());
    if bytes.contains(&0) {
        findings
            .push(of_file("STR-006", "the file is binary: a skill has texts only (UTF-16 is no text here)"));
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.to_owned()),
        Err(_) => {
            findings.push(of_file("STR-007", "the file is not UTF-8: save it as UTF-8"));
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// Finds characters that a reader does not see, and words whose letters only look like others.
pub(super) fn look_for_concealment(file: &str, text: &str, findings: &mut Vec<Finding>) {
    for (no, line) in (1u32..).zip(text.lines()) {
        if line.is_ascii() && !line.bytes().any(|byte| is_control(char::from(byte))) {
            continue;
        }
        let mut found = |rule: &str, severity: Severity, matched: String, message: &str| {
            let finding = Finding::of_file(rule, severity, file, message.to_owned()).at(no, &matched);
            findings.push(Finding { category: Category::Concealment, ..finding });
        };
        if let Some((hidden, c)) = first_hidden(line) {
            let (rule, severity, message) = hidden.rule();
            found(rule, severity, format!("U+{:04X}", u32::from(c)), message);
        }
        if let Some(word) = line
            .split(|c: char| !c.is_alphabetic())
            .find(|word| word.chars().count() >= WORD_CHARS_MIN && is_mixed(word))
        {
            let message = "the word mixes Latin letters with ones of another script that look like them";
            found("HID-005", Severity::Medium, word.to_owned(), message);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Bidi,
    ZeroWidth,
    Tag,
    Control,
}

impl Hidden {
    fn rule(self) -> (&'static str, Severity, &'static str) {
        match self {
            Hidden::Bidi => ("HID-001", Severity::High, "a control character reorders what a reader sees"),
            Hidden::ZeroWidth => {
                ("HID-002", Severity::High, "a character that nobody sees stands in the text")
            }
            Hidden::Tag => ("HID-003", Severity::Critical, "tag characters carry text that nobody sees"),
            Hidden::Control => {
                ("HID-004", Severity::High, "a control character can change what a terminal shows")
            }
        }
    }
}

/// Returns the gravest of the hidden characters of a line. Joiners between letters outside ASCII are part of scripts and of emoji.
fn first_hidden(line: &str) -> Option<(Hidden, char)> {
    let chars: Vec<char> = line.chars().collect();
    let mut in_flag = false;
    let mut found: Option<(Hidden, char)> = None;
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| chars[index]);
        let after = chars.get(index + 1).copied();
        in_flag = before == Some('\u{1f3f4}') || in_flag && before.is_some_and(is_tag);
        let joins = before.is_some_and(|c| !c.is_ascii() && !is_invisible(c) || c == '\u{fe0f}')
            && after.is_some_and(|c| !c.is_ascii() && !is_invisible(c));
        let hidden = match c {
            _ if is_control(c) => Hidden::Control,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Hidden::Bidi,
            '\u{200c}' | '\u{200d}' if joins => continue,
            // The flags of England, Scotland and Wales: a black flag and six tags.
            _ if is_tag(c)
                && in_flag
                && chars[..=index].iter().rev().take_while(|c| is_tag(**c)).count() <= 6 =>
            {
                continue;
            }
            _ if is_tag(c) => Hidden::Tag,
            // Marks of direction are plain typing where a text runs from right to left.
            '\u{200e}' | '\u{200f}' | '\u{61c}' if line.chars().any(is_right_to_left) => continue,
            _ if is_invisible(c) => Hidden::ZeroWidth,
            _ => continue,
        };
        if found.is_none_or(|(known, _)| hidden.rule().1 > known.rule().1) {
            found = Some((hidden, c));
        }
    }
    found
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}') && c != '\u{61c}'
}

/// Returns whether a character has no width and no ink of its own. The selector of emoji (U+FE0F) is a common one, and no hiding place.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e01ef}'
    )
}

/// Returns the Latin letter that a Cyrillic or Greek one looks like.
fn latin(c: char) -> Option<char> {
    const ALIKE: &[(&str, char)] = &[
        ("аΑАα", 'a'),
        ("ВΒ", 'b'),
        ("сСϲ", 'c'),
        ("ԁ", 'd'),
        ("еЕΕё", 'e'),
        ("ɡ", 'g'),
        ("һНΗ", 'h'),
        ("іІΙι", 'i'),
        ("јЈ", 'j'),
        ("кКΚκ", 'k'),
        ("ӏ", 'l'),
        ("мМΜ", 'm'),
        ("пΝ", 'n'),
        ("оОΟο", 'o'),
        ("рРΡρ", 'p'),
        ("ԛ", 'q'),
        ("г", 'r'),
        ("ѕЅ", 's'),
        ("тТΤτ", 't'),
        ("υ", 'u'),
        ("νѵ", 'v'),
        ("ѡԝ", 'w'),
        ("хХΧχ", 'x'),
        ("уУΥү", 'y'),
        ("Ζ", 'z'),
    ];
    ALIKE.iter().find(|(letters, _)| letters.contains(c)).map(|(_, latin)| *latin)
}

/// Returns whether a word has Latin letters and others that look like ones.
fn is_mixed(word: &str) -> bool {
    !word.is_ascii()
        && word.chars().any(|c| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphabetic() || latin(c).is_some())
}

/// Returns a text as rules match it. Compatibility forms become plain ones, what is not seen goes, and letters that look
/// like Latin ones are taken for them in words that have Latin ones, too.
pub(super) fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.chars().filter(|c| !is_control(*c)).collect();
    }
    let visible: String = text.chars().filter(|c| !is_invisible(*c) && !is_control(*c)).nfkc().collect();
    let mut plain = String::with_capacity(visible.len());
    for part in visible.split_inclusive(|c: char| !c.is_alphabetic()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphabetic());
        match is_mixed(word) {
            true => plain.extend(part.chars().map(|c| latin(c).unwrap_or(c))),
            false => plain.push_str(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        look_for_concealment("f", text, &mut findings);
        findings.into_iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
    }

    #[test]
    fn what_hides_is_found_with_its_line() {
        for (text, found) in [
            ("a\nb\u{202e}c", "HID-001:2"),
            ("\u{2067}x", "HID-001:1"),
            ("ig\u{200b}nore", "HID-002:1"),
            ("a\u{200d}b", "HID-002:1"),
            ("so\u{ad}ft", "HID-002:1"),
            ("x\u{e0061}\u{e0062}", "HID-003:1"),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0061}", "HID-003:1"),
            ("a\u{1b}[2Jb", "HID-004:1"),
            ("ignоre", "HID-005:1"),
        ] {
            assert_eq!(rules(text), [found], "{text:?}");
        }
    }

    #[test]
    fn scripts_and_emoji_hide_nothing() {
        for text in [
            "plain\ttext",
            "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England",
            "می\u{200c}خواهم",
            "שלום\u{200f}!",
            "Привет, мир",
            "5 kΩ, 3 µm, Δt, λx",
            "naïve Übung 日本語",
        ] {
            assert_eq!(rules(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn rules_see_through_what_hides() {
        assert_eq!(
            plain("ig\u{200b}nоre ｐｒｅｖｉｏｕｓ\u{a0}instruсtiоns"),
            "ignore previous instructions"
        );
        assert_eq!(plain("Привет"), "Привет");
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let decoded = |bytes: &[u8]| {
            let mut findings = Vec::new();
            let text = decode("f", bytes, &mut findings);
            (text, findings.first().map(|finding| finding.rule.clone()))
        };
        assert_eq!(decoded(b"\xef\xbb\xbftext"), (Some("text".to_owned()), None));
        assert_eq!(decoded(b"a\0b"), (None, Some("STR-006".to_owned())));
        assert_eq!(decoded(b"\xff\xfeh\0i\0").1.as_deref(), Some("STR-006"));
        assert_eq!(decoded(b"caf\xe9"), (Some("caf\u{fffd}".to_owned()), Some("STR-007".to_owned())));
    }
}
