//! Letting go: documents that are erased, rows that are forgotten, a past that is retired.

use model::submission::Wait;
use model::{Documents, Status, Submission, evolve};

use super::events::{positions, record, walk};
use super::sample::{Sample, entry, id, json, labels, moved, submitted};
use super::snapshot::{assert_same, everything, lane_key, limit_key, look, open_key};
use super::steps::{
    assert_conflict, change, commit, documents, events, feed, feed_all, found, insert, read, take,
    try_commit, update,
};
use super::whole::furnish;
use super::{Fixture, Promise, promise};
use store::{Changes, Clock, Committed, DocumentChange, Feed, Query, RETIRED_MAX, RowChange, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("erasing leaves the row and its events, and no document", erased),
    promise("an erased row is found wherever it was", erased_keeps_entries),
    promise("erasing outdoes a document of its commit, and others may follow", erased_last),
    promise("erasing what is not there changes nothing", erased_nothing),
    promise("a forgotten row is nowhere to be found", forgotten),
    promise("the events of a forgotten row stay, those of its last commit too", events_stay),
    promise("a row is forgotten where its version still stands and nowhere else", forgotten_by_version),
    promise("a row that is changed and forgotten in one commit is a conflict", changed_and_forgotten),
    promise("what a forgotten row held is free in the same commit", free_at_once),
    promise("an id that was forgotten may come again, and its history goes on", comes_again),
    promise("a forgotten row is gone after reopening, its events are not", forgotten_for_good),
    promise("what had events and has no row is told apart from what never was", told_apart),
    promise("retired events are gone, the others keep their positions", retired),
    promise("a history that lost its beginning is read from what is left", history_without_beginning),
    promise("retiring is bounded and goes on where it stopped", retired_in_steps),
    promise("positions go on when everything was retired, after reopening too", everything_retired),
];

fn set(n: u64, name: &str) -> DocumentChange {
    DocumentChange { submission: id(n), name: name.to_owned(), body: json(&format!("\"{name} of {n}\"")) }
}

fn forget(store: &dyn Store, n: u64) {
    let forgotten = vec![read(store, id(n))];
    commit(store, Changes { forgotten, ..Changes::default() });
}

fn retire(store: &dyn Store, before: u64) {
    commit(store, Changes { retired_before: Some(before), ..Changes::default() });
}

fn oldest(store: &dyn Store) -> u64 {
    feed(store, &Feed { limit: 1, ..Feed::default() }).oldest
}

/// A row that was submitted, with its event.
fn enter(store: &dyn Store, row: Sample) {
    let row = row.new_row();
    let mut event = submitted(0);
    event.leaf.submission = row.after.id;
    commit(store, Changes { rows: vec![row], events: vec![event], ..Changes::default() });
}

fn erased(fixture: &dyn Fixture) {
    let store = fixture.open();
    (1..=2).for_each(|n| enter(&*store, Sample::row(n)));
    let all = [1, 2].iter().flat_map(|&n| ["payload", "result", "output/A"].map(|name| set(n, name)));
    commit(&*store, Changes { documents: all.collect(), ..Changes::default() });
    let before = look(&*store);
    commit(&*store, Changes { erased: vec![id(1)], ..Changes::default() });
    assert_eq!(documents(&*store, id(1)), Documents::default());
    let taken = take(&*store, &Take { ids: vec![id(1)], ..Take::nothing() });
    assert_eq!(taken.rows[&id(1)].documents, Some(Documents::default()));
    let after = look(&*store);
    assert_eq!(after.rows[&id(1)].0, before.rows[&id(1)].0, "the row is not written");
    assert_eq!(after.rows[&id(2)], before.rows[&id(2)], "another's documents stay");
    assert_eq!((&after.events, &after.histories), (&before.events, &before.histories));
}

fn erased_keeps_entries(fixture: &dyn Fixture) {
    let store = fixture.open();
    furnish(fixture, &*store);
    let before = look(&*store);
    let all: Vec<_> = before.rows.keys().copied().collect();
    commit(&*store, Changes { erased: all, ..Changes::default() });
    let mut after = look(&*store);
    assert!(after.rows.values().all(|(_, documents)| *documents == Documents::default()));
    for (id, (_, documents)) in &mut after.rows {
        documents.clone_from(&before.rows[id].1);
    }
    for (id, stored) in &mut after.taken.rows {
        assert_eq!(stored.documents.replace(before.rows[id].1.clone()), Some(Documents::default()));
    }
    assert_same(&before, &after, "but for documents, after erasing everything");
}

fn erased_last(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let changes = Changes { documents: vec![set(1, "result")], erased: vec![id(1)], ..Changes::default() };
    commit(&*store, changes);
    assert_eq!(documents(&*store, id(1)), Documents::default());
    commit(&*store, Changes { documents: vec![set(1, "result")], ..Changes::default() });
    assert!(documents(&*store, id(1)).result.is_some());
}

fn erased_nothing(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let before = look(&*store);
    commit(&*store, Changes { erased: vec![id(1), id(2), id(2)], ..Changes::default() });
    assert_same(&before, &look(&*store), "after erasing nothing");
}

fn forgotten(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(9).key("k2").in_line("l2", "").label("owner", "ada").build()]);
    // Something is ready, so that a look shows slots.
    insert(&*store, [Sample::row(10).ready("build", 1).build()]);
    let before = look(&*store);
    let now = fixture.clock().now();
    let rows = [
        Sample::row(1).key("k1").holds_lane("l1").label("owner", "ada").parent(id(9)).ready("scan", 1),
        Sample::row(2).waits_for_key("k2").in_line("l1", "").timer(now),
        Sample::row(3).ready("scan", 2).parked("h1").status(Status::Dead).state("A"),
        Sample::row(4).slots(&[("owner", "ada", 0), ("tier", "eve", 2)]).clocks(&[now]),
        Sample::row(5).status(Status::Failed).timer(now).clocks(&[now]).pipeline("beta"),
    ];
    insert(&*store, rows.map(Sample::build));
    commit(&*store, Changes { documents: vec![set(1, "payload")], ..Changes::default() });
    let there = look(&*store);
    assert_eq!((there.late.len(), there.taken.idle.len()), (2, 1));
    assert_eq!(there.taken.slots[&limit_key("alpha", "tier", "eve")], [2].into());
    let gone: Vec<_> = (1..=5).map(|n| read(&*store, id(n))).collect();
    commit(&*store, Changes { forgotten: gone, ..Changes::default() });
    assert_same(&before, &look(&*store), "as if they had never been");
    let by = |query: Query| found(&*store, &Query { limit: 9, ..query });
    assert_eq!(by(Query { labels: labels(&[("owner", "ada")]), ..Query::default() }), [id(9)]);
    assert_eq!(by(Query { parent: Some(id(9)), ..Query::default() }), []);
    assert_eq!(by(Query { lane: Some("l1".into()), ..Query::default() }), []);
    assert_eq!(by(Query { key: Some("k1".into()), ..Query::default() }), []);
    assert_eq!(store.submission(id(1)), Ok(None));
    insert(&*store, [Sample::row(1).build()]);
    assert_eq!(documents(&*store, id(1)), Documents::default(), "documents went with the row");
}

fn events_stay(fixture: &dyn Fixture) {
    let store = fixture.open();
    enter(&*store, Sample::row(1).label("owner", "ada"));
    enter(&*store, Sample::row(2));
    let last = moved(&read(&*store, id(1)), "GONE", entry(Wait::Nothing, Status::Succeeded));
    let forgotten = vec![read(&*store, id(1))];
    commit(&*store, Changes { forgotten, events: vec![last], ..Changes::default() });
    forget(&*store, 2);
    assert_eq!(positions(&events(&*store, 0, 9)), [1, 2, 3]);
    let history = |n| positions(&store.history(id(n), 0, 9).expect("reading works"));
    assert_eq!((history(1), history(2)), (vec![1, 3], vec![2]));
    let of_ada = Feed { labels: labels(&[("owner", "ada")]), limit: 9, ..Feed::default() };
    assert_eq!(positions(&feed_all(&*store, &of_ada)), [1, 3], "labels are those of the event's time");
}

fn forgotten_by_version(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let stale = read(&*store, id(1));
    update(&*store, id(1), |row| row.state = "NEXT".into());
    let ahead = Submission { row_version: 3, ..stale.clone() };
    let fresh = read(&*store, id(1));
    for rows in [vec![stale], vec![ahead], vec![Sample::row(2).build()], vec![fresh.clone(), fresh.clone()]] {
        assert_conflict(&try_commit(&*store, Changes { forgotten: rows, ..Changes::default() }));
        assert_eq!(read(&*store, id(1)), fresh);
    }
    forget(&*store, 1);
    let again = Changes { forgotten: vec![fresh], ..Changes::default() };
    assert_conflict(&try_commit(&*store, again));
}

fn changed_and_forgotten(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let row = read(&*store, id(1));
    let written = RowChange::update(row.clone(), row.clone());
    let new = RowChange::insert(Submission { state: "NEXT".into(), ..row.clone() });
    for rows in [vec![written], vec![new]] {
        let changes = Changes { rows, forgotten: vec![row.clone()], ..Changes::default() };
        assert_conflict(&try_commit(&*store, changes));
    }
    let forgotten = vec![Submission { row_version: 1, ..Sample::row(2).build() }];
    let rows = vec![Sample::row(2).new_row()];
    assert_conflict(&try_commit(&*store, Changes { rows, forgotten, ..Changes::default() }));
    assert_eq!(read(&*store, id(1)), row);
}

fn free_at_once(fixture: &dyn Fixture) {
    let store = fixture.open();
    let slots = [("owner", "ada", 0)];
    let row = |n| Sample::row(n).key("k1").holds_lane("l1").slots(&slots);
    insert(&*store, [row(1).build(), Sample::row(3).ready("scan", 0).build()]);
    let changes =
        Changes { rows: vec![row(2).new_row()], forgotten: vec![read(&*store, id(1))], ..Changes::default() };
    commit(&*store, changes);
    let taken = take(&*store, &everything());
    assert_eq!(taken.holders[&open_key("alpha", "k1")], id(2));
    assert_eq!(taken.lanes[&lane_key("alpha", "l1")].holder, Some(id(2)));
    assert_eq!(taken.slots[&limit_key("alpha", "owner", "ada")], [0].into());
    forget(&*store, 2);
    insert(&*store, [row(4).build()]);
}

fn comes_again(fixture: &dyn Fixture) {
    let store = fixture.open();
    enter(&*store, Sample::row(1));
    let before = read(&*store, id(1));
    forget(&*store, 1);
    let next = moved(&before, "NEXT", entry(Wait::Person, Status::Open));
    let rows = vec![RowChange::insert(evolve(Some(before), &next))];
    commit(&*store, Changes { rows, events: vec![next], ..Changes::default() });
    assert_eq!(read(&*store, id(1)).row_version, 1, "the row is a new one");
    assert_eq!(positions(&store.history(id(1), 0, 9).expect("reading works")), [1, 2]);
    forget(&*store, 1);
    insert(&*store, [Sample::row(1).build()]);
    assert_eq!(positions(&store.history(id(1), 0, 9).expect("reading works")), [1, 2]);
}

fn forgotten_for_good(fixture: &dyn Fixture) {
    let store = fixture.open();
    enter(&*store, Sample::row(1).key("k1"));
    forget(&*store, 1);
    let store = fixture.reopen(store);
    assert_eq!(store.submission(id(1)), Ok(None));
    assert_eq!(positions(&store.history(id(1), 0, 9).expect("reading works")), [1]);
    enter(&*store, Sample::row(2).key("k1"));
}

fn told_apart(fixture: &dyn Fixture) {
    let store = fixture.open();
    enter(&*store, Sample::row(1));
    enter(&*store, Sample::row(2));
    forget(&*store, 1);
    let store = fixture.reopen(store);
    let ids = vec![id(1), id(2), id(3)];
    for before in [1, 2] {
        retire(&*store, before);
        let taken = take(&*store, &Take { ids: ids.clone(), ..Take::nothing() });
        assert_eq!(taken.gone, [id(1)].into());
        assert_eq!(taken.rows.keys().copied().collect::<Vec<_>>(), [id(2)]);
    }
}

fn retired(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(oldest(&*store), 1, "in a fresh store");
    record(&*store, (1..=9).map(submitted).collect());
    for before in [0, 1] {
        retire(&*store, before);
        assert_eq!((oldest(&*store), events(&*store, 0, 99).len()), (1, 9));
    }
    retire(&*store, 4);
    assert_eq!((oldest(&*store), positions(&events(&*store, 0, 99))), (4, (4..=9).collect()));
    assert_eq!(positions(&events(&*store, 2, 2)), [4, 5], "whoever was behind goes on with what is there");
    assert_eq!(positions(&events(&*store, 5, 2)), [6, 7]);
    retire(&*store, 2);
    assert_eq!(oldest(&*store), 4, "the past does not come back");
    assert_eq!(record(&*store, vec![submitted(10)]), Committed { first_seq: 10, last_seq: 10 });
}

fn history_without_beginning(fixture: &dyn Fixture) {
    let store = fixture.open();
    enter(&*store, Sample::row(50));
    record(&*store, walk(1, 6));
    record(&*store, walk(2, 1));
    retire(&*store, 5);
    let revisions = |n, after| -> Vec<u64> {
        let page = store.history(id(n), after, 9).expect("reading works");
        page.iter().map(|recorded| recorded.event.leaf.revision).collect()
    };
    assert_eq!((revisions(1, 0), revisions(1, 5)), (vec![4, 5, 6], vec![6]));
    assert_eq!((revisions(50, 0), revisions(2, 0)), (vec![], vec![1]));
    let row = read(&*store, id(50));
    let next = moved(&row, "NEXT", entry(Wait::Person, Status::Open));
    let rows = vec![RowChange::update(row.clone(), evolve(Some(row), &next))];
    commit(&*store, Changes { rows, events: vec![next], ..Changes::default() });
    assert_eq!(revisions(50, 0), [2]);
    forget(&*store, 50);
    retire(&*store, 99);
    assert!(revisions(50, 0).is_empty() && revisions(1, 0).is_empty());
}

fn retired_in_steps(fixture: &dyn Fixture) {
    let store = fixture.open();
    let many = RETIRED_MAX * 2 + 10;
    record(&*store, (1..=many).map(submitted).collect());
    retire(&*store, many);
    assert_eq!(oldest(&*store), RETIRED_MAX + 1, "no more than a bounded number at once");
    retire(&*store, RETIRED_MAX + 3);
    assert_eq!(oldest(&*store), RETIRED_MAX + 3);
    retire(&*store, many);
    retire(&*store, many);
    assert_eq!((oldest(&*store), positions(&events(&*store, 0, 9))), (many, vec![many]));
}

fn everything_retired(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    let state = change(&*store, id(1), |row| row.state = "NEXT".into());
    let changes = Changes {
        rows: vec![state],
        events: (2..=4).map(submitted).collect(),
        retired_before: Some(u64::MAX),
        ..Changes::default()
    };
    assert_eq!(commit(&*store, changes), Committed { first_seq: 1, last_seq: 3 });
    let store = fixture.reopen(store);
    let page = feed(&*store, &Feed { after: 3, limit: 9, ..Feed::default() });
    assert_eq!((page.events, page.next, page.oldest), (vec![], 3, 4));
    assert_eq!(oldest(&*store), 4);
    assert_eq!(record(&*store, vec![submitted(5)]), Committed { first_seq: 4, last_seq: 4 });
    assert_eq!(positions(&events(&*store, 0, 9)), [4]);
}
