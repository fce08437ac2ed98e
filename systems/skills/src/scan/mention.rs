//! The difference between a text that tells an agent to do something and one that warns of it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The words before inline code within which a verb tells to run it.
const WORDS_BEFORE: usize = 6;
/// The longest line that is taken for the label of a block behind it.
const LABEL_CHARS_MAX: usize = 100;
/// The longest text between quotation marks that is taken for a quotation.
const QUOTED_BYTES_MAX: usize = 300;

const VERBS: &[&str] =
    &["run", "execute", "paste", "type", "enter", "invoke", "launch", "use", "running", "executing", "start"];
const NEGATIONS: &[&str] = &[
    "never",
    "not",
    "don't",
    "dont",
    "avoid",
    "cannot",
    "can't",
    "without",
    "mustn't",
    "shouldn't",
    "refuse",
    "instead",
];

/// Labels of what nobody should do: the block behind one is shown as a bad example.
static WARNS: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i)\b(?:bad|wrong|vulnerable|insecure|unsafe|dangerous|malicious|suspicious|anti-?patterns?|incorrect|red\s+flags?)\b|\b(?:never|do\s+not|don't|avoid)\s+(?:ever\s+)?(?:do|use|run|write|pip(?:e|ing)|execut(?:e|ing)|paste|copy|using|running|this)\b|[❌🚫⛔✗]";
    Regex::new(words).expect("a test compiles it")
});

/// Words of texts about attacks: what they quote is an example of one.
static DEFENDS: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i)\b(?:attack(?:s|ers?)?|malicious|injections?|injected|detect(?:s|ed|ing|ion)?|suspicious|adversar\w+|untrusted|defen[ds]\w*|red[\s-]?team\w*|jailbreaks?|refuse|as\s+data)\b|\b(?:never|do\s+not|don't)\s+(?:follow|obey|act\s+on)\b";
    Regex::new(words).expect("a test compiles it")
});

/// Returns whether the text before inline code tells an agent to run it: then the code is no mention.
pub(super) fn tells_to_run(before: &str) -> bool {
    let sentence = before.rsplit(['.', ';', '!', '?', '\n']).next().unwrap_or_default().to_lowercase();
    let words: Vec<&str> =
        sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_negated = words.iter().any(|word| NEGATIONS.contains(word));
    !is_negated && words.iter().rev().take(WORDS_BEFORE).any(|word| VERBS.contains(word))
}

/// Returns whether a line labels what stands behind it as something that nobody should do.
pub(super) fn is_warning(line: &str) -> bool {
    line.chars().count() <= LABEL_CHARS_MAX && WARNS.is_match(line)
}

/// Returns whether a text is about attacks. Addresses say nothing, whatever words they are made of.
pub(super) fn is_about_attacks(text: &str) -> bool {
    let is_address = |word: &str| {
        word.contains("://")
            || word.split_once('.').is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_address(word)).collect();
    DEFENDS.is_match(&words.join(" "))
}

/// Returns the places of quotations in a text, each within one line.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut opened: Option<(usize, char)> = None;
        for (at, c) in line.char_indices() {
            let place = start + at;
            opened = match (opened, c) {
                (None, '"') => Some((place, '"')),
                (None, '\u{201c}') => Some((place, '\u{201d}')),
                (Some((from, closing)), c) if c == closing => {
                    if place - from <= QUOTED_BYTES_MAX {
                        found.push(from..place + c.len_utf8());
                    }
                    None
                }
                (opened, _) => opened,
            };
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_one_is_told_to_run_is_no_mention() {
        for before in ["Run ", "First, run the command ", "Look. Then execute ", "Use ", "Start it as "] {
            assert!(tells_to_run(before), "{before}");
        }
        for before in [
            "Never run ",
            "Look for ",
            "",
            "Run the tests. Attackers write ",
            "Do not use ",
            "Some use of the word is fine, so is ",
        ] {
            assert!(!tells_to_run(before), "{before}");
        }
    }

    #[test]
    fn labels_warn_and_long_texts_do_not() {
        for line in ["# BAD: pipes a download to a shell", "Vulnerable:", "Never do this:", "❌ Example"] {
            assert!(is_warning(line), "{line}");
        }
        let long = format!("This is bad {}", "word ".repeat(30));
        for line in ["Run this to set up", "Never skip this step:", "Detects attacks", &long] {
            assert!(!is_warning(line), "{line}");
        }
    }

    #[test]
    fn quotations_end_on_their_line() {
        let text = "He said \"one\" and “two”.\nA 5\" disk\nand \"three\"";
        let quoted: Vec<&str> = quotations(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(quoted, ["\"one\"", "“two”", "\"three\""]);
        assert_eq!(quotations(&format!("\"{}\"", "a".repeat(400))).len(), 0);
    }
}
