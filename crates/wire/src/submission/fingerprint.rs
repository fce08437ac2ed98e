//! Fingerprints of failures: what messages have in common once ids, numbers and paths are out of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Failure;
use crate::Name;
use crate::digest::Digest;

/// The characters of a message that are looked at, and those of a pattern that are kept.
const LOOKED_AT: usize = 600;
const PATTERN_CHARS_MAX: usize = 160;
/// Letters and digits from which on a word that mixes them is an id.
const ID_CHARS: usize = 8;

const NUMBER: char = '#';
const ID: &str = "<id>";
const PATH: &str = "<path>";
const ADDRESS: &str = "<address>";

/// The short name of a kind of failure: of its code and the pattern of its message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 6]);

impl Fingerprint {
    #[must_use]
    pub fn of(code: &str, pattern: &str) -> Self {
        let digest = Digest::of_parts(&[code.as_bytes(), b"\0", pattern.as_bytes()]).0;
        Fingerprint(std::array::from_fn(|index| digest[index]))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no fingerprint: give the 12 letters that `milepost figures` shows");
        let is_hex = text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_hex).ok_or_else(wrong)?;
        let bytes = number.to_be_bytes();
        Ok(Fingerprint(std::array::from_fn(|index| bytes[index + 2])))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Failure {
    /// Returns the message without what differs from one failure of a kind to the next. Stores count by it: a change of these
    /// rules is a change of what they keep.
    #[must_use]
    pub fn pattern(&self) -> Name {
        pattern(&self.message).into()
    }

    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.code, &pattern(&self.message))
    }
}

fn pattern(message: &str) -> String {
    let looked_at = message.char_indices().nth(LOOKED_AT).map_or(message, |(end, _)| &message[..end]);
    let mut pattern = String::new();
    for word in looked_at.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !pattern.is_empty() {
            pattern.push(' ');
        }
        add_word(word, &mut pattern);
    }
    match pattern.char_indices().nth(PATTERN_CHARS_MAX) {
        Some((end, _)) => pattern[..end].to_owned(),
        None => pattern,
    }
}

/// Adds a word without its ids, numbers and paths. The marks around it stay.
fn add_word(word: &str, pattern: &mut String) {
    const MARKS: &[char] =
        &['"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '.', '!', '?'];
    let core = word.trim_matches(MARKS);
    // `./x` and `.env` begin with a mark that is part of them.
    let start = word.len() - word.trim_start_matches(MARKS).len();
    let start = if word[..start].ends_with('.') && core.starts_with('/') { start - 1 } else { start };
    let end = start.max(word.trim_end_matches(MARKS).len());
    let (before, core, after) = (&word[..start], &word[start..end], &word[end..]);
    pattern.push_str(before);
    if core.contains("://") || (core.contains('@') && core.contains('.')) {
        pattern.push_str(ADDRESS);
    } else if is_path(core) {
        pattern.push_str(PATH);
    } else {
        add_plain(core, pattern);
    }
    pattern.push_str(after);
}

/// Tells whether a word names a file: `and/or` and `application/json` do not.
fn is_path(word: &str) -> bool {
    let begins = ["/", "./", "../", "~/", "\\\\"].iter().any(|start| word.starts_with(start));
    let drive = word.as_bytes().get(1..3).is_some_and(|bytes| bytes == b":\\" || bytes == b":/");
    let separators = word.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    (begins && word.len() > 1) || drive || separators > 1
}

/// Adds a word, part by part: letters and digits together may be an id, digits alone are a number.
fn add_plain(word: &str, pattern: &mut String) {
    if is_id(word) {
        return pattern.push_str(ID);
    }
    let is_mark = |c: char| !c.is_alphanumeric();
    for part in word.split_inclusive(is_mark) {
        let (text, mark) = match part.char_indices().next_back() {
            Some((at, c)) if is_mark(c) => part.split_at(at),
            _ => (part, ""),
        };
        if is_id(text) {
            pattern.push_str(ID)
        } else {
            add_numbers(text, pattern)
        }
        pattern.push_str(mark);
    }
}

fn add_numbers(text: &str, pattern: &mut String) {
    for c in text.chars() {
        match c.is_numeric() {
            true if pattern.ends_with(NUMBER) => {}
            true => pattern.push(NUMBER),
            false => pattern.push(c),
        }
    }
}

/// Tells whether a word is an id: a UUID, a hash, or letters and digits mixed as no word of a language has them.
fn is_id(word: &str) -> bool {
    let letters_and_digits = word.chars().filter(|c| c.is_alphanumeric()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let hex = word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let alone = word.chars().all(char::is_alphanumeric);
    let turns = word
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    letters_and_digits >= ID_CHARS
        && digits > 0
        && digits < letters_and_digits
        && (hex || (alone && turns > 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_numbers_and_paths_are_out() {
        for (message, expected) in [
            ("timed out after 30.5 s, 3 of 7 done", "timed out after #.# s, # of # done"),
            ("no submission 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57", "no submission <id>"),
            ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is gone", "commit <id> is gone"),
            ("cannot write `/var/lib/milepost/a 7.tmp`: disk full", "cannot write `<path> #.tmp`: disk full"),
            ("C:\\temp\\x.txt and ./y are missing.", "<path> and <path> are missing."),
            ("https://host.example/a?b=1 said 503", "<address> said #"),
            ("no mail for ada@host.example.", "no mail for <address>."),
            ("10.0.0.7:5432 refused", "#.#.#.#:# refused"),
            ("job-x7f3k9q2m1 died", "job-<id> died"),
            ("is no application/json, and/or text", "is no application/json, and/or text"),
            ("utf8 and sha256 are words", "utf# and sha# are words"),
            ("  two\n\tlines\u{7} ", "two lines"),
            ("", ""),
            ("\"'(", "\"'("),
            ("Größe 12 überschritten", "Größe # überschritten"),
        ] {
            assert_eq!(pattern(message), expected, "{message}");
        }
    }

    #[test]
    fn a_pattern_is_short_and_of_whole_characters() {
        for message in ["ä".repeat(5_000), "a ".repeat(5_000), "7/".repeat(5_000), "\u{1F600}".repeat(700)] {
            let pattern = pattern(&message);
            assert!(pattern.chars().count() <= PATTERN_CHARS_MAX, "{pattern}");
        }
    }

    #[test]
    fn failures_of_a_kind_have_one_fingerprint() {
        let of = |code: &str, message: &str| Failure::new(code, message).fingerprint();
        assert_eq!(of("disk", "no room on /a/b for 7"), of("disk", "no room on /c/d for 12"));
        assert_ne!(of("disk", "no room on /a/b for 7"), of("full", "no room on /a/b for 7"));
        assert_ne!(of("disk", "no room"), of("disk", "no disk"));
        let fingerprint = of("disk", "no room");
        let text = fingerprint.to_string();
        assert_eq!((text.len(), text.parse()), (12, Ok(fingerprint)));
        for wrong in ["", "0123", "zzzzzzzzzzzz", "+123456789ab", "0123456789abc"] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }
}
