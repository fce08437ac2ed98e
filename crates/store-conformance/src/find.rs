//! Pages of rows.

use model::submission::{Failure, Seat, Stand, Wait};
use model::{Investigation, InvestigationStatus, Status, Submission, SubmissionId};

use super::sample::{Sample, at, id, labels, lease};
use super::steps::{commit, find_all, found, insert, read, update};
use super::{Fixture, Promise, promise};
use store::{Changes, FIND_SCAN_MAX, Narrowed, Query, Store};

pub(super) const PROMISES: &[Promise] = &[
    promise("rows are found newest first, whole", newest_first),
    promise("rows are found by pipeline, state and status", by_place),
    promise("rows are found by how far the investigation of their end has come", by_investigation),
    promise("rows are found by every label asked for", by_label),
    promise("rows are found by parent", by_parent),
    promise("a key that is held finds its holder and nothing else", by_held_key),
    promise("a key finds all that have it, those that ended included", by_key),
    promise("a key finds an end for as long as its row is there", by_past_key),
    promise("rows are found between two ids, both included", by_ids),
    promise("rows are found by creation before a time, not at it", by_creation),
    promise("rows are found by creation at a time or after it", by_later_creation),
    promise(
        "rows are found by how long they are in their state, by their error and by who has them",
        narrowed,
    ),
    promise("a narrowed page passes over a bounded number of rows and says how far it came", narrowed_pages),
    promise("every condition of a query holds together", combined),
    promise("a page says whether more follow", says_more),
    promise("a page has at least one row and at most a thousand", page_sizes),
    promise("paging repeats nothing and leaves no gap while rows move", paging_while_moving),
    promise("pages of a filter are as if there were nothing else", paging_a_filter),
];

fn any() -> Query {
    Query { limit: 100, ..Query::default() }
}

#[track_caller]
fn assert_found(store: &dyn Store, query: &Query, expected: &[u64]) {
    let expected: Vec<_> = expected.iter().map(|&n| id(n)).collect();
    assert_eq!(found(store, query), expected);
    let one_by_one: Vec<_> = find_all(store, &Query { limit: 1, ..query.clone() });
    assert_eq!(ids(&one_by_one), expected, "one row a page");
}

fn ids(rows: &[Submission]) -> Vec<SubmissionId> {
    rows.iter().map(|row| row.id).collect()
}

fn newest_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(store.find(&any()), Ok(store::Page::default()));
    insert(&*store, [3, 1, 4, 2].map(|n| Sample::row(n).label("n", "1").build()));
    assert_found(&*store, &any(), &[4, 3, 2, 1]);
    let page = store.find(&any()).expect("finding works");
    assert!(page.rows.iter().all(|row| *row == read(&*store, row.id)));
}

fn by_place(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            Sample::row(1).state("A").build(),
            Sample::row(2).state("B").build(),
            Sample::row(3).state("A").status(Status::Dead).build(),
            Sample::row(4).pipeline("beta").state("A").build(),
            Sample::row(5).pipeline("beta").state("C").status(Status::Succeeded).build(),
        ],
    );
    let alpha = Query { pipeline: Some("alpha".into()), ..any() };
    let in_a = Query { state: Some("A".into()), ..any() };
    assert_found(&*store, &alpha, &[3, 2, 1]);
    assert_found(&*store, &in_a, &[4, 3, 1]);
    assert_found(&*store, &Query { status: Some(Status::Open), ..any() }, &[4, 2, 1]);
    assert_found(&*store, &Query { status: Some(Status::Cancelled), ..any() }, &[]);
    assert_found(&*store, &Query { state: in_a.state.clone(), ..alpha.clone() }, &[3, 1]);
    assert_found(&*store, &Query { status: Some(Status::Dead), ..alpha }, &[3]);
    assert_found(&*store, &Query { status: Some(Status::Open), ..in_a.clone() }, &[4, 1]);
    update(&*store, id(1), |row| row.state = "B".into());
    update(&*store, id(3), |row| row.status = Status::Failed);
    assert_found(&*store, &in_a, &[4, 3]);
    assert_found(&*store, &Query { status: Some(Status::Dead), ..any() }, &[]);
}

fn by_investigation(fixture: &dyn Fixture) {
    let store = fixture.open();
    let acknowledged = || Investigation::Acknowledged { by: "ada".into(), at: at(5), note: None };
    insert(
        &*store,
        [
            Sample::row(1).state("A").status(Status::Failed).build(),
            Sample::row(2).state("A").status(Status::Failed).investigated(Investigation::Open).build(),
            Sample::row(3).state("A").status(Status::Failed).investigated(acknowledged()).build(),
            Sample::row(4).state("B").status(Status::Succeeded).investigated(Investigation::Open).build(),
            Sample::row(5).state("B").investigated(Investigation::Open).build(),
            Sample::row(6).pipeline("beta").label("owner", "ada").build(),
        ],
    );
    let open = Query { investigation: Some(InvestigationStatus::Open), ..any() };
    let seen = Query { investigation: Some(InvestigationStatus::Acknowledged), ..any() };
    assert_found(&*store, &open, &[4, 2]);
    assert_found(&*store, &seen, &[3]);
    assert_found(&*store, &Query { status: Some(Status::Failed), ..any() }, &[3, 2, 1]);
    assert_found(&*store, &Query { status: Some(Status::Failed), ..open.clone() }, &[2]);
    assert_found(&*store, &Query { state: Some("B".into()), ..open.clone() }, &[4]);
    assert_found(&*store, &Query { labels: labels(&[("owner", "ada")]), ..open.clone() }, &[]);
    update(&*store, id(2), |row| row.investigate = Some(acknowledged()));
    update(&*store, id(5), |row| (row.status, row.wait) = (Status::Cancelled, Wait::Nothing));
    assert_found(&*store, &open, &[5, 4]);
    assert_found(&*store, &seen, &[3, 2]);
    update(&*store, id(4), |row| (row.status, row.investigate) = (Status::Open, None));
    assert_found(&*store, &open, &[5]);
}

fn by_label(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            Sample::row(1).label("owner", "ada").build(),
            Sample::row(2).label("owner", "ada").label("tier", "1").build(),
            Sample::row(3).label("owner", "bob").label("tier", "1").build(),
            Sample::row(4).build(),
        ],
    );
    let of = |wanted: &[(&str, &str)]| Query { labels: labels(wanted), ..any() };
    assert_found(&*store, &of(&[("owner", "ada")]), &[2, 1]);
    assert_found(&*store, &of(&[("tier", "1")]), &[3, 2]);
    assert_found(&*store, &of(&[("owner", "ada"), ("tier", "1")]), &[2]);
    assert_found(&*store, &of(&[("owner", "ada"), ("tier", "2")]), &[]);
    update(&*store, id(1), |row| row.labels = labels(&[("owner", "bob")]));
    assert_found(&*store, &of(&[("owner", "ada")]), &[2]);
    assert_found(&*store, &of(&[("owner", "bob")]), &[3, 1]);
}

fn by_parent(fixture: &dyn Fixture) {
    let store = fixture.open();
    let parents = [(1, None), (2, Some(1)), (3, Some(1)), (4, Some(3))];
    insert(
        &*store,
        parents.map(|(n, parent)| Submission { parent: parent.map(id), ..Sample::row(n).build() }),
    );
    assert_found(&*store, &Query { parent: Some(id(1)), ..any() }, &[3, 2]);
    assert_found(&*store, &Query { parent: Some(id(3)), ..any() }, &[4]);
    assert_found(&*store, &Query { parent: Some(id(4)), ..any() }, &[]);
}

fn keyed_rows(store: &dyn Store) {
    insert(
        store,
        [
            Sample::row(1).key("k1").status(Status::Failed).build(),
            Sample::row(2).key("k1").status(Status::Dead).build(),
            Sample::row(3).key("k2").build(),
            Sample::row(4).pipeline("beta").key("k1").build(),
            Sample::row(5).key("k3").status(Status::Succeeded).build(),
            Sample::row(6).waits_for_key("k1").build(),
        ],
    );
}

fn by_held_key(fixture: &dyn Fixture) {
    let store = fixture.open();
    keyed_rows(&*store);
    let key = |key: &str| Query { held_key: Some(key.into()), ..any() };
    assert_found(&*store, &Query { pipeline: Some("alpha".into()), ..key("k1") }, &[2]);
    assert_found(&*store, &key("k1"), &[4, 2]);
    assert_found(&*store, &key("k3"), &[]);
    assert_found(&*store, &Query { status: Some(Status::Failed), ..key("k1") }, &[]);
    assert_found(&*store, &Query { key: Some("k2".into()), ..key("k1") }, &[]);
    assert_found(&*store, &Query { key: Some("k1".into()), ..key("k1") }, &[4, 2]);
    update(&*store, id(2), |row| row.status = Status::Succeeded);
    assert_found(&*store, &key("k1"), &[4]);
}

fn by_key(fixture: &dyn Fixture) {
    let store = fixture.open();
    keyed_rows(&*store);
    let key = |key: &str| Query { key: Some(key.into()), ..any() };
    assert_found(&*store, &key("k1"), &[6, 4, 2, 1]);
    assert_found(&*store, &Query { pipeline: Some("alpha".into()), ..key("k1") }, &[6, 2, 1]);
    assert_found(&*store, &Query { pipeline: Some("beta".into()), ..key("k2") }, &[]);
    assert_found(&*store, &key("k3"), &[5]);
    assert_found(&*store, &key("k4"), &[]);
    assert_found(&*store, &Query { status: Some(Status::Failed), ..key("k1") }, &[1]);
    assert_found(&*store, &Query { lane: Some("l1".into()), ..key("k1") }, &[]);
    update(&*store, id(6), |row| row.seat = Some(Seat::new("l1", "")));
    update(&*store, id(2), |row| row.seat = Some(Seat::new("l1", "").standing(Stand::Holds)));
    assert_found(&*store, &Query { lane: Some("l1".into()), ..key("k1") }, &[6, 2]);
    assert_found(&*store, &Query { created_before: Some(at(4)), ..key("k1") }, &[2, 1]);
    assert_found(&*store, &Query { created_after: Some(at(4)), ..key("k1") }, &[6, 4]);
    insert(&*store, (10..40).map(|n| Sample::row(n).key("k1").status(Status::Succeeded).build()));
    let all: Vec<u64> = (10..40).rev().chain([6, 4, 2, 1]).collect();
    assert_found(&*store, &key("k1"), &all);
}

fn by_past_key(fixture: &dyn Fixture) {
    let store = fixture.open();
    keyed_rows(&*store);
    let key = Query { key: Some("k2".into()), ..any() };
    update(&*store, id(3), |row| (row.status, row.wait) = (Status::Succeeded, Wait::Nothing));
    assert_found(&*store, &key, &[3]);
    let store = fixture.reopen(store);
    assert_found(&*store, &key, &[3]);
    update(&*store, id(3), |row| (row.status, row.wait) = (Status::Open, Wait::Person));
    assert_found(&*store, &key, &[3]);
    update(&*store, id(3), |row| (row.status, row.wait) = (Status::Failed, Wait::Nothing));
    assert_found(&*store, &key, &[3]);
    commit(&*store, Changes { forgotten: vec![read(&*store, id(3))], ..Changes::default() });
    assert_found(&*store, &key, &[]);
}

/// A row that ended with a key, in one of two states.
fn ended(n: u64) -> Submission {
    let state = if n < 5 { "A" } else { "B" };
    Sample::row(n).state(state).key("k1").status(Status::Succeeded).build()
}

fn by_ids(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=6).map(ended));
    let between = |least, greatest| Query { ids: Some((id(least), id(greatest))), ..any() };
    assert_found(&*store, &between(2, 4), &[4, 3, 2]);
    assert_found(&*store, &between(4, 2), &[]);
    assert_found(&*store, &Query { state: Some("A".into()), ..between(3, 6) }, &[4, 3]);
    assert_found(&*store, &Query { key: Some("k1".into()), ..between(3, 3) }, &[3]);
    assert_found(&*store, &Query { after: Some(id(4)), ..between(2, 6) }, &[3, 2]);
}

fn by_later_creation(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [100, 50, 75].map(|n| Sample::row(n).label("owner", "ada").build()));
    let after = |time| Query { created_after: Some(at(time)), ..any() };
    assert_found(&*store, &after(50), &[100, 75, 50]);
    assert_found(&*store, &after(51), &[100, 75]);
    assert_found(&*store, &after(101), &[]);
    assert_found(&*store, &Query { created_before: Some(at(100)), ..after(60) }, &[75]);
    assert_found(&*store, &Query { labels: labels(&[("owner", "ada")]), ..after(75) }, &[100, 75]);
}

fn narrowed(fixture: &dyn Fixture) {
    let store = fixture.open();
    let broken = |n: u64| {
        let row = Sample::row(n).status(Status::Dead).build();
        Submission { error: Some(Failure::new("broken", "it broke")), ..row }
    };
    insert(
        &*store,
        [Sample::row(1).build(), broken(2), Sample::row(3).wait(lease("scan", 1)).build(), broken(4)],
    );
    let of = |narrowed| Query { narrowed, ..any() };
    let error = |code: &str| Narrowed { error: Some(code.into()), ..Narrowed::default() };
    assert_found(&*store, &of(error("broken")), &[4, 2]);
    assert_found(&*store, &of(error("other")), &[]);
    assert_found(&*store, &Query { created_before: Some(at(4)), ..of(error("broken")) }, &[2]);
    let kind = |message: &str| {
        let fingerprint = Some(Failure::new("broken", message).fingerprint());
        Narrowed { fingerprint, ..Narrowed::default() }
    };
    assert_found(&*store, &of(kind("it broke")), &[4, 2]);
    assert_found(&*store, &of(kind("it stopped")), &[]);
    let worker = |name: &str| Narrowed { worker: Some(name.into()), ..Narrowed::default() };
    assert_found(&*store, &of(worker("worker-7")), &[3]);
    assert_found(&*store, &of(worker("worker-8")), &[]);
    assert_found(&*store, &Query { status: Some(Status::Dead), ..of(worker("worker-7")) }, &[]);
    update(&*store, id(1), |row| row.entered_at = at(90));
    let before = |time| Narrowed { entered_before: Some(at(time)), ..Narrowed::default() };
    assert_found(&*store, &of(before(4)), &[3, 2]);
    assert_found(&*store, &of(before(5)), &[4, 3, 2]);
    assert_found(&*store, &of(before(90)), &[4, 3, 2]);
    assert_found(&*store, &of(before(91)), &[4, 3, 2, 1]);
    assert_found(&*store, &of(Narrowed { entered_before: Some(at(4)), ..error("broken") }), &[2]);
}

fn narrowed_pages(fixture: &dyn Fixture) {
    let store = fixture.open();
    let few = FIND_SCAN_MAX as u64 + 10;
    insert(&*store, (1..=few).map(|n| Sample::row(n).build()));
    update(&*store, id(3), |row| row.error = Some(Failure::new("broken", "it broke")));
    let error = Narrowed { error: Some("broken".into()), ..Narrowed::default() };
    let query = Query { narrowed: error, ..any() };
    let page = store.find(&query).expect("finding works");
    assert_eq!((page.rows.len(), page.next()), (0, Some(id(11))), "it passes over no more than it may");
    let page = store.find(&Query { after: page.next(), ..query.clone() }).expect("finding works");
    assert_eq!((ids(&page.rows), page.next()), (vec![id(3)], None));
    assert_eq!(ids(&find_all(&*store, &query)), [id(3)]);
}

/// An id is made of the moment its row is created, so a store may answer this by id alone.
fn by_creation(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [100, 50, 75].map(|n| Sample::row(n).build()));
    let before = |time| Query { created_before: Some(at(time)), ..any() };
    assert_found(&*store, &before(101), &[100, 75, 50]);
    assert_found(&*store, &before(100), &[75, 50]);
    assert_found(&*store, &before(51), &[50]);
    assert_found(&*store, &before(50), &[]);
}

/// Each of these misses a different one of six conditions; two miss none.
fn combined(fixture: &dyn Fixture) {
    let store = fixture.open();
    let full = |n| {
        let row = Sample::row(n).pipeline("beta").state("A").status(Status::Dead).key(&n.to_string());
        row.label("owner", "ada").parent(id(100))
    };
    insert(
        &*store,
        [
            full(1).build(),
            full(2).pipeline("alpha").build(),
            full(3).state("B").build(),
            full(4).status(Status::Open).build(),
            full(5).label("owner", "bob").build(),
            full(6).parent(id(101)).build(),
            full(7).build(),
            full(8).build(),
        ],
    );
    let query = Query {
        pipeline: Some("beta".into()),
        state: Some("A".into()),
        status: Some(Status::Dead),
        labels: labels(&[("owner", "ada")]),
        parent: Some(id(100)),
        created_before: Some(at(8)),
        ..any()
    };
    assert_found(&*store, &query, &[7, 1]);
    assert_found(&*store, &Query { key: Some("1".into()), ..query.clone() }, &[1]);
    for n in [2, 3, 4, 5, 6, 8] {
        assert_found(&*store, &Query { key: Some(n.to_string().into()), ..query.clone() }, &[]);
    }
    assert_found(&*store, &Query { pipeline: None, ..query.clone() }, &[7, 2, 1]);
    assert_found(&*store, &Query { state: None, ..query.clone() }, &[7, 3, 1]);
    assert_found(&*store, &Query { status: None, ..query.clone() }, &[7, 4, 1]);
    assert_found(&*store, &Query { labels: labels(&[]), ..query.clone() }, &[7, 5, 1]);
    assert_found(&*store, &Query { parent: None, ..query.clone() }, &[7, 6, 1]);
    assert_found(&*store, &Query { created_before: None, ..query }, &[8, 7, 1]);
}

fn says_more(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=5).map(|n| Sample::row(n).build()));
    let page = |limit, after: Option<u64>| {
        let page = store.find(&Query { limit, after: after.map(id), ..any() }).expect("finding works");
        (ids(&page.rows), page.more)
    };
    assert_eq!(page(4, None), ([5, 4, 3, 2].map(id).to_vec(), true));
    assert_eq!(page(5, None), ([5, 4, 3, 2, 1].map(id).to_vec(), false));
    assert_eq!(page(2, Some(3)), ([2, 1].map(id).to_vec(), false));
    assert_eq!(page(1, Some(3)), ([2].map(id).to_vec(), true));
    assert_eq!(page(9, Some(1)), (vec![], false));
    assert_eq!(page(2, Some(1_000)), ([5, 4].map(id).to_vec(), true), "after an id that is not there");
}

fn page_sizes(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=1_001).map(|n| Sample::row(n).build()));
    for (limit, rows) in [(0, 1), (1, 1), (1_000, 1_000), (1_001, 1_000), (1_000_000, 1_000)] {
        let page = store.find(&Query { limit, ..any() }).expect("finding works");
        assert_eq!((page.rows.len(), page.more), (rows, true), "when {limit} were asked for");
    }
}

fn paging_while_moving(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (1..=1_200).map(|n| Sample::row(n).build()));
    let mut query = Query { limit: 70, ..any() };
    let mut seen = Vec::new();
    loop {
        let page = store.find(&query).expect("finding works");
        query.after = page.next();
        seen.extend(ids(&page.rows));
        if !page.more || seen.len() > 1_200 {
            break;
        }
        let pages = seen.len() as u64 / 70;
        insert(&*store, [Sample::row(5_000 + pages).build()]);
        update(&*store, id(pages), |row| row.state = "MOVED".into());
        update(&*store, id(1_201 - pages), |row| row.status = Status::Succeeded);
    }
    let expected: Vec<_> = (1..=1_200).rev().map(id).collect();
    assert_eq!(seen, expected);
}

fn paging_a_filter(fixture: &dyn Fixture) {
    let store = fixture.open();
    let row = |n: u64| {
        let row = Sample::row(n).label("third", if n.is_multiple_of(3) { "yes" } else { "no" });
        row.state(if n.is_multiple_of(2) { "EVEN" } else { "ODD" }).build()
    };
    insert(&*store, (1..=600).map(row));
    let query = Query { state: Some("EVEN".into()), labels: labels(&[("third", "yes")]), limit: 9, ..any() };
    let expected: Vec<_> = (1..=600).rev().filter(|n| n % 6 == 0).map(id).collect();
    assert_eq!(ids(&find_all(&*store, &query)), expected);
}
