//! Rules, read from `rules.toml`, and the matching of texts against all of them at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;

use super::context::{Context, Segment};
use super::finding::{Category, Finding, Severity, quoted};

/// The most matches of one rule that are looked at in one piece of text.
const MATCHES_MAX: usize = 100;
/// The bytes behind a match that may excuse it.
const BEHIND_BYTES: usize = 80;

/// The rules that ship, as a file. A change of it means that published skills are scanned again.
pub const RULES: &str = include_str!("rules.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    /// Pieces of patterns, used as `<<name>>`.
    words: BTreeMap<String, String>,
    rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    category: Category,
    severity: Severity,
    /// The severity in some contexts, where it is another one.
    #[serde(default)]
    at: BTreeMap<Context, Severity>,
    /// The contexts that are looked at, if not all.
    pub(super) only: Option<Vec<Context>>,
    pattern: String,
    /// A match that has this, too, is none.
    unless: Option<String>,
    /// A match behind which this follows on its line is none.
    unless_behind: Option<String>,
    message: String,
    /// Set if what is met asks for rights that a person should look at.
    #[serde(default)]
    high_privilege: bool,
    /// A text that the rule meets, and one that it nearly meets: both are tests.
    #[cfg_attr(not(test), allow(dead_code, reason = "only the tests look at it"))]
    pub(super) hit: String,
    #[cfg_attr(not(test), allow(dead_code, reason = "only the tests look at it"))]
    pub(super) miss: String,
}

impl Rule {
    fn severity_at(&self, context: Context) -> Option<Severity> {
        let looked_at = self.only.as_ref().is_none_or(|only| only.contains(&context));
        looked_at.then(|| self.at.get(&context).copied().unwrap_or(self.severity))
    }
}

/// All rules. Their patterns are compiled together; each alone only once a text has it: most texts have few.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    words: BTreeMap<String, String>,
    patterns: Vec<OnceLock<Compiled>>,
    all: RegexSet,
}

/// A rule's patterns.
#[derive(Debug)]
struct Compiled {
    pattern: Regex,
    unless: Option<Regex>,
    unless_behind: Option<Regex>,
}

impl Compiled {
    /// Returns whether a match is none, for what it has or for what follows.
    fn excuses(&self, text: &str, place: &Range<usize>) -> bool {
        let bytes = text.as_bytes();
        let line = &bytes[place.end..];
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let behind = &line[..line.len().min(BEHIND_BYTES)];
        self.unless.as_ref().is_some_and(|unless| unless.is_match(&bytes[place.clone()]))
            || self.unless_behind.as_ref().is_some_and(|unless| unless.is_match(behind))
    }
}

/// The rules that ship.
pub(super) static SHIPPED: LazyLock<Rules> =
    LazyLock::new(|| Rules::read(RULES).expect("the rules that ship are tested"));

impl Rules {
    pub(super) fn read(text: &str) -> Result<Rules, String> {
        let file: RuleFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut set = RegexSetBuilder::new(file.rule.iter().map(|rule| whole(&file.words, &rule.pattern)));
        set.unicode(false).case_insensitive(true).multi_line(true);
        let all = set.size_limit(64 << 20).dfa_size_limit(16 << 20).build();
        Ok(Rules {
            patterns: file.rule.iter().map(|_| OnceLock::new()).collect(),
            all: all.map_err(|error| error.to_string())?,
            rules: file.rule,
            words: file.words,
        })
    }

    /// Compiles one of the rules.
    fn compiled(&self, index: usize) -> Result<Compiled, regex::Error> {
        let compile = |pattern: &str| {
            let mut builder = RegexBuilder::new(&whole(&self.words, pattern));
            builder.unicode(false).case_insensitive(true).multi_line(true).build()
        };
        let rule = &self.rules[index];
        Ok(Compiled {
            pattern: compile(&rule.pattern)?,
            unless: rule.unless.as_deref().map(compile).transpose()?,
            unless_behind: rule.unless_behind.as_deref().map(compile).transpose()?,
        })
    }

    /// Adds what the rules find in a piece of a file, and returns whether any of it asks for high privilege.
    pub(super) fn look(&self, file: &str, segment: &Segment, findings: &mut Vec<Finding>) -> bool {
        let text = &segment.text.text;
        let mut is_high = false;
        for index in self.all.matches(text.as_bytes()) {
            let rule = &self.rules[index];
            if segment.is_guess && rule.category != Category::PromptInjection {
                continue;
            }
            let compiled = self.patterns[index]
                .get_or_init(|| self.compiled(index).expect("every rule that ships is compiled by a test"));
            for found in compiled.pattern.find_iter(text.as_bytes()).take(MATCHES_MAX) {
                let matched = String::from_utf8_lossy(found.as_bytes());
                if compiled.excuses(text, &found.range()) {
                    continue;
                }
                let Some(severity) = rule.severity_at(segment.context_of(&found.range())) else { continue };
                is_high |= rule.high_privilege;
                findings.push(Finding {
                    rule: rule.id.clone(),
                    category: rule.category,
                    severity,
                    file: file.to_owned(),
                    line: segment.text.line_at(found.start()),
                    matched: quoted(&matched),
                    message: rule.message.clone(),
                });
            }
        }
        is_high
    }
}

/// Returns a pattern with its words.
fn whole(words: &BTreeMap<String, String>, pattern: &str) -> String {
    words.iter().fold(pattern.to_owned(), |pattern, (name, word)| {
        pattern.replace(&format!("<<{name}>>"), &format!("(?:{word})"))
    })
}
