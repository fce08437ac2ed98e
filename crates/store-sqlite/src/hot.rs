//! Rows that were written lately, kept as they are.
//!
//! Most rows are taken again soon: what was claimed is finished, what was finished is claimed. Reading one from its
//! table and its JSON is a quarter of what a move costs; nobody but the writer changes rows, so it may remember them.

use std::sync::Arc;

use model::{Submission, SubmissionId};
use store::IdMap;

use crate::rows::Found;
use crate::writing::Tip;

/// The number of rows in each of two generations. A row and what it points to are about 2 KB: 16 MB in all.
const GENERATION: usize = 4_096;

/// The longest text of a row that is kept. Larger rows are rare and would make the memory this takes anybody's guess.
pub(crate) const TEXT_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub(crate) struct Hot {
    young: IdMap<Warm>,
    /// Forgotten as a whole once the young ones are many; one that is asked for becomes young again.
    old: IdMap<Warm>,
}

/// A row as it was committed, and the position of its newest event.
#[derive(Debug, Clone)]
pub(crate) struct Warm {
    pub(crate) row: Arc<Submission>,
    pub(crate) last_seq: u64,
}

impl From<Found> for Warm {
    fn from(found: Found) -> Self {
        Warm { row: Arc::new(found.row), last_seq: found.last_seq }
    }
}

impl Warm {
    pub(crate) fn tip(&self) -> Tip {
        Tip::of(&self.row, self.last_seq)
    }
}

impl Hot {
    pub(crate) fn get(&mut self, id: SubmissionId) -> Option<Warm> {
        if let Some(warm) = self.old.remove(&id) {
            self.put(warm);
        }
        self.young.get(&id).cloned()
    }

    pub(crate) fn put(&mut self, warm: Warm) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(warm.row.id, warm);
    }

    pub(crate) fn remove(&mut self, id: SubmissionId) {
        self.young.remove(&id);
        self.old.remove(&id);
    }

    pub(crate) fn clear(&mut self) {
        *self = Hot::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Time;
    use store_conformance::sample::Sample;

    fn id(n: usize) -> SubmissionId {
        SubmissionId::new(Time::from_millis(i64::try_from(n).unwrap()), [0; 10])
    }

    fn warm(n: usize) -> Warm {
        let row = Submission { id: id(n), ..Sample::row(1).build() };
        Warm { row: Arc::new(row), last_seq: n as u64 }
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut hot = Hot::default();
        for n in 0..5 * GENERATION {
            hot.put(warm(n));
            assert_eq!(hot.get(id(7)).is_some(), n >= 7);
        }
        assert!(hot.young.len() + hot.old.len() <= 2 * GENERATION);
        assert_eq!(hot.get(id(8)).map(|warm| warm.last_seq), None);
        assert_eq!(
            hot.get(id(5 * GENERATION - 1)).map(|warm| warm.last_seq),
            Some(5 * GENERATION as u64 - 1)
        );
    }

    #[test]
    fn what_is_removed_is_gone_from_both_generations() {
        let mut hot = Hot::default();
        (0..=GENERATION).for_each(|n| hot.put(warm(n)));
        for n in [0, GENERATION] {
            assert!(hot.get(id(n)).is_some());
            hot.remove(id(n));
            assert!(hot.get(id(n)).is_none());
        }
    }
}
