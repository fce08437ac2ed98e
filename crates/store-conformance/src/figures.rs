//! Figures besides the counts of places: dead letters by error, slots in use, lanes with a line.

use std::collections::BTreeMap;

use model::submission::Failure;
use model::{Status, Submission};
use store::{Changes, DeadKey, Query, Store};

use super::sample::{Sample, id};
use super::steps::{commit, find_all, insert, read, update};
use super::{Fixture, Promise, promise};

pub(super) const PROMISES: &[Promise] = &[
    promise("dead letters are counted by place and error, and counted off as they go", dead_by_error),
    promise("counts of dead letters are read in pages", dead_in_pages),
    promise("the slots in use are listed in their order, page after page", slots_in_use),
    promise("the lanes that somebody is in line for are listed, each once", lanes_with_a_line),
];

fn dead(n: u64, code: &str) -> Submission {
    let row = Sample::row(n).state("A").status(Status::Dead).build();
    Submission { error: Some(Failure::new(code, &format!("no room for {n} on /disk/{n}"))), ..row }
}

fn counts(store: &dyn Store) -> Vec<(String, u64)> {
    let counts = store.dead(None, 100).expect("counting works");
    counts
        .into_iter()
        .map(|(key, count)| (format!("{}/{}/{}/{}", key.pipeline, key.state, key.code, key.pattern), count))
        .collect()
}

/// Counts by looking at every row.
pub(super) fn recount(store: &dyn Store) -> Vec<(DeadKey, u64)> {
    let mut all: BTreeMap<DeadKey, u64> = BTreeMap::new();
    let dead = Query { status: Some(Status::Dead), limit: 1_000, ..Query::default() };
    for row in find_all(store, &dead) {
        let pattern = row.error.as_ref().map_or_else(|| "".into(), Failure::pattern);
        let code = row.error.map_or_else(|| "".into(), |error| error.code);
        *all.entry(DeadKey { pipeline: row.pipeline, state: row.state, code, pattern }).or_default() += 1;
    }
    all.into_iter().collect()
}

fn dead_by_error(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [dead(1, "disk-full"), dead(2, "disk-full"), dead(3, "timeout"), Sample::row(4).build()]);
    insert(&*store, [Sample::row(5).pipeline("beta").state("B").status(Status::Dead).build()]);
    let count = |key: &str, message: &str, count| (format!("{key}/{message}"), count);
    let full = "no room for # on <path>";
    let none = count("beta/B/", "", 1);
    let all = [count("alpha/A/disk-full", full, 2), count("alpha/A/timeout", full, 1), none.clone()];
    assert_eq!(counts(&*store), all);
    update(&*store, id(3), |row| row.status = Status::Open);
    update(&*store, id(1), |row| row.error = Some(Failure::new("disk-full", "again")));
    let store = fixture.reopen(store);
    let all = [count("alpha/A/disk-full", "again", 1), count("alpha/A/disk-full", full, 1), none];
    assert_eq!(counts(&*store), all);
    commit(
        &*store,
        Changes { forgotten: vec![read(&*store, id(2)), read(&*store, id(5))], ..Changes::default() },
    );
    assert_eq!(counts(&*store), [count("alpha/A/disk-full", "again", 1)]);
    assert_eq!(store.dead(None, 100).expect("counting works"), recount(&*store));
}

fn dead_in_pages(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, (0..7).map(|n| dead(n, &format!("code-{n}"))));
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.dead(after.as_ref(), 3).expect("counting works");
        assert!(page.len() <= 3);
        let Some((last, _)) = page.last().cloned() else { break };
        all.extend(page);
        after = Some(last);
    }
    assert_eq!(all, store.dead(None, 100).expect("counting works"));
    assert_eq!(all.len(), 7);
}

fn slots_in_use(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            Sample::row(1).label("owner", "ada").slots(&[("owner", "ada", 0), ("tier", "1", 3)]).build(),
            Sample::row(2).label("owner", "ada").slots(&[("owner", "ada", 1)]).build(),
            Sample::row(3).pipeline("beta").slots(&[("owner", "bob", 0)]).build(),
        ],
    );
    let (mut all, mut after) = (Vec::new(), None);
    while let Some(slot) = store.slots(after.as_ref(), 1).expect("reading works").pop() {
        all.push(format!("{}/{}={}/{}", slot.limit.pipeline, slot.limit.label, slot.limit.value, slot.no));
        after = Some(slot);
    }
    assert_eq!(all, ["alpha/owner=ada/0", "alpha/owner=ada/1", "alpha/tier=1/3", "beta/owner=bob/0"]);
    assert_eq!(store.slots(None, 100).expect("reading works").len(), 4);
}

fn lanes_with_a_line(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(
        &*store,
        [
            Sample::row(1).holds_lane("l1").build(),
            Sample::row(2).in_line("l1", "").build(),
            Sample::row(3).in_line("l1", "").build(),
            Sample::row(4).in_line("l2", "").build(),
            Sample::row(5).holds_lane("l3").build(),
            Sample::row(6).pipeline("beta").in_line("l4", "").build(),
        ],
    );
    let lanes = |pipeline: &str, after: &str, limit| -> Vec<String> {
        let lanes = store.lanes(pipeline, after, limit).expect("reading works");
        lanes.iter().map(ToString::to_string).collect()
    };
    assert_eq!(lanes("alpha", "", 10), ["l1", "l2"]);
    assert_eq!(lanes("alpha", "", 1), ["l1"]);
    assert_eq!(lanes("alpha", "l1", 10), ["l2"]);
    assert_eq!(lanes("beta", "", 10), ["l4"]);
    assert!(lanes("gamma", "", 10).is_empty());
}
