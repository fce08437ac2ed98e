//! Instruments of one kind by a pair of names, bounded: names beyond the bound are counted together.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use model::Name;

/// Both names of what found no room.
pub const OTHER: &str = "other";

type Pairs<T> = BTreeMap<(Name, Name), Arc<T>>;

#[derive(Debug)]
pub struct Family<T> {
    max: usize,
    pairs: RwLock<Pairs<T>>,
}

impl<T: Default> Family<T> {
    #[must_use]
    pub fn new(max: usize) -> Self {
        Family { max, pairs: RwLock::default() }
    }

    /// The instruments of a pair, and whether they are its own.
    fn of(&self, first: &Name, second: &Name) -> (Arc<T>, bool) {
        let mut pairs = self.pairs.write().unwrap_or_else(PoisonError::into_inner);
        let pair = (first.clone(), second.clone());
        if let Some(found) = pairs.get(&pair) {
            return (found.clone(), true);
        }
        let own = pairs.len() < self.max;
        let pair = if own { pair } else { (OTHER.into(), OTHER.into()) };
        (pairs.entry(pair).or_default().clone(), own)
    }

    /// Has a pair among all from now on, though nothing was counted of it.
    pub fn declare(&self, first: &Name, second: &Name) {
        self.of(first, second);
    }

    /// All pairs there are, in the order of their names.
    #[must_use]
    pub fn all(&self) -> Vec<((Name, Name), Arc<T>)> {
        let pairs = self.pairs.read().unwrap_or_else(PoisonError::into_inner);
        pairs.iter().map(|(pair, instruments)| (pair.clone(), instruments.clone())).collect()
    }
}

/// A family as one thread sees it: found once, then without a lock.
#[derive(Debug)]
pub(super) struct Found<T>(HashMap<Name, HashMap<Name, Arc<T>>>);

impl<T> Default for Found<T> {
    fn default() -> Self {
        Found(HashMap::new())
    }
}

impl<T: Default> Found<T> {
    pub(super) fn with(&mut self, family: &Family<T>, first: &Name, second: &Name, count: impl FnOnce(&T)) {
        if let Some(found) = self.0.get(first).and_then(|seconds| seconds.get(second)) {
            return count(found);
        }
        let (found, own) = family.of(first, second);
        count(&found);
        // What is counted with others is not remembered: it would take room without a bound.
        if own {
            self.0.entry(first.clone()).or_default().insert(second.clone(), found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Counter;

    #[test]
    fn names_beyond_the_bound_are_counted_together() {
        let family = Family::<Counter>::new(2);
        let mut found = Found::default();
        for (first, second) in [("a", "x"), ("b", "x"), ("c", "x"), ("c", "y"), ("a", "x")] {
            found.with(&family, &first.into(), &second.into(), |counter: &Counter| counter.add(1));
        }
        let counts: Vec<_> = family
            .all()
            .into_iter()
            .map(|((first, second), counter)| format!("{first} {second} {}", counter.get()))
            .collect();
        assert_eq!(counts, ["a x 2", "b x 1", "other other 2"]);
        assert_eq!(found.0.len(), 2, "only pairs of their own are remembered");
    }
}
