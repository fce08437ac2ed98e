//! Timers: what is due, and when to look again.

use model::{SubmissionId, Time};

use super::sample::{Sample, id};
use super::steps::{insert, take, update};
use super::{Fixture, Promise, promise};
use crate::{Clock, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("due rows come earliest first, ties by id", earliest_first),
    promise("due rows are no more than asked for", bounded),
    promise("nothing is due before its time, and exactly at it counts", exactly_at),
    promise("the next timer is the first that was not taken", next_timer),
    promise("timers move with their row", timers_move),
    promise("a row that is due stays due until it is written", stays_due),
];

/// So many milliseconds after the fixture's now.
fn later(fixture: &dyn Fixture, millis: i64) -> Time {
    Time::from_millis(fixture.clock().now().millis() + millis)
}

fn due(store: &dyn Store, max: usize) -> (Vec<SubmissionId>, Option<Time>) {
    let taken = take(store, &Take { due: max, ..Take::nothing() });
    assert!(taken.due.iter().all(|id| taken.rows.contains_key(id)), "due rows are among the rows taken");
    (taken.due, taken.next_timer)
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
