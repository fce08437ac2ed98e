//! A finding: one sentence about one run, and the kind that all findings of the same check share.

use std::fmt;

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    kind: String,
    message: String,
}

impl Finding {
    /// The sentence of a check as it is written in the code, and as it reads in this run.
    pub(crate) fn new(template: &str, message: String) -> Self {
        Finding { kind: kind(template), message }
    }

    /// Adds where it was found, or the values it is about; the kind stays.
    pub(crate) fn about(self, more: impl fmt::Display) -> Self {
        Finding { message: format!("{}{more}", self.message), ..self }
    }

    pub(crate) fn into_parts(self) -> (String, String) {
        (self.kind, self.message)
    }
}

impl From<&'static str> for Finding {
    fn from(sentence: &'static str) -> Self {
        Finding::new(sentence, sentence.to_owned())
    }
}

/// The name of a check: its sentence, with a mark for every value. It stays the same from seed to seed, from step to
/// step and from one version of the code to the next, as long as the check does.
fn kind(template: &str) -> String {
    let mut kind = String::new();
    let mut rest = template;
    while let Some((text, value)) = rest.split_once('{') {
        kind.push_str(text);
        kind.push('…');
        rest = value.split_once('}').map_or("", |(_, rest)| rest);
    }
    kind.push_str(rest);
    let words: Vec<&str> = kind.split_whitespace().collect();
    let kind = words.join(" ");
    kind.strip_suffix(": …").unwrap_or(&kind).to_owned()
}

/// A finding from a sentence with values, as `format!` takes them.
macro_rules! finding {
    ($sentence:literal $(, $value:expr)* $(,)?) => {
        $crate::finding::Finding::new($sentence, format!($sentence $(, $value)*))
    };
}
pub(crate) use finding;

/// Fails with a finding unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($sentence:tt)+) => {
        if !$condition {
            return Err($crate::finding::finding!($($sentence)+));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(finding: Finding) -> String {
        finding.into_parts().0
    }

    #[test]
    fn findings_of_one_check_have_one_kind_whatever_their_values() {
        let about = |id: u32, row: &str| finding!("{} counts {} crashes: {row:?}", id, id + 1);
        assert_eq!(about(1, "one").into_parts().1, "1 counts 2 crashes: \"one\"");
        assert_eq!(kind_of(about(1, "one")), "… counts … crashes");
        assert_eq!(kind_of(about(1, "one")), kind_of(about(2, "two")));
    }

    #[test]
    fn what_is_added_to_a_finding_leaves_its_kind() {
        let found = Finding::from("it holds its lane in a state that gives it on").about(": row 7");
        assert_eq!(found.message, "it holds its lane in a state that gives it on: row 7");
        assert_eq!(kind_of(found), "it holds its lane in a state that gives it on");
    }

    #[test]
    fn a_kind_is_one_line() {
        let (left, right) = (1, 2);
        assert_eq!(
            kind_of(finding!("the counts are\n{left:?}\nand should be\n{right}")),
            "the counts are … and should be …"
        );
    }
}
