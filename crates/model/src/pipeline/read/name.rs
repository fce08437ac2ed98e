//! The spelling of names.

use super::Reader;
use crate::Name;
use crate::pipeline::file::Node;
use crate::pipeline::problem::{Problem, Span, quote};

/// The spelling of a name, by what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// States keep their document's spelling; parameters, metadata and error codes may be anything readable.
    Free,
    Pipeline,
    Label,
    /// Outcomes, actions, triggers.
    Word,
    Task,
    Metric,
}

impl Spelling {
    fn longest(self) -> usize {
        match self {
            Spelling::Label => 32,
            _ => 64,
        }
    }

    fn allows(self, text: &str) -> bool {
        let mut chars = text.chars();
        let first = |c: char| match self {
            Spelling::Free => c.is_ascii_alphabetic(),
            _ => c.is_ascii_lowercase(),
        };
        let later = |c: char| match self {
            Spelling::Free => c.is_ascii_alphanumeric() || "_.-".contains(c),
            Spelling::Pipeline => c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
            Spelling::Label | Spelling::Metric => c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
            Spelling::Word => c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c),
            Spelling::Task => c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c),
        };
        text.len() <= self.longest()
            && chars.next().is_some_and(first)
            && chars.all(later)
            && (self != Spelling::Task || text.split('.').all(|part| !part.is_empty()))
    }

    fn rule(self) -> &'static str {
        match self {
            Spelling::Free => "a letter, then up to 63 letters, digits, `_`, `.` or `-`",
            Spelling::Pipeline => "a lower-case letter, then up to 63 lower-case letters, digits or `-`",
            Spelling::Label => "a lower-case letter, then up to 31 lower-case letters, digits or `_`",
            Spelling::Word => "a lower-case letter, then up to 63 lower-case letters, digits, `_` or `-`",
            Spelling::Task => "lower-case words joined by dots, like `system.task-name`, up to 64 characters",
            Spelling::Metric => "a lower-case letter, then up to 63 lower-case letters, digits or `_`",
        }
    }
}

impl Reader<'_> {
    /// A name that is the value of a key. What is misspelled is reported and kept.
    pub(super) fn name(&mut self, node: &Node, spelling: Spelling) -> Option<Name> {
        let text = self.text(node)?;
        Some(self.spelled(text, &node.span, spelling))
    }

    /// A name that is itself a key.
    pub(super) fn spelled(&mut self, text: &str, at: &Span, spelling: Spelling) -> Name {
        if !spelling.allows(text) {
            let message = format!("{} cannot be a name here", quote(text));
            self.problems.push(Problem::new("bad-name", at.clone(), message).help(spelling.rule()));
        }
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_by_what_they_name() {
        let long = "a".repeat(64);
        assert!(["RECEIVED", "a", "Tier-1.x_y", &long].iter().all(|name| Spelling::Free.allows(name)));
        assert!(
            ["", "1A", "_a", "a b", "ä", &format!("{long}a")].iter().all(|name| !Spelling::Free.allows(name))
        );
        assert!(Spelling::Pipeline.allows("skill-review"));
        assert!(["Skill", "skill_review", "a.b"].iter().all(|name| !Spelling::Pipeline.allows(name)));
        assert!(Spelling::Label.allows("job_type"));
        assert!(["job-type", &"a".repeat(33)].iter().all(|name| !Spelling::Label.allows(name)));
        assert!(Spelling::Word.allows("bad_proof-2"));
        assert!(!Spelling::Word.allows("a.b"));
        assert!(["site-list.log-submit", "a", "a.b.c"].iter().all(|name| Spelling::Task.allows(name)));
        assert!(["a.", "a..b", ".a", "A.b", "a b"].iter().all(|name| !Spelling::Task.allows(name)));
    }
}
