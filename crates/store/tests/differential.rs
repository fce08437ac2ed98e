//! Two stores given the same history agree, and one that errs is found out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use model::{Documents, Json, Submission, SubmissionId};
use store::conformance::{Differential, TestClock, differential};
use store::{Changes, Committed, Count, Error, MemoryStore, Page, Query, Recorded, Store, Take, Taken};

#[test]
fn two_memory_stores_do_the_same() {
    for seed in 0..5 {
        let clock = TestClock::new();
        let how = Differential { clock: &clock, seed, steps: 400 };
        let seen = differential(&memory(&clock), &memory(&clock), &how);
        assert!(seen.commits > 100 && seen.conflicts > 20 && seen.events > 200, "{seen:?}");
        assert!(seen.ready > 20 && seen.due > 20 && seen.owed > 20, "{seen:?}");
        assert!(seen.answers > 10 && seen.holders > 20 && seen.rows > 100, "{seen:?}");
    }
}

#[test]
fn every_kind_of_error_is_found_out() {
    let faults: [(&str, Fault); 9] = [
        ("due in the wrong order", |taken| taken.due.reverse()),
        ("ready in the wrong order", |taken| taken.ready.iter_mut().for_each(|ids| ids.reverse())),
        ("owed in the wrong order", |taken| taken.owed.reverse()),
        ("documents not loaded", |taken| taken.rows.values_mut().for_each(|stored| stored.documents = None)),
        ("answers forgotten", |taken| taken.answers.clear()),
        ("holders forgotten", |taken| taken.holders.clear()),
        ("registry forgotten", |taken| taken.registry.clear()),
        ("next timer forgotten", |taken| taken.next_timer = None),
        ("versions wrong", |taken| taken.rows.values_mut().for_each(|stored| stored.row.row_version += 1)),
    ];
    for (name, fault) in faults {
        let clock = TestClock::new();
        let faulty = Faulty { inner: memory(&clock), taking: fault, rows_kept: usize::MAX };
        assert!(differs(&faulty, &clock), "{name} went unnoticed");
    }
    let clock = TestClock::new();
    let forgetful = Faulty { inner: memory(&clock), taking: |_| (), rows_kept: 1 };
    assert!(differs(&forgetful, &clock), "rows left out of commits went unnoticed");
}

fn memory(clock: &TestClock) -> MemoryStore {
    MemoryStore::new(Arc::new(clock.clone()))
}

fn differs(faulty: &Faulty, clock: &TestClock) -> bool {
    let how = Differential { clock, seed: 1, steps: 200 };
    catch_unwind(AssertUnwindSafe(|| differential(&memory(clock), faulty, &how))).is_err()
}

type Fault = fn(&mut Taken);

/// A store that is right but for one thing.
#[derive(Debug)]
struct Faulty {
    inner: MemoryStore,
    taking: Fault,
    /// Of each commit, so many rows are written and the others are lost.
    rows_kept: usize,
}

impl Store for Faulty {
    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        self.inner.transact(take, &mut |mut taken| {
            (self.taking)(&mut taken);
            let mut changes = decide(taken);
            changes.rows.truncate(self.rows_kept);
            changes
        })
    }

    fn submission(&self, id: SubmissionId) -> Result<Option<(Submission, Documents)>, Error> {
        self.inner.submission(id)
    }

    fn find(&self, query: &Query) -> Result<Page, Error> {
        self.inner.find(query)
    }

    fn history(&self, id: SubmissionId, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.inner.history(id, after, limit)
    }

    fn events(&self, after: u64, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.inner.events(after, limit)
    }

    fn counts(&self) -> Result<Vec<Count>, Error> {
        self.inner.counts()
    }

    fn registry(&self, kind: &str) -> Result<Vec<(String, Json)>, Error> {
        self.inner.registry(kind)
    }
}
