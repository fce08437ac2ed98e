//! Timers: what is due, and when to look again.

use model::{Status, SubmissionId, Time};

use super::sample::{Sample, id};
use super::steps::{insert, take, update};
use super::{Fixture, Promise, promise};
use store::{Clock, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("due rows come earliest first, ties by id", earliest_first),
    promise("due rows are no more than asked for", bounded),
    promise("nothing is due before its time, and exactly at it counts", exactly_at),
    promise("the next timer is the first that was not taken", next_timer),
    promise("timers move with their row", timers_move),
    promise("a row that is due stays due until it is written", stays_due),
    promise("idle rows come earliest first, ties by id, and no more than asked for", idle_in_order),
    promise("the next idle timer is the first that was not taken", next_idle),
    promise("a row that ends is idle, and one that comes back is not", ends_and_comes_back),
    promise("a dead letter has not ended: it is not idle", dead_is_not_idle),
    promise("no number of idle timers is in the way of the others", idle_in_nobodys_way),
    promise("idle rows come with their documents where the take wants them", idle_documents),
];

/// Returns the time this many milliseconds after the fixture's now.
fn later(fixture: &dyn Fixture, millis: i64) -> Time {
    Time::from_millis(fixture.clock().now().millis() + millis)
}

fn due(store: &dyn Store, max: usize) -> (Vec<SubmissionId>, Option<Time>) {
    let taken = take(store, &Take { due: max, ..Take::nothing() });
    assert!(taken.due.iter().all(|id| taken.rows.contains_key(id)), "due rows are among the rows taken");
    (taken.due, taken.next_timer)
}

fn idle(store: &dyn Store, max: usize) -> (Vec<SubmissionId>, Option<Time>) {
    let taken = take(store, &Take { idle: max, ..Take::nothing() });
    assert!(taken.idle.iter().all(|id| taken.rows.contains_key(id)), "idle rows are among the rows taken");
    (taken.idle, taken.next_idle)
}

/// A row that ended, to be looked at so many milliseconds after the fixture's now.
fn ended(fixture: &dyn Fixture, n: u64, millis: i64) -> model::Submission {
    Sample::row(n).status(Status::Succeeded).timer(later(fixture, millis)).build()
}

fn earliest_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let offsets = [(1, -5), (2, -50), (3, 0), (4, -5), (5, -500_000_000), (6, 5)];
    insert(&*store, offsets.map(|(n, millis)| Sample::row(n).timer(later(fixture, millis)).build()));
    assert_eq!(due(&*store, 10).0, [5, 2, 1, 4, 3].map(id));
}

fn bounded(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=20).map(|n| Sample::row(n).timer(later(fixture, -1)).build()));
    for max in [0, 1, 7, 20, 21] {
        assert_eq!(due(&*store, max).0.len(), max.min(20));
    }
}

fn exactly_at(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).timer(later(fixture, 2)).build(), Sample::row(2).build()]);
    assert_eq!(due(&*store, 9).0, []);
    fixture.clock().advance(1);
    assert_eq!(due(&*store, 9).0, []);
    fixture.clock().advance(1);
    assert_eq!(due(&*store, 9).0, [id(1)]);
    fixture.clock().advance(1_000);
    assert_eq!(due(&*store, 9).0, [id(1)]);
}

fn next_timer(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(due(&*store, 9), (vec![], None));
    let times = [-2, -1, 10, 20].map(|millis| later(fixture, millis));
    insert(&*store, (1..).zip(times).map(|(n, at)| Sample::row(n).timer(at).build()));
    assert_eq!(due(&*store, 0), (vec![], Some(times[0])));
    assert_eq!(due(&*store, 1), (vec![id(1)], Some(times[1])), "one that is due but was not taken is next");
    assert_eq!(due(&*store, 9), (vec![id(1), id(2)], Some(times[2])));
    assert_eq!(due(&*store, 2), (vec![id(1), id(2)], Some(times[2])));
    let named = take(&*store, &Take { ids: vec![id(3)], due: 9, ..Take::nothing() });
    assert_eq!(named.next_timer, Some(times[2]), "taken by its id is not taken for its timer");
    fixture.clock().advance(20);
    assert_eq!(due(&*store, 9), (vec![id(1), id(2), id(3), id(4)], None));
}

fn timers_move(fixture: &dyn Fixture) {
    let store = fixture.open();
    let (soon, late) = (later(fixture, 5), later(fixture, 50));
    insert(&*store, [Sample::row(1).timer(soon).build()]);
    update(&*store, id(1), |row| row.timer = Some(late));
    fixture.clock().advance(5);
    assert_eq!(due(&*store, 9), (vec![], Some(late)));
    update(&*store, id(1), |row| row.state = "NEXT".into());
    assert_eq!(due(&*store, 9), (vec![], Some(late)), "a write that leaves the timer leaves it");
    update(&*store, id(1), |row| row.timer = None);
    fixture.clock().advance(50);
    assert_eq!(due(&*store, 9), (vec![], None));
    update(&*store, id(1), |row| row.timer = Some(late));
    assert_eq!(due(&*store, 9), (vec![id(1)], None));
}

fn stays_due(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).timer(later(fixture, 0)).build()]);
    for _ in 0..3 {
        assert_eq!(due(&*store, 9).0, [id(1)]);
    }
}

fn idle_in_order(fixture: &dyn Fixture) {
    let store = fixture.open();
    let offsets = [(1, -5), (2, -50), (3, 0), (4, -5), (5, -500_000_000), (6, 5)];
    insert(&*store, offsets.map(|(n, millis)| ended(fixture, n, millis)));
    let expected = [5, 2, 1, 4, 3].map(id);
    for max in [0, 1, 3, 5, 6] {
        assert_eq!(idle(&*store, max).0, expected[..max.min(5)]);
    }
    assert_eq!(due(&*store, 9), (vec![], None), "none of them is due");
    fixture.clock().advance(5);
    assert_eq!(idle(&*store, 9).0.last(), Some(&id(6)), "at the time itself, too");
}

fn next_idle(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(idle(&*store, 9), (vec![], None));
    insert(&*store, [(1, -2), (2, -1), (3, 10)].map(|(n, millis)| ended(fixture, n, millis)));
    insert(&*store, [Sample::row(4).timer(later(fixture, 3)).build()]);
    assert_eq!(idle(&*store, 0), (vec![], Some(later(fixture, -2))));
    assert_eq!(idle(&*store, 1), (vec![id(1)], Some(later(fixture, -1))));
    assert_eq!(idle(&*store, 2), (vec![id(1), id(2)], Some(later(fixture, 10))));
    let taken = take(&*store, &Take { due: 9, ..Take::nothing() });
    assert_eq!((taken.next_timer, taken.next_idle), (Some(later(fixture, 3)), Some(later(fixture, -2))));
    fixture.clock().advance(10);
    assert_eq!(idle(&*store, 9), (vec![id(1), id(2), id(3)], None));
}

fn ends_and_comes_back(fixture: &dyn Fixture) {
    let store = fixture.open();
    let at = later(fixture, 0);
    for (n, status) in (1..).zip([Status::Succeeded, Status::Failed, Status::Cancelled]) {
        insert(&*store, [Sample::row(n).timer(at).build()]);
        assert_eq!((due(&*store, 9).0, idle(&*store, 9).0), (vec![id(n)], vec![]));
        update(&*store, id(n), |row| row.status = status);
        assert_eq!((due(&*store, 9), idle(&*store, 9)), ((vec![], None), (vec![id(n)], None)), "{status:?}");
        update(&*store, id(n), |row| row.status = Status::Open);
        assert_eq!((due(&*store, 9).0, idle(&*store, 9).0), (vec![id(n)], vec![]), "reopened");
        update(&*store, id(n), |row| (row.status, row.timer) = (status, Some(later(fixture, 7))));
        assert_eq!((due(&*store, 9), idle(&*store, 9).1), ((vec![], None), Some(later(fixture, 7))));
        update(&*store, id(n), |row| row.timer = None);
        assert_eq!((due(&*store, 9), idle(&*store, 9)), ((vec![], None), (vec![], None)), "done with");
    }
}

fn dead_is_not_idle(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).status(Status::Dead).timer(later(fixture, 0)).build()]);
    assert_eq!((due(&*store, 9).0, idle(&*store, 9)), (vec![id(1)], (vec![], None)));
}

fn idle_in_nobodys_way(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=2_000).map(|n| ended(fixture, n, -1_000)));
    insert(&*store, [Sample::row(3_000).timer(later(fixture, -1)).build()]);
    insert(&*store, [Sample::row(3_001).timer(later(fixture, 1)).build()]);
    let taken = take(&*store, &Take { due: 1, idle: 2, ..Take::nothing() });
    assert_eq!((taken.due, taken.next_timer), (vec![id(3_000)], Some(later(fixture, 1))));
    assert_eq!((taken.idle, taken.rows.len()), (vec![id(1), id(2)], 3));
    let taken = take(&*store, &Take { due: 9, ..Take::nothing() });
    assert_eq!((taken.due, taken.idle, taken.rows.len()), (vec![id(3_000)], vec![], 1));
}

fn idle_documents(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = [(1, "ERASE"), (2, "FORGET")];
    insert(
        &*store,
        rows.map(|(n, state)| {
            let row = Sample::row(n).status(Status::Failed).state(state).key("k1");
            row.timer(later(fixture, 0)).build()
        }),
    );
    insert(&*store, [Sample::row(3).key("k1").build()]);
    let wanted = Take { idle: 9, documents: &|row| &*row.state == "ERASE", ..Take::nothing() };
    let taken = take(&*store, &wanted);
    assert!(taken.rows[&id(1)].documents.is_some() && taken.rows[&id(2)].documents.is_none());
    assert_eq!(taken.holders.values().collect::<Vec<_>>(), [&id(3)], "named like any other row");
}
