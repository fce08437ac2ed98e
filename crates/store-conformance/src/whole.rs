//! A commit is there whole or not at all.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use model::submission::Stand;
use model::{Status, Submission, evolve};

use super::inbox::received;
use super::sample::{Sample, entry, id, json, lease_with, moved, submitted};
use super::snapshot::{assert_same, lane_key, look, open_key, registry_key, request};
use super::steps::{assert_conflict, change, commit, read, take, try_commit};
use super::{Fixture, Promise, promise};
use store::{
    AnswerChange, Changes, Clock, Committed, DocumentChange, Owed, OwedId, OwedTo, RegistryChange, RowChange,
    Store, Take,
};

pub(super) const PROMISES: &[Promise] = &[
    promise("a conflict over a version commits nothing in part", version_conflict),
    promise("a conflict over a key commits nothing in part", key_conflict),
    promise("a conflict over a lane commits nothing in part", lane_conflict),
    promise("a conflict over a slot commits nothing in part", slot_conflict),
    promise("a conflict over a row to forget commits nothing in part", forgotten_conflict),
    promise("empty changes commit nothing and burn no position", empty_changes),
    promise("decide is called exactly once", decided_once),
    promise("a panic in decide leaves the store unchanged and usable", panic_in_decide),
    promise("a batch of a thousand rows is one commit", a_thousand_rows),
];

fn owed_id(n: u64) -> OwedId {
    OwedId { submission: id(1), revision: 1, no: n }
}

/// Something in every table.
pub(super) fn furnish(fixture: &dyn Fixture, store: &dyn Store) {
    let now = fixture.clock().now();
    let expires_at = model::Time::from_millis(now.millis() + 1_000);
    let rows = vec![
        Sample::row(1).key("k1").label("owner", "ada").new_row(),
        Sample::row(2).ready("scan", 5).parent(id(1)).new_row(),
        Sample::row(3).timer(now).pipeline("beta").new_row(),
        Sample::row(4).status(Status::Failed).new_row(),
        Sample::row(20).holds_lane("l1").waits_for_key("k1").new_row(),
        Sample::row(21).in_line("l1", "b").parent(id(20)).new_row(),
        Sample::row(22).ready("scan", 1).parked("h1").new_row(),
        Sample::row(23).key("k3").holds_lane("l2").timer(now).label("owner", "bob").new_row(),
        Sample::row(24)
            .slots(&[("owner", "ada", 0), ("tier", "bob", 1)])
            .clocks(&[now, expires_at])
            .new_row(),
        Sample::row(25).status(Status::Succeeded).timer(now).clocks(&[now]).new_row(),
        Sample::row(26).status(Status::Failed).timer(expires_at).pipeline("beta").new_row(),
    ];
    let to = [
        OwedTo::Key(open_key("alpha", "k1")),
        OwedTo::Lane(lane_key("alpha", "l1")),
        OwedTo::Parked("h1".into()),
        OwedTo::FirstParked("h2".into()),
    ];
    let owed = (0..).zip([OwedTo::Submission(id(2))].into_iter().chain(to));
    let changes = Changes {
        rows,
        events: (1..=4).map(submitted).collect(),
        documents: vec![
            document(1, "payload", r#"{ "n": 1 }"#),
            document(2, "output/START", "[ ]"),
            document(22, "payload", "{}"),
            document(23, "payload", "{}"),
        ],
        answers: vec![AnswerChange { key: request("r1"), body: json("{\"id\": 1}"), expires_at }],
        owed: owed.map(|(no, to)| Owed { id: owed_id(no), to, body: json("{\"end\":true}") }).collect(),
        registry: vec![RegistryChange { key: registry_key("hold", "first"), body: Some(json("{}")) }],
        received: vec![received(30), received(31)],
        ..Changes::default()
    };
    commit(store, changes);
}

fn document(n: u64, name: &str, body: &str) -> DocumentChange {
    DocumentChange { submission: id(n), name: name.to_owned(), body: json(body) }
}

/// Changes of every table: all in order on a furnished store.
fn sweeping(fixture: &dyn Fixture, store: &dyn Store) -> Changes {
    let before = read(store, id(2));
    let event = moved(&before, "NEXT", entry(super::sample::lease("scan", 1), Status::Open));
    let after = evolve(Some(before.clone()), &event);
    let expires_at = model::Time::from_millis(fixture.clock().now().millis() + 2_000);
    Changes {
        rows: vec![
            RowChange::update(before, after),
            Sample::row(5).key("k2").ready("scan", 1).new_row(),
            change(store, id(20), |row| row.seat = None),
            change(store, id(21), |row| row.seat = row.seat.take().map(|seat| seat.standing(Stand::Holds))),
            change(store, id(24), |row| row.wait = lease_with("scan", 1, &[("tier", "bob", 2)])),
            change(store, id(25), |row| (row.timer, row.clocks) = (None, Vec::new())),
        ],
        acts: vec![super::log::act(1, 1), super::log::act(2, 1)],
        events: vec![event, submitted(5)],
        tiles: vec![store::Tile { level: 0, index: 0, hashes: vec![7; 64] }],
        documents: vec![document(1, "payload", "{\"n\":2}"), document(5, "payload", "{}")],
        answers: vec![
            AnswerChange { key: request("r1"), body: json("{\"id\":2}"), expires_at },
            AnswerChange { key: request("r2"), body: json("{}"), expires_at },
        ],
        owed: vec![Owed { id: owed_id(9), to: OwedTo::Submission(id(1)), body: json("{}") }],
        paid: vec![owed_id(0)],
        received: vec![received(32)],
        decided: vec![id(30)],
        registry: vec![
            RegistryChange { key: registry_key("hold", "first"), body: None },
            RegistryChange { key: registry_key("hold", "second"), body: Some(json("2")) },
        ],
        relies_on: Vec::new(),
        erased: vec![id(22)],
        forgotten: vec![read(store, id(23))],
        retired_before: Some(3),
    }
}

/// Puts the spoiler at every place among the rows: nothing may depend on when it is met.
fn spoiled(fixture: &dyn Fixture, store: &dyn Store, spoiler: &RowChange) {
    let before = look(store);
    for place in 0..=6 {
        let mut changes = sweeping(fixture, store);
        changes.rows.insert(place, spoiler.clone());
        assert_conflict(&try_commit(store, changes));
        assert_same(&before, &look(store), "after a conflict");
    }
    let changes = sweeping(fixture, store);
    let committed = commit(store, changes);
    assert_eq!(committed, Committed { first_seq: 5, last_seq: 8 }, "conflicts burn no position");
    assert!(before != look(store), "without the spoiler the changes are visible");
}

fn version_conflict(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let mut stale = change(&*store, id(3), |row| row.state = "STALE".into());
    Arc::make_mut(stale.before.as_mut().expect("it was read")).row_version = 7;
    spoiled(fixture, &*store, &stale);
}

fn key_conflict(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    spoiled(fixture, &*store, &Sample::row(6).key("k1").new_row());
}

fn lane_conflict(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    spoiled(fixture, &*store, &Sample::row(6).holds_lane("l1").new_row());
}

fn slot_conflict(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    spoiled(fixture, &*store, &Sample::row(6).slots(&[("owner", "eve", 0), ("tier", "bob", 2)]).new_row());
}

fn forgotten_conflict(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let before = look(&*store);
    let stale = Submission { row_version: 7, ..read(&*store, id(3)) };
    for row in [stale, Sample::row(6).build()] {
        let mut changes = sweeping(fixture, &*store);
        changes.forgotten.push(row);
        assert_conflict(&try_commit(&*store, changes));
        assert_same(&before, &look(&*store), "after a conflict");
    }
}

fn empty_changes(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let before = look(&*store);
    for _ in 0..3 {
        assert_eq!(commit(&*store, Changes::default()), Committed::default());
    }
    assert_same(&before, &look(&*store), "after empty changes");
    let changes = Changes { rows: vec![Sample::row(7).new_row()], ..Changes::default() };
    assert_eq!(commit(&*store, changes), Committed::default(), "a commit without events has no position");
    let changes = Changes { events: vec![submitted(7)], ..Changes::default() };
    assert_eq!(commit(&*store, changes), Committed { first_seq: 5, last_seq: 5 });
}

fn decided_once(fixture: &dyn Fixture) {
    let store = fixture.open();
    let mut calls = 0;
    let mut conflicting = |_| {
        calls += 1;
        Changes { rows: vec![Sample::row(1).new_row(), Sample::row(1).new_row()], ..Changes::default() }
    };
    assert_conflict(&store.transact(&Take::nothing(), &mut conflicting));
    assert_eq!(calls, 1, "whoever called transact decides again, not the store");
}

fn panic_in_decide(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let before = look(&*store);
    let take = Take { ids: vec![id(1)], ..Take::nothing() };
    // Unwinds like any panic, without the report of one: it would read like a failure.
    let mut panics = |_| resume_unwind(Box::new("as the check has it"));
    let outcome = catch_unwind(AssertUnwindSafe(|| store.transact(&take, &mut panics)));
    assert!(!matches!(outcome, Ok(Ok(_))), "nothing was decided, so nothing can have been committed");
    assert_same(&before, &look(&*store), "after a panic");
    commit(&*store, sweeping(fixture, &*store));
    assert_eq!(read(&*store, id(2)).row_version, 2, "the store is usable");
}

fn a_thousand_rows(fixture: &dyn Fixture) {
    let store = fixture.open();
    let changes = Changes {
        rows: (1..=1_000).map(|n| Sample::row(n).ready("scan", 0).label("owner", "ada").new_row()).collect(),
        events: (1..=1_000).map(submitted).collect(),
        documents: (1..=1_000).map(|n| document(n, "payload", "{}")).collect(),
        ..Changes::default()
    };
    assert_eq!(commit(&*store, changes), Committed { first_seq: 1, last_seq: 1_000 });
    let taken = take(&*store, &Take { ids: (1..=2_000).map(id).collect(), ..Take::nothing() });
    assert_eq!(taken.rows.len(), 1_000);
    let rows = taken.rows.into_values().map(|stored| {
        let after = Submission { state: "NEXT".into(), ..(*stored.row).clone() };
        RowChange::update(stored.row, after)
    });
    let mut changes = Changes { rows: rows.collect(), ..Changes::default() };
    Arc::make_mut(changes.rows[500].before.as_mut().expect("it was taken")).row_version = 9;
    assert_conflict(&try_commit(&*store, changes.clone()));
    assert!((1..=1_000).all(|n| read(&*store, id(n)).row_version == 1), "one stale row holds all back");
    Arc::make_mut(changes.rows[500].before.as_mut().expect("it was taken")).row_version = 1;
    commit(&*store, changes);
    assert!((1..=1_000).all(|n| read(&*store, id(n)).row_version == 2));
}
