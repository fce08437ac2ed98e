//! Many callers at once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use model::{Submission, SubmissionId};

use super::sample::{Sample, id, json, lease, submitted};
use super::snapshot::registry_key;
use super::steps::{claim, commit, events, insert, read, take, try_commit};
use super::{Fixture, Promise, promise};
use store::{Changes, Error, RegistryChange, RegistryKey, RowChange, Store, Take, Taken};

pub(super) const PROMISES: &[Promise] = &[
    promise("no update is lost when many write one row", no_lost_update),
    promise("no row is leased twice when many claim", no_double_lease),
    promise("one of many that race for a key gets it", one_gets_the_key),
    promise("one of many that race for a slot gets it", one_gets_the_slot),
    promise("no change of a registry entry is lost when many make one", no_lost_entry),
    promise("nothing that relies on a registry entry comes after its change", relied_on_until_changed),
    promise("a reader of events sees a gapless sequence while others commit", gapless_for_readers),
];

const CALLERS: u64 = 4;

/// Takes and decides again until it is not a conflict, as the engine does.
fn persist(store: &dyn Store, take: &Take<'_>, decide: &mut dyn FnMut(Taken) -> Changes) {
    // Deciding is where another caller can get in between.
    let mut decide = |taken| {
        thread::yield_now();
        decide(taken)
    };
    for _ in 0..10_000 {
        match store.transact(take, &mut decide) {
            Ok(_) => return,
            Err(error) => {
                assert!(matches!(error, Error::Conflict(_)), "only a conflict is tried again: {error}")
            }
        }
    }
    panic!("conflicts without end: somebody's commit has to come through");
}

fn no_lost_update(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let take = || Take { ids: vec![id(1)], ..Take::nothing() };
    let add = |taken: Taken| {
        let before = taken.rows[&id(1)].row.clone();
        let after = Submission { requeues: before.requeues + 1, ..(*before).clone() };
        Changes { rows: vec![RowChange::update(before, after)], ..Changes::default() }
    };
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            let (store, mut add) = (&*store, add);
            scope.spawn(move || (0..25).for_each(|_| persist(store, &take(), &mut add)));
        }
    });
    let row = read(&*store, id(1));
    assert_eq!((u64::from(row.requeues), row.row_version), (CALLERS * 25, CALLERS * 25 + 1));
}

fn no_double_lease(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=100).map(|n| Sample::row(n).ready("scan", 0).build()));
    let claim_some = |store: &dyn Store| -> Vec<SubmissionId> {
        let mut granted = Vec::new();
        let take = Take { ready: vec![claim(&["scan"], 7)], ..Take::nothing() };
        persist(store, &take, &mut |taken| {
            granted.clone_from(&taken.ready[0]);
            let rows = granted.iter().map(|id| {
                let before = taken.rows[id].row.clone();
                let after =
                    Submission { wait: lease("scan", 1), lease_no: before.lease_no + 1, ..(*before).clone() };
                RowChange::update(before, after)
            });
            Changes { rows: rows.collect(), ..Changes::default() }
        });
        granted
    };
    let work = || {
        let mut all = Vec::new();
        for _ in 0..200 {
            let granted = claim_some(&*store);
            if granted.is_empty() {
                break;
            }
            all.extend(granted);
        }
        all
    };
    let leased: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker ends")).collect()
    });
    // A store may skip rows another claim is about to get, so a worker may stop early; the rest is claimed here.
    let leased = [leased, work()].concat();
    assert_eq!(leased.len(), 100);
    assert_eq!(leased.iter().collect::<BTreeSet<_>>().len(), 100);
    assert!((1..=100).all(|n| read(&*store, id(n)).lease_no == 1));
}

fn one_gets_the_key(fixture: &dyn Fixture) {
    one_gets(fixture, "key", |row, round| row.key(&format!("round-{round}")));
}

fn one_gets_the_slot(fixture: &dyn Fixture) {
    let round = |round| u32::try_from(round).expect("rounds are few");
    one_gets(fixture, "slot", |row, no| row.slots(&[("owner", "ada", round(no))]));
}

/// Lets several callers insert rows that want one thing, another every round: one gets it, the others a conflict.
fn one_gets(fixture: &dyn Fixture, what: &str, wanting: impl Fn(Sample, u64) -> Sample + Sync) {
    let store = fixture.open();
    for round in 0..10 {
        let try_one = |n| {
            let rows = vec![wanting(Sample::row(round * 100 + n), round).new_row()];
            try_commit(&*store, Changes { rows, ..Changes::default() })
        };
        let won = thread::scope(|scope| {
            let try_one = &try_one;
            let callers: Vec<_> = (0..CALLERS).map(|n| scope.spawn(move || try_one(n))).collect();
            let outcomes = callers.into_iter().map(|caller| caller.join().expect("a caller ends"));
            outcomes.filter(|outcome| !matches!(outcome, Err(Error::Conflict(_)))).collect::<Vec<_>>()
        });
        assert!(matches!(won[..], [Ok(_)]), "one gets the {what}, the others a conflict: {won:?}");
    }
}

fn no_lost_entry(fixture: &dyn Fixture) {
    let store = fixture.open();
    let entry = registry_key("cursor", "first");
    let count = |taken: &Taken| -> u64 {
        let body = taken.registry.get(&entry).map_or("0", |body| body.as_str());
        body.parse().expect("a number was put there")
    };
    // The first of them may make the entry: that is a change like any other once one is there.
    commit(&*store, put(&entry, "0"));
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                for _ in 0..25 {
                    let take = Take { registry: vec![entry.clone()], ..Take::nothing() };
                    persist(&*store, &take, &mut |taken| put(&entry, &(count(&taken) + 1).to_string()));
                }
            });
        }
    });
    let taken = take(&*store, &Take { registry: vec![entry.clone()], ..Take::nothing() });
    assert_eq!(count(&taken), CALLERS * 25);
}

fn put(key: &RegistryKey, body: &str) -> Changes {
    let registry = vec![RegistryChange { key: key.clone(), body: Some(json(body)) }];
    Changes { registry, ..Changes::default() }
}

/// Rows come in while a gate is open. Whoever closes it knows that all who came are there.
fn relied_on_until_changed(fixture: &dyn Fixture) {
    let store = fixture.open();
    let gate = registry_key("hold", "first");
    let present = || -> u64 { store.counts().expect("counting works").iter().map(|count| count.count).sum() };
    let look = || Take { registry: vec![gate.clone()], ..Take::nothing() };
    for round in 1..=5 {
        commit(&*store, put(&gate, "\"open\""));
        let enter = |caller: u64| {
            for n in 0.. {
                let mut open = false;
                persist(&*store, &look(), &mut |taken| {
                    open = taken.registry[&gate].as_str() == "\"open\"";
                    let row = Sample::row(round * 1_000_000 + caller * 100_000 + n).new_row();
                    let rows = if open { vec![row] } else { Vec::new() };
                    Changes { rows, relies_on: vec![gate.clone()], ..Changes::default() }
                });
                if !open {
                    return;
                }
            }
        };
        let there = present();
        let at_the_close = thread::scope(|scope| {
            let enter = &enter;
            let callers: Vec<_> = (0..CALLERS).map(|caller| scope.spawn(move || enter(caller))).collect();
            // One that is done before the gate is closed has failed.
            while present() < there + CALLERS * 3 && !callers.iter().any(|caller| caller.is_finished()) {
                thread::yield_now();
            }
            persist(&*store, &look(), &mut |_| put(&gate, "\"closed\""));
            present()
        });
        assert_eq!(present(), at_the_close, "somebody came through a gate that was closed");
    }
}

fn gapless_for_readers(fixture: &dyn Fixture) {
    let store = fixture.open();
    let writing = AtomicBool::new(true);
    let seen = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            loop {
                let last_round = !writing.load(Ordering::SeqCst);
                let page = events(&*store, seen.len() as u64, 10);
                let done = (last_round && page.is_empty()) || seen.len() as u64 > CALLERS * 90;
                seen.extend(page.into_iter().map(|recorded| recorded.seq));
                if done {
                    return seen;
                }
            }
        });
        let writers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let store = &*store;
                scope.spawn(move || {
                    for n in 0..30 {
                        let events = (0..3).map(|no| submitted(caller * 1_000 + n * 10 + no)).collect();
                        commit(store, Changes { events, ..Changes::default() });
                    }
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        writing.store(false, Ordering::SeqCst);
        assert!(written.iter().all(Result::is_ok), "every commit is in order");
        reader.join().expect("the reader ends")
    });
    assert_eq!(seen, (1..=CALLERS * 90).collect::<Vec<_>>());
}
