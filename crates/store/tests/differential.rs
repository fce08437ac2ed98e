//! Two stores given the same history agree, and one that errs is found out.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use model::{Json, Submission};
use store::ManualClock;
use store::{Changes, Committed, Error, LaneKey, LaneView, Late, Layer, MemoryStore, Store, Take, Taken};
use store_conformance::{Differential, differential};

#[test]
fn two_memory_stores_do_the_same() {
    for seed in 0..5 {
        let clock = ManualClock::new();
        let how = Differential { clock: &clock, seed, steps: 400 };
        let seen = differential(&memory(&clock), &memory(&clock), &how);
        assert!(seen.commits > 100 && seen.conflicts > 20 && seen.events > 200, "{seen:?}");
        assert!(seen.ready > 20 && seen.due > 20 && seen.owed > 20, "{seen:?}");
        assert!(seen.answers > 10 && seen.holders > 20 && seen.rows > 100, "{seen:?}");
        assert!(seen.waiters > 20 && seen.lanes > 100 && seen.parked > 20, "{seen:?}");
        assert!(seen.slots > 20 && seen.idle > 20 && seen.late > 100 && seen.relied_on > 100, "{seen:?}");
        assert!(seen.erased > 5 && seen.forgotten > 5 && seen.retirements > 3, "{seen:?}");
    }
}

#[test]
fn every_kind_of_error_is_found_out() {
    let faults: [(&str, Fault<Taken>); 17] = [
        ("due in the wrong order", |taken| taken.due.reverse()),
        ("idle in the wrong order", |taken| taken.idle.reverse()),
        ("next idle timer forgotten", |taken| taken.next_idle = None),
        ("slots forgotten", |taken| taken.slots.clear()),
        ("slots taken to be free", |taken| taken.slots.values_mut().for_each(BTreeSet::clear)),
        ("ready in the wrong order", |taken| taken.ready.iter_mut().for_each(|ids| ids.reverse())),
        ("owed in the wrong order", |taken| taken.owed.reverse()),
        ("documents not loaded", |taken| taken.rows.values_mut().for_each(|stored| stored.documents = None)),
        ("answers forgotten", |taken| taken.answers.clear()),
        ("holders forgotten", |taken| taken.holders.clear()),
        ("registry forgotten", |taken| taken.registry.clear()),
        ("next timer forgotten", |taken| taken.next_timer = None),
        ("waiters forgotten", |taken| taken.waiters.clear()),
        ("lanes without a first", |taken| taken.lanes.values_mut().for_each(|view| view.first = None)),
        ("lanes nobody asked for", |taken| {
            let lane = LaneKey { pipeline: "alpha".into(), lane: "other".into() };
            taken.lanes.insert(lane, LaneView::default());
        }),
        ("parked in the wrong order", |taken| taken.parked.values_mut().for_each(|ids| ids.reverse())),
        ("versions wrong", |taken| {
            taken.rows.values_mut().for_each(|stored| Arc::make_mut(&mut stored.row).row_version += 1)
        }),
    ];
    for (name, fault) in faults {
        let clock = ManualClock::new();
        let faulty = Faulty { taking: fault, ..Faulty::new(&clock) };
        assert!(differs(&faulty, &clock), "{name} went unnoticed");
    }
}

#[test]
fn whatever_a_commit_leaves_out_is_found_out() {
    let faults: [(&str, Fault<Changes>); 9] = [
        ("rows", |changes| changes.rows.truncate(1)),
        ("documents", |changes| changes.documents.clear()),
        ("answers", |changes| changes.answers.clear()),
        ("owed rows", |changes| changes.owed.clear()),
        ("payments", |changes| changes.paid.clear()),
        ("registry entries", |changes| changes.registry.clear()),
        ("erasures", |changes| changes.erased.clear()),
        ("forgotten rows", |changes| changes.forgotten.clear()),
        ("retirements", |changes| changes.retired_before = None),
    ];
    for (name, fault) in faults {
        let clock = ManualClock::new();
        let faulty = Faulty { writing: fault, ..Faulty::new(&clock) };
        assert!(differs(&faulty, &clock), "{name} left out of commits went unnoticed");
    }
}

#[test]
fn whatever_a_list_gets_wrong_is_found_out() {
    let clock = ManualClock::new();
    assert!(!differs(&Faulty::new(&clock), &clock), "nothing is wrong with it");
    let faulty = Faulty { lateness: |rows| rows.reverse(), ..Faulty::new(&clock) };
    assert!(differs(&faulty, &clock), "late rows in the wrong order went unnoticed");
    let faulty = Faulty { lateness: |rows| drop(rows.pop()), ..Faulty::new(&clock) };
    assert!(differs(&faulty, &clock), "a late row left out went unnoticed");
    let faulty = Faulty { listing: |entries| entries.truncate(1), ..Faulty::new(&clock) };
    assert!(differs(&faulty, &clock), "entries left out went unnoticed");
}

fn memory(clock: &ManualClock) -> MemoryStore {
    MemoryStore::new(Arc::new(clock.clone()))
}

fn differs(faulty: &Faulty, clock: &ManualClock) -> bool {
    let how = Differential { clock, seed: 1, steps: 200 };
    catch_unwind(AssertUnwindSafe(|| differential(&memory(clock), faulty, &how))).is_err()
}

type Fault<T> = fn(&mut T);

/// A store that is right but for one thing.
#[derive(Debug)]
struct Faulty {
    inner: MemoryStore,
    taking: Fault<Taken>,
    writing: Fault<Changes>,
    lateness: Fault<Vec<Submission>>,
    listing: Fault<Vec<(String, Json)>>,
}

impl Faulty {
    /// Right in everything so far.
    fn new(clock: &ManualClock) -> Self {
        Faulty { inner: memory(clock), taking: |_| (), writing: |_| (), lateness: |_| (), listing: |_| () }
    }
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn transact(
        &self,
        take: &Take<'_>,
        decide: &mut dyn FnMut(Taken) -> Changes,
    ) -> Result<Committed, Error> {
        self.inner.transact(take, &mut |mut taken| {
            (self.taking)(&mut taken);
            let mut changes = decide(taken);
            (self.writing)(&mut changes);
            changes
        })
    }

    fn late(&self, late: &Late) -> Result<Vec<Submission>, Error> {
        let mut rows = self.inner.late(late)?;
        (self.lateness)(&mut rows);
        Ok(rows)
    }

    fn registry(&self, kind: &str, after: &str, limit: usize) -> Result<Vec<(String, Json)>, Error> {
        let mut entries = self.inner.registry(kind, after, limit)?;
        (self.listing)(&mut entries);
        Ok(entries)
    }
}
