//! Submissions that stand aside: queued behind a key's holder, or parked by a hold or limit.

use model::Status;

use super::sample::{Sample, id};
use super::snapshot::open_key;
use super::steps::{change, claim, claimed, commit, found, insert, take, update};
use super::{Fixture, Promise, promise};
use store::{Changes, Clock, Owed, OwedId, OwedTo, Query, Store, Take, Taken};

pub(super) const PROMISES: &[Promise] = &[
    promise("a row that waits for a key does not hold it", waiting_is_not_holding),
    promise("a key may pass to one who waits for it in one commit", passes_to_a_waiter),
    promise("a row that ended waits for no key", ended_waits_not),
    promise("a row that waits for its key, or ended, brings the key's holder", unheld_brings),
    promise("a row that holds its key brings nobody", holder_brings_nobody),
    promise("a parked row is in no queue until it is let go", out_of_the_queue),
    promise("a parked row keeps its place, timer and key", keeps_the_rest),
];

/// Takes what an owed row for a key brings along, such as who waits for the key.
fn owed_to_key(store: &dyn Store, key: &str) -> Taken {
    let owed = Owed {
        id: OwedId { submission: id(0), revision: 1, no: 0 },
        to: OwedTo::Key(open_key("alpha", key)),
        body: super::sample::json("1"),
    };
    commit(store, Changes { owed: vec![owed.clone()], ..Changes::default() });
    let taken = take(store, &Take { owed: 1, ..Take::nothing() });
    commit(store, Changes { paid: vec![owed.id], ..Changes::default() });
    taken
}

fn standing(store: &dyn Store, key: &str) -> [Option<model::SubmissionId>; 2] {
    let taken = owed_to_key(store, key);
    let key = open_key("alpha", key);
    [taken.holders.get(&key).copied(), taken.waiters.get(&key).copied()]
}

fn waiting_is_not_holding(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [3, 2, 5].map(|n| Sample::row(n).waits_for_key("k1").build()));
    assert_eq!(standing(&*store, "k1"), [None, Some(id(2))]);
    insert(&*store, [Sample::row(4).key("k1").build(), Sample::row(1).waits_for_key("k1").build()]);
    assert_eq!(standing(&*store, "k1"), [Some(id(4)), Some(id(1))], "the smallest id waits longest");
    let held = Query { held_key: Some("k1".into()), limit: 9, ..Query::default() };
    assert_eq!(found(&*store, &held), [id(4)], "a key that is held finds its holder alone");
    assert_eq!(standing(&*store, "k2"), [None, None]);
}

fn passes_to_a_waiter(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build()]);
    insert(&*store, [2, 3].map(|n| Sample::row(n).waits_for_key("k1").build()));
    let next = change(&*store, id(2), |row| row.key_waits = false);
    let rows = vec![next, change(&*store, id(1), |row| row.status = Status::Succeeded)];
    commit(&*store, Changes { rows, ..Changes::default() });
    assert_eq!(standing(&*store, "k1"), [Some(id(2)), Some(id(3))]);
    update(&*store, id(3), |row| row.key = Some("k2".into()));
    assert_eq!(standing(&*store, "k1"), [Some(id(2)), None]);
    assert_eq!(standing(&*store, "k2"), [None, Some(id(3))]);
}

fn ended_waits_not(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [2, 3, 4].map(|n| Sample::row(n).waits_for_key("k1").build()));
    update(&*store, id(2), |row| row.status = Status::Cancelled);
    assert_eq!(standing(&*store, "k1"), [None, Some(id(3))]);
    update(&*store, id(3), |row| row.status = Status::Dead);
    assert_eq!(standing(&*store, "k1"), [None, Some(id(3))], "a dead letter has not ended");
}

fn unheld_brings(fixture: &dyn Fixture) {
    let store = fixture.open();
    let now = fixture.clock().now();
    insert(&*store, [Sample::row(1).key("k1").build()]);
    insert(&*store, [Sample::row(2).waits_for_key("k1").build()]);
    insert(&*store, [Sample::row(3).waits_for_key("k1").timer(now).build()]);
    insert(&*store, [Sample::row(4).key("k1").status(Status::Failed).build()]);
    insert(&*store, [Sample::row(5).key("k2").status(Status::Failed).build()]);
    let holder = [(open_key("alpha", "k1"), id(1))];
    let takes = [
        (2, Take { ids: vec![id(2)], ..Take::nothing() }),
        (3, Take { due: 1, ..Take::nothing() }),
        (4, Take { ids: vec![id(4)], ..Take::nothing() }),
    ];
    for (n, wanted) in takes {
        let taken = take(&*store, &wanted);
        assert_eq!(taken.holders, holder.clone().into(), "row {n}");
        assert!(taken.rows.len() == 2 && taken.rows.contains_key(&id(1)), "row {n}");
        assert!(taken.waiters.is_empty(), "who waits is told to those an owed row names");
    }
    let taken = take(&*store, &Take { ids: vec![id(5)], ..Take::nothing() });
    assert!(taken.holders.is_empty(), "nobody holds it");
}

fn holder_brings_nobody(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build(), Sample::row(2).waits_for_key("k1").build()]);
    let taken = take(&*store, &Take { ids: vec![id(1)], ..Take::nothing() });
    assert_eq!((taken.holders.len(), taken.waiters.len(), taken.rows.len()), (0, 0, 1));
}

fn out_of_the_queue(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [1, 2].map(|n| Sample::row(n).ready("scan", 0).label("owner", "ada").build()));
    update(&*store, id(1), |row| row.parked = Some("h1".into()));
    insert(&*store, [Sample::row(3).ready("scan", -1).parked("h2").label("owner", "ada").build()]);
    let labelled =
        || store::Ready { labels: super::sample::labels(&[("owner", "ada")]), ..claim(&["scan"], 9) };
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [id(2)]);
    assert_eq!(claimed(&*store, labelled()), [id(2)]);
    update(&*store, id(3), |row| row.parked = None);
    update(&*store, id(1), |row| row.parked = Some("h2".into()));
    assert_eq!(claimed(&*store, claim(&["scan"], 9)), [3, 2].map(id));
    assert_eq!(claimed(&*store, labelled()), [3, 2].map(id));
}

fn keeps_the_rest(fixture: &dyn Fixture) {
    let store = fixture.open();
    let now = fixture.clock().now();
    insert(&*store, [Sample::row(1).parked("h1").timer(now).key("k1").label("owner", "ada").build()]);
    let taken = take(&*store, &Take { keys: vec![open_key("alpha", "k1")], due: 9, ..Take::nothing() });
    assert_eq!((taken.due, taken.holders.len()), (vec![id(1)], 1));
    let query = Query { pipeline: Some("alpha".into()), limit: 9, ..Query::default() };
    assert_eq!(found(&*store, &query), [id(1)]);
    assert_eq!(store.counts().expect("counting works")[0].count, 1);
}
