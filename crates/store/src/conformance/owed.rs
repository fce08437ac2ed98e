//! Effects on other submissions, waiting to be pulled.

use super::sample::{id, json};
use super::steps::{commit, take};
use super::{Fixture, Promise, promise};
use crate::{Changes, Owed, OwedId, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("owed rows come oldest first, each once", oldest_first),
    promise("owed rows are no more than asked for", bounded),
    promise("an owed row stays until it is paid, and is gone then", paid),
    promise("paying twice, or what was never owed, changes nothing", paid_twice),
    promise("what is owed under the same id again is kept once, as it was", kept_once),
];

fn owed(n: u64, no: u32) -> Owed {
    Owed {
        id: OwedId { submission: id(n), revision: 3, no },
        body: json(&format!("{{\"to\": \"{n}\",  \"no\":{no}}}")),
    }
}

fn owe(store: &dyn Store, owed: Vec<Owed>) {
    commit(store, Changes { owed, ..Changes::default() });
}

fn pay(store: &dyn Store, paid: &[Owed]) {
    let paid = paid.iter().map(|owed| owed.id.clone()).collect();
    commit(store, Changes { paid, ..Changes::default() });
}

fn pending(store: &dyn Store, max: usize) -> Vec<Owed> {
    take(store, &Take { owed: max, ..Take::nothing() }).owed
}

fn oldest_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let rows = [owed(9, 1), owed(9, 0), owed(1, 5), owed(4, 0), owed(1, 2)];
    owe(&*store, rows[..3].to_vec());
    owe(&*store, rows[3..].to_vec());
    assert_eq!(pending(&*store, 100), rows, "by when they came, not by id");
    pay(&*store, &rows[1..2]);
    owe(&*store, vec![owed(0, 0)]);
    assert_eq!(pending(&*store, 100), [owed(9, 1), owed(1, 5), owed(4, 0), owed(1, 2), owed(0, 0)]);
}

fn bounded(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, (1..=20).map(|n| owed(n, 0)).collect());
    for max in [0, 1, 7, 20, 21] {
        assert_eq!(pending(&*store, max), (1..=20).map(|n| owed(n, 0)).take(max).collect::<Vec<_>>());
    }
}

fn paid(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, vec![owed(1, 0), owed(1, 1), owed(2, 0)]);
    assert_eq!(pending(&*store, 9).len(), 3);
    assert_eq!(pending(&*store, 9).len(), 3, "taking alone pays nothing");
    pay(&*store, &[owed(1, 1), owed(2, 0)]);
    assert_eq!(pending(&*store, 9), [owed(1, 0)]);
    pay(&*store, &[owed(1, 0)]);
    assert_eq!(pending(&*store, 9), []);
}

fn paid_twice(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, vec![owed(1, 0), owed(2, 0)]);
    pay(&*store, &[owed(1, 0)]);
    pay(&*store, &[owed(1, 0), owed(7, 7)]);
    assert_eq!(pending(&*store, 9), [owed(2, 0)]);
}

fn kept_once(fixture: &dyn Fixture) {
    let store = fixture.open();
    owe(&*store, vec![owed(1, 0), owed(2, 0)]);
    let again = Owed { body: json("\"other\""), ..owed(1, 0) };
    owe(&*store, vec![again, owed(3, 0), owed(3, 0)]);
    assert_eq!(pending(&*store, 9), [owed(1, 0), owed(2, 0), owed(3, 0)]);
    pay(&*store, &[owed(1, 0)]);
    assert_eq!(pending(&*store, 9), [owed(2, 0), owed(3, 0)]);
}
