//! Patterns of `matches`: compiled once, bounded in size, matched in linear time.

use std::fmt;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::json;

use super::fuel::{Fuel, Stop, stop};
use super::{MAX_PATTERN_LEN, MAX_STRING_LEN};

/// Ample for dozens of classes and `[0-9a-f]{64}`; what exceeds it multiplies counts.
const COMPILED_LEN_MAX: usize = 128 << 10;
const CACHE_LEN_MAX: usize = 1 << 20;
/// Setting a match up, in steps of the budget. Each byte of text is another.
const MATCH_COST: u64 = 20;

/// A schema of nothing but a `pattern`, so that an author's pattern means the same in a guard and in a payload's
/// schema.
pub(super) struct Pattern {
    schema: Validator,
    source: Box<str>,
}

impl Pattern {
    /// The error is for the expression's author.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        if source.len() > MAX_PATTERN_LEN {
            return Err(format!("a pattern may have at most {MAX_PATTERN_LEN} bytes"));
        }
        let engine = PatternOptions::regex().size_limit(COMPILED_LEN_MAX).dfa_size_limit(CACHE_LEN_MAX);
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(engine)
            .build(&json!({ "pattern": source }))
            .map(|schema| Self { schema, source: source.into() })
            .map_err(|_| "not a valid pattern, or one that repeats too much".to_owned())
    }

    pub(super) fn is_match(&self, text: &str, fuel: &mut Fuel) -> Result<bool, Stop> {
        if text.len() > MAX_STRING_LEN {
            return stop(format!("matches() reads at most {MAX_STRING_LEN} bytes"));
        }
        fuel.spend(MATCH_COST + text.len() as u64)?;
        Ok(self.schema.is_valid(&json!(text)))
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({})", self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).expect(pattern).is_match(text, &mut Fuel::full()).expect("enough fuel")
    }

    #[test]
    fn usual_patterns_match() {
        assert!(is_match("^[0-9a-f]{64}$", &"0a".repeat(32)));
        assert!(!is_match("^[0-9a-f]{64}$", &"0A".repeat(32)));
        assert!(is_match(r"^\p{Greek}+A$", "αβγA"));
        assert!(is_match("b+", "abc"));
        assert!(!is_match("^b+$", "abc"));
        assert!(is_match("^(add|remove)$", "add") && !is_match("^(add|remove)$", "addremove"));
    }

    #[test]
    fn costly_and_broken_patterns_are_refused() {
        for pattern in ["((((a{9}){9}){9}){9}){9}", r"\p{L}{200}", "(", "(?=a)", r"(a)\1", &"a".repeat(257)] {
            assert!(Pattern::new(pattern).is_err(), "{pattern} was taken");
        }
    }

    #[test]
    fn backtracking_bait_costs_no_more_than_its_length() {
        assert!(!is_match("^(a*)*b$", &"a".repeat(MAX_STRING_LEN)));
        let mut fuel = Fuel::full();
        let (pattern, text) = (Pattern::new("(.*a){20}$").unwrap(), "ab".repeat(MAX_STRING_LEN / 2));
        let matched = (0..100).take_while(|_| pattern.is_match(&text, &mut fuel).is_ok()).count();
        assert!((1..20).contains(&matched), "{matched}");
    }
}
