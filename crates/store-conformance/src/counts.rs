//! Counters: maintained, and right.

use std::collections::BTreeMap;

use model::{Investigation, InvestigationStatus, Status};

use super::chance::Chance;
use super::sample::{PIPELINES, Sample, at, id};
use super::steps::{assert_conflict, change, commit, find_all, insert, try_commit, update};
use super::{Fixture, Promise, promise};
use store::{Changes, Count, Query, Store};

pub(super) const PROMISES: &[Promise] = &[
    promise("counts follow a row from place to place", counts_follow),
    promise("a place without submissions is not listed, nor a place twice", no_empty_places),
    promise("the oldest of each place is the open one that was made first", oldest_of_each_place),
    promise("ends that somebody should look into are counted apart, as they are acknowledged", investigated),
    promise("counts equal a recount after any number of moves", counts_equal_a_recount),
];

fn counts(store: &dyn Store) -> Vec<Count> {
    let mut counts = store.counts().expect("counting works");
    counts.sort();
    counts
}

fn count(pipeline: &str, state: &str, status: Status, count: u64) -> Count {
    Count { pipeline: pipeline.into(), state: state.into(), status, investigation: None, count }
}

/// Counted by looking at every row.
pub(super) fn recount(store: &dyn Store) -> Vec<Count> {
    let mut places = BTreeMap::new();
    for row in find_all(store, &Query { limit: 1_000, ..Query::default() }) {
        let investigation = row.investigation().map(Investigation::status);
        *places.entry((row.pipeline, row.state, row.status, investigation)).or_insert(0) += 1;
    }
    let count = |((pipeline, state, status, investigation), count)| Count {
        pipeline,
        state,
        status,
        investigation,
        count,
    };
    places.into_iter().map(count).collect()
}

fn counts_follow(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(counts(&*store), []);
    insert(&*store, (1..=3).map(|n| Sample::row(n).state("A").build()));
    assert_eq!(counts(&*store), [count("alpha", "A", Status::Open, 3)]);
    update(&*store, id(1), |row| row.state = "B".into());
    update(&*store, id(2), |row| row.status = Status::Dead);
    let expected = [
        count("alpha", "A", Status::Open, 1),
        count("alpha", "A", Status::Dead, 1),
        count("alpha", "B", Status::Open, 1),
    ];
    assert_eq!(counts(&*store), expected);
    update(&*store, id(1), |row| row.attempt = 2);
    let rows = vec![Sample::row(3).new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, ..Changes::default() }));
    assert_eq!(counts(&*store), expected, "a write in place and a conflict move nothing");
}

fn no_empty_places(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).state("A").build()]);
    for state in ["B", "A", "B", "C"] {
        update(&*store, id(1), |row| row.state = state.into());
        assert_eq!(counts(&*store), [count("alpha", state, Status::Open, 1)]);
    }
}

fn oldest_of_each_place(fixture: &dyn Fixture) {
    let store = fixture.open();
    let oldest = || {
        let mut oldest = store.oldest().expect("asking works");
        oldest.sort();
        oldest.into_iter().map(|found| (found.pipeline, found.state, found.id)).collect::<Vec<_>>()
    };
    assert_eq!(oldest(), []);
    let beta = Sample::row(9).pipeline("beta").state("A").build();
    insert(&*store, [4, 2, 3, 7].map(|n| Sample::row(n).state("A").build()).into_iter().chain([beta]));
    let of_beta = || ("beta".into(), "A".into(), id(9));
    assert_eq!(oldest(), [("alpha".into(), "A".into(), id(2)), of_beta()]);
    update(&*store, id(2), |row| row.state = "B".into());
    update(&*store, id(3), |row| row.status = Status::Dead);
    let expected = [("alpha".into(), "A".into(), id(4)), ("alpha".into(), "B".into(), id(2)), of_beta()];
    assert_eq!(oldest(), expected);
    update(&*store, id(9), |row| row.status = Status::Succeeded);
    assert_eq!(oldest(), expected[..2], "what has ended is no longer old");
}

fn investigated(fixture: &dyn Fixture) {
    let store = fixture.open();
    let ended = |n| Sample::row(n).state("A").status(Status::Failed);
    insert(&*store, [ended(1).build()]);
    insert(&*store, (2..=3).map(|n| ended(n).investigated(Investigation::Open).build()));
    let of = |investigation, number| Count { investigation, ..count("alpha", "A", Status::Failed, number) };
    let (open, acknowledged) = (Some(InvestigationStatus::Open), Some(InvestigationStatus::Acknowledged));
    assert_eq!(counts(&*store), [of(None, 1), of(open, 2)]);
    update(&*store, id(2), |row| {
        row.investigate = Some(Investigation::Acknowledged { by: "ada".into(), at: at(7), note: None });
    });
    assert_eq!(counts(&*store), [of(None, 1), of(open, 1), of(acknowledged, 1)]);
    update(&*store, id(3), |row| row.status = Status::Open);
    let expected = [count("alpha", "A", Status::Open, 1), of(None, 1), of(acknowledged, 1)];
    assert_eq!(counts(&*store), expected, "what is open again has not ended");
    update(&*store, id(3), |row| row.status = Status::Failed);
    assert_eq!(counts(&*store), [of(None, 1), of(open, 1), of(acknowledged, 1)]);
    update(&*store, id(3), |row| row.investigate = None);
    assert_eq!(counts(&*store), [of(None, 2), of(acknowledged, 1)]);
    assert_eq!(Count::by_status(&counts(&*store)), [count("alpha", "A", Status::Failed, 3)]);
}

fn counts_equal_a_recount(fixture: &dyn Fixture) {
    let store = fixture.open();
    let mut chance = Chance::new(7);
    insert(&*store, (0..60).map(|n| Sample::row(n).pipeline(chance.pick(&PIPELINES)).build()));
    for _ in 0..40 {
        let moving: std::collections::BTreeSet<_> = (0..chance.below(20)).map(|_| chance.below(60)).collect();
        let rows = moving.into_iter().map(|n| {
            change(&*store, id(n), |row| {
                row.state = chance.pick(&["A", "B", "C"]).into();
                row.status = chance.pick(&Status::ALL);
                row.investigate = chance.pick(&[None, Some(Investigation::Open)]);
            })
        });
        let rows = rows.collect();
        commit(&*store, Changes { rows, ..Changes::default() });
        assert_eq!(counts(&*store), recount(&*store));
    }
}
