//! Submissions that have missed a service level.

use model::submission::{Assignment, Wait};
use model::{Status, SubmissionId, Time};

use super::sample::{Sample, at, clocks, id};
use super::snapshot::ever_late;
use super::steps::{insert, late_all, missed, update};
use super::{Fixture, Promise, promise};
use store::entries::ReviewList;
use store::{Late, Store};

pub(super) const PROMISES: &[Promise] = &[
    promise("late rows come by when they missed, ties by id", longest_ago_first),
    promise("late is what was missed by a time, and exactly at it counts", exactly_at),
    promise("a row is late by the earliest of its clocks, as they change", earliest_clock),
    promise("late rows are listed pipeline by pipeline", by_pipeline),
    promise("late pages follow each other without gap or repeat", pages),
    promise("a page of late rows has at least room for one and at most for a thousand", page_bounds),
    promise("a page of late rows goes on after a pair that is not there", after_a_stranger),
    promise("a row is listed as late whatever has become of it", whatever_became),
    promise("what waits for people is listed by when it is due, and by whose it is", reviews),
];

/// Rows that wait for a person are in the list of their state, and in that of their reviewer or of those that nobody has.
fn reviews(fixture: &dyn Fixture) {
    let store = fixture.open();
    let row = |n: u64, due: u64| Sample::row(n).wait(Wait::Person).clocks(&[at(due)]).build();
    insert(&*store, [row(1, 30), row(2, 10), row(3, 20)]);
    insert(&*store, [Sample::row(4).wait(Wait::Guard).build()]);
    let (pipeline, state) = (row(1, 1).pipeline, row(1, 1).state);
    let all = ReviewList::All { pipeline: pipeline.clone(), state: state.clone() };
    let unassigned = ReviewList::Unassigned { pipeline, state };
    let listed = |list: &ReviewList| late_at(&*store, &list.name(), Time::MAX);
    assert_eq!((listed(&all), listed(&unassigned)), ([2, 3, 1].map(id).into(), [2, 3, 1].map(id).into()));

    let held = Assignment { to: "Ada".into(), by: "Ada".into(), since: at(1), until: at(2) };
    update(&*store, id(3), |row| row.assignment = Some(held));
    assert_eq!(listed(&unassigned), [2, 1].map(id));
    assert_eq!(listed(&ReviewList::Of("ada".into())), [id(3)], "however the name is written");
    update(&*store, id(3), |row| row.wait = Wait::Guard);
    assert_eq!((listed(&all), listed(&ReviewList::Of("ada".into()))), ([2, 1].map(id).into(), Vec::new()));
    let again = fixture.reopen(store);
    assert_eq!(late_at(&*again, &all.name(), Time::MAX), [2, 1].map(id));
}

/// Returns the submissions of a pipeline that are late at a time.
fn late_at(store: &dyn Store, pipeline: &str, until: Time) -> Vec<SubmissionId> {
    let late = Late { until, ..ever_late(pipeline) };
    store.late(&late).expect("reading works").iter().map(|row| row.id).collect()
}

fn ever(store: &dyn Store) -> Vec<SubmissionId> {
    late_at(store, "alpha", Time::from_millis(i64::MAX))
}

fn longest_ago_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let due = [(1, 7), (2, 3), (4, 7), (3, 7), (5, 1)];
    insert(&*store, due.map(|(n, millis)| Sample::row(n).clocks(&[at(millis)]).build()));
    insert(&*store, [Sample::row(6).build()]);
    assert_eq!(ever(&*store), [5, 2, 1, 3, 4].map(id));
    insert(&*store, [Sample::row(7).clocks(&[Time::from_millis(-5)]).build()]);
    insert(&*store, [Sample::row(8).clocks(&[Time::from_millis(i64::MIN)]).build()]);
    assert_eq!(ever(&*store)[..3], [8, 7, 5].map(id), "before the clocks began, too");
}

fn exactly_at(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=4).map(|n| Sample::row(n).clocks(&[at(n * 10)]).build()));
    for (millis, count) in [(0, 0), (9, 0), (10, 1), (11, 1), (39, 3), (40, 4), (1_000, 4)] {
        assert_eq!(late_at(&*store, "alpha", at(millis)).len(), count, "at {millis}");
    }
}

fn earliest_clock(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).clocks(&[at(30), at(10), at(20)]).build()]);
    let from = || (0..50).find(|&millis| !late_at(&*store, "alpha", at(millis)).is_empty());
    assert_eq!(from(), Some(10));
    update(&*store, id(1), |row| row.clocks.retain(|clock| clock.due_at != at(10)));
    assert_eq!(from(), Some(20));
    update(&*store, id(1), |row| row.clocks.iter_mut().for_each(|clock| clock.late = true));
    assert_eq!(from(), Some(20), "noting that it is late leaves it listed");
    update(&*store, id(1), |row| row.state = "NEXT".into());
    assert_eq!(from(), Some(20));
    update(&*store, id(1), |row| row.clocks = Vec::new());
    assert_eq!(from(), None);
    update(&*store, id(1), |row| row.clocks = clocks(&[at(5), at(5)]));
    assert_eq!(from(), Some(5));
    let rows = late_all(&*store, &ever_late("alpha"));
    assert_eq!(rows, [super::steps::read(&*store, id(1))], "once, as it is stored");
}

fn by_pipeline(fixture: &dyn Fixture) {
    let store = fixture.open();
    for (n, pipeline) in (1..).zip(["alpha", "alph", "alphas", "beta", "o'hara\t", "alpha"]) {
        insert(&*store, [Sample::row(n).pipeline(pipeline).clocks(&[at(n)]).build()]);
    }
    let until = at(100);
    assert_eq!(late_at(&*store, "alpha", until), [1, 6].map(id));
    assert_eq!(late_at(&*store, "o'hara\t", until), [id(5)]);
    assert_eq!(late_at(&*store, "a", until), []);
}

fn pages(fixture: &dyn Fixture) {
    let store = fixture.open();
    // Three at a time miss theirs together, so that pages end among them.
    insert(&*store, (1..=20).map(|n| Sample::row(n).clocks(&[at(n / 3)]).build()));
    insert(&*store, (21..=25).map(|n| Sample::row(n).clocks(&[at(100)]).build()));
    let expected: Vec<_> = (1..=20).map(id).collect();
    for limit in [1, 2, 3, 7, 19, 20, 21] {
        let rows = late_all(&*store, &Late { until: at(99), limit, ..ever_late("alpha") });
        assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), expected, "{limit} at a time");
        let first = store.late(&Late { limit, ..ever_late("alpha") }).expect("reading works");
        assert_eq!(first.len(), limit);
    }
}

fn page_bounds(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=1_001).map(|n| Sample::row(n).clocks(&[at(n)]).build()));
    for (limit, size) in [(0, 1), (1, 1), (1_000, 1_000), (1_001, 1_000), (usize::MAX, 1_000)] {
        let page = store.late(&Late { limit, ..ever_late("alpha") }).expect("reading works");
        assert_eq!(page.len(), size, "{limit} wanted");
    }
}

fn after_a_stranger(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [2, 4, 6].map(|n| Sample::row(n).clocks(&[at(n)]).build()));
    let after = |time: Time, n: u64| -> Vec<SubmissionId> {
        let late = Late { after: Some((time, id(n))), ..ever_late("alpha") };
        store.late(&late).expect("reading works").iter().map(|row| row.id).collect()
    };
    assert_eq!(after(at(3), 9), [4, 6].map(id));
    assert_eq!(after(at(4), 3), [4, 6].map(id), "the same time, a smaller id");
    assert_eq!(after(at(4), 4), [id(6)]);
    assert_eq!(after(at(4), 5), [id(6)], "the same time, a greater id");
    assert_eq!(after(at(6), 6), []);
    let backwards = Late { after: Some((at(5), id(5))), until: at(3), ..ever_late("alpha") };
    assert_eq!(store.late(&backwards), Ok(vec![]));
}

fn whatever_became(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        (1..).zip(Status::ALL).map(|(n, status)| Sample::row(n).status(status).clocks(&[at(n)]).build()),
    );
    insert(&*store, [Sample::row(9).parked("h1").ready("scan", 0).clocks(&[at(9)]).build()]);
    let rows = late_all(&*store, &ever_late("alpha"));
    assert_eq!(rows.len(), Status::ALL.len() + 1);
    assert!(rows.iter().map(missed).is_sorted());
}
