//! Restarts: everything survives them.

use model::Status;

use super::sample::{Sample, entry, id, moved, submitted};
use super::snapshot::{assert_same, look};
use super::steps::{assert_conflict, change, commit, read, try_commit, update};
use super::whole::furnish;
use super::{Fixture, Promise, promise};
use store::{Changes, Committed, RowChange};

pub(super) const PROMISES: &[Promise] = &[
    promise("everything is there after reopening", everything_is_there),
    promise("positions and versions go on after reopening", goes_on),
    promise("fences, keys and slots hold across reopening", fences_hold),
];

fn everything_is_there(fixture: &dyn Fixture) {
    let mut store = fixture.open();
    furnish(fixture, &*store);
    let before = look(&*store);
    assert!(!before.rows.is_empty() && !before.events.is_empty() && !before.registry.is_empty());
    let taken = &before.taken;
    assert!(!taken.holders.is_empty() && !taken.answers.is_empty() && !taken.owed.is_empty());
    assert_eq!(taken.inbox.len(), 2);
    assert!(!taken.waiters.is_empty() && !taken.parked.is_empty());
    assert!(taken.lanes.values().any(|view| view.holder.is_some() && view.first.is_some()));
    assert!(taken.slots.values().any(|slots| !slots.is_empty()));
    assert!(!taken.idle.is_empty() && taken.next_idle.is_some() && !before.late.is_empty());
    for _ in 0..2 {
        store = fixture.reopen(store);
        assert_same(&before, &look(&*store), "after reopening");
    }
}

fn goes_on(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let store = fixture.reopen(store);
    let before = read(&*store, id(1));
    let event = moved(&before, "NEXT", entry(model::submission::Wait::Person, Status::Open));
    let after = model::evolve(Some(before.clone()), &event);
    let rows = vec![RowChange::update(before, after)];
    let committed =
        commit(&*store, Changes { rows, events: vec![event, submitted(8)], ..Changes::default() });
    assert_eq!(committed, Committed { first_seq: 5, last_seq: 6 });
    let store = fixture.reopen(store);
    assert_eq!(read(&*store, id(1)).row_version, 2);
    assert_eq!(store.history(id(1), 0, 9).expect("reading works").len(), 2);
    assert_eq!(super::counts::recount(&*store).len(), store.counts().expect("counting works").len());
}

fn fences_hold(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let stale = change(&*store, id(2), |row| row.state = "STALE".into());
    update(&*store, id(2), |row| row.state = "FRESH".into());
    let store = fixture.reopen(store);
    assert_conflict(&try_commit(&*store, Changes { rows: vec![stale], ..Changes::default() }));
    for held in [Sample::row(9).key("k1"), Sample::row(9).slots(&[("owner", "ada", 0)])] {
        let rows = vec![held.new_row()];
        assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    }
}
