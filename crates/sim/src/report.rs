//! The deeds of a run, counted, so that a test can tell whether anything interesting happened.

use std::collections::BTreeMap;

/// Counts by name: `event/moved`, `refused/stale-lease`, `fault/UnknownDone`, `answer/granted`, `moment/quarantine`, ...
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub counts: BTreeMap<String, u64>,
    /// The leaf bytes of every event, in sequence.
    pub leaves: Vec<Vec<u8>>,
}

impl Report {
    pub fn count(&mut self, name: impl Into<String>) {
        self.add(name, 1);
    }

    pub fn add(&mut self, name: impl Into<String>, more: u64) {
        *self.counts.entry(name.into()).or_default() += more;
    }

    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Adds another run's counts; histories stay each run's own.
    pub fn absorb(&mut self, other: &Report) {
        for (name, count) in &other.counts {
            self.add(name.clone(), *count);
        }
    }
}
