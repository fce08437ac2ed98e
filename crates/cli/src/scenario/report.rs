//! Reports how the scenarios went: for people and as JSON.

use std::fmt::Write as _;

use model::Name;
use model::pipeline::Move;
use serde_json::{Value, json};

use super::coverage::Coverage;
use crate::output::plain;

/// The scenarios of one file and what they came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(super) file: String,
    pub(super) pipeline: Name,
    pub(super) scenarios: Vec<Told>,
    pub(super) coverage: Coverage,
    pub(super) complete: bool,
}

#[derive(Debug)]
pub(super) struct Told {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) failures: Vec<Failure>,
}

#[derive(Debug)]
pub(super) struct Failure {
    /// From 1.
    pub(super) step: usize,
    pub(super) line: usize,
    pub(super) what: String,
    pub(super) expected: String,
    pub(super) actual: String,
}

impl Run {
    pub(crate) fn is_fine(&self) -> bool {
        self.scenarios.iter().all(|told| told.failures.is_empty()) && self.is_covered()
    }

    /// Tells whether nothing is missing that the file asks for.
    fn is_covered(&self) -> bool {
        !self.complete || self.coverage.is_full()
    }

    fn failed(&self) -> usize {
        self.scenarios.iter().filter(|told| !told.failures.is_empty()).count()
    }

    /// One line a scenario, one more for everything that is not as expected, and a sum.
    pub(crate) fn render(&self, list_missing: bool) -> String {
        let mut text = format!("{}: {}\n", self.file, self.pipeline);
        // Writing into a string cannot fail.
        for told in &self.scenarios {
            let word = if told.failures.is_empty() { "ok    " } else { "FAILED" };
            let _ = writeln!(text, "  {word}  {}", plain(&told.name));
            for failure in &told.failures {
                let Failure { step, line, what, expected, actual } = failure;
                let (expected, actual) = (plain(expected), plain(actual));
                let _ = writeln!(
                    text,
                    "          step {step}, line {line}: {what}: expected {expected}, got {actual}"
                );
            }
        }
        let (missing, total) = (self.coverage.missing().count(), self.coverage.total());
        if list_missing || !self.is_covered() {
            for one in self.coverage.missing() {
                let _ = writeln!(text, "  never walked: {}", words(one));
            }
        }
        let failed = self.failed();
        let passed = self.scenarios.len() - failed;
        let _ = writeln!(text, "  {passed} ok, {failed} failed; {} of {total} moves walked", total - missing);
        if !self.is_covered() {
            let _ = writeln!(text, "  FAILED: the file asks for every move to be walked");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let scenarios: Vec<Value> = self.scenarios.iter().map(scenario).collect();
        let missing: Vec<Value> = self
            .coverage
            .missing()
            .map(|one| json!({ "from": one.from.as_deref(), "to": &*one.to, "trigger": &*one.trigger }))
            .collect();
        json!({
            "file": self.file,
            "pipeline": &*self.pipeline,
            "ok": self.is_fine(),
            "scenarios": scenarios,
            "coverage": {
                "moves": self.coverage.total(),
                "walked": self.coverage.total() - missing.len(),
                "missing": missing,
                "required": self.complete,
            },
        })
    }
}

fn scenario(told: &Told) -> Value {
    let failures: Vec<Value> = told
        .failures
        .iter()
        .map(|failure| {
            json!({
                "step": failure.step,
                "line": failure.line,
                "what": failure.what,
                "expected": failure.expected,
                "actual": failure.actual,
            })
        })
        .collect();
    json!({ "name": told.name, "line": told.line, "ok": failures.is_empty(), "failures": failures })
}

fn words(one: &Move) -> String {
    let from = one.from.as_deref().unwrap_or("(start)");
    format!("{from} -> {} ({})", one.to, one.trigger)
}
