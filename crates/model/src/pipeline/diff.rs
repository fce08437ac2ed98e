//! The changes between two definitions of a pipeline, for whoever applies one or moves submissions to it.
//!
//! Both are written down as *facts*, each under the place it is about, and facts are compared. Places read like the file:
//! `TIER1_SCANNING.lease`, `params.approve_min`, `move RECEIVED -> TIER1_SCANNING by non-vendor-submission`. The version is
//! no difference: it only says which definition is meant.

mod document;
mod facts;
mod moves;
mod values;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use wire::api::{Difference, What};

use super::Pipeline;
use facts::{Fact, Key};

/// All differences, in the order of the newer file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    pub differences: Vec<Difference>,
    lost_states: Vec<String>,
}

/// Compares two definitions, usually two versions of one pipeline.
#[must_use]
pub fn diff(old: &Pipeline, new: &Pipeline) -> Diff {
    let (before, after) = (facts::of(old), facts::of(new));
    let mut differences = compare(&before, &after);
    differences.extend(moves::reordered(old, new));
    let lost = old.states.iter().filter(|state| new.state(&state.name).is_none());
    Diff { differences, lost_states: lost.map(|state| state.name.to_string()).collect() }
}

impl Diff {
    /// Tells whether both say the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// The states of the older one that the newer has not: submissions in them need to be told where to go.
    #[must_use]
    pub fn lost_states(&self) -> &[String] {
        &self.lost_states
    }
}

fn compare(before: &[Fact], after: &[Fact]) -> Vec<Difference> {
    let old: BTreeMap<&Key, &Fact> = before.iter().map(|fact| (&fact.key, fact)).collect();
    let new: BTreeMap<&Key, usize> = after.iter().enumerate().map(|(at, fact)| (&fact.key, at)).collect();
    let mut found: Vec<((usize, usize), Difference)> = Vec::new();
    for (at, fact) in after.iter().enumerate() {
        let what = match old.get(&fact.key) {
            None if fact.parent.as_ref().is_some_and(|parent| !old.contains_key(parent)) => continue,
            None => What::Added,
            Some(known) if known.value == fact.value => continue,
            Some(_) => What::Changed,
        };
        let was = old.get(&fact.key).map(|known| known.value.clone());
        let place = fact.key.place.clone();
        found.push(((at, 0), Difference { place, what, old: was, new: Some(fact.value.clone()) }));
    }
    // What is gone is told where it was: after what came before it.
    let mut last = 0;
    for (at, fact) in before.iter().enumerate() {
        if let Some(&place) = new.get(&fact.key) {
            last = place;
        } else if fact.parent.as_ref().is_none_or(|parent| new.contains_key(parent)) {
            let (place, was) = (fact.key.place.clone(), Some(fact.value.clone()));
            found.push(((last, at + 1), Difference { place, what: What::Removed, old: was, new: None }));
        }
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(_, difference)| difference).collect()
}

impl fmt::Display for Diff {
    /// One line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.differences.iter().try_for_each(|difference| writeln!(f, "{difference}"))
    }
}
