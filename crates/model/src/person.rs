//! Names of people, compared in one normal form: however tokens spell it, one person is counted once.

use unicode_normalization::UnicodeNormalization;

/// Returns a name as it is kept: composed characters, single spaces, none at the ends.
#[must_use]
pub fn spelled(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").nfc().collect()
}

/// Returns the form that names are compared in: without case, without characters that nobody sees, and with those that
/// stand for others (like wide letters and ligatures) taken for what they stand for. Letters of different scripts stay
/// different, however much they look alike.
#[must_use]
pub fn normal(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !is_invisible(*c)).nfkc().collect();
    // By way of capitals: some letters have two small forms.
    spelled(&seen.to_uppercase().to_lowercase())
}

/// Tells whether two names are one person's.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || normal(one) == normal(other)
}

/// Tells whether a name is a person's own or that of a worker of theirs, which is called `person/worker`.
#[must_use]
pub fn is_of(name: &str, person: &str) -> bool {
    let slashes = name.char_indices().filter(|(_, c)| *c == '/');
    is_same(name, person) || slashes.into_iter().any(|(at, _)| is_same(&name[..at], person))
}

/// Tells whether a character shows nothing, so that two names would look the same with and without it.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_is_the_same_however_their_name_is_spelled() {
        for other in ["ada", "Ada", " ADA ", "a\u{200b}da", "\u{ff41}da", "ada\u{feff}"] {
            assert!(is_same("ada", other), "{other:?}");
        }
        assert!(is_same("Jos\u{e9}", "jose\u{301}"), "composed or not");
        assert!(is_same("ada  lovelace", "Ada\u{a0}Lovelace"));
        assert!(is_same("STRASSE", "stra\u{df}e"));
        for other in ["adam", "a da", "\u{430}da", "bob", ""] {
            assert!(!is_same("ada", other), "{other:?}");
        }
    }

    #[test]
    fn a_worker_is_its_persons() {
        assert!(is_of("ada/box-1", "Ada"));
        assert!(is_of("team/ada/box-1", "team/ada"), "tokens once had names like this");
        assert!(is_of("ada", "ada"));
        assert!(!is_of("ada", "ada/box-1"));
        assert!(!is_of("adam/box-1", "ada"));
    }
}
