//! Sizes: a page ends by its bytes, too, and the next one goes on where it ended.

use model::submission::Failure;

use super::events::{positions, record, walk};
use super::sample::{Sample, id, json};
use super::steps::{feed, feed_all, find_all, insert};
use super::{Fixture, Promise, promise};
use store::{Feed, PAGE_BYTES_MAX, Query, Store, history_all};

pub(super) const PROMISES: &[Promise] = &[
    promise("a page of a feed ends by its bytes, and nothing is lost", feeds),
    promise("a page of a history ends by its bytes, and nothing is lost", histories),
    promise("a page of rows ends by its bytes, and nothing is lost", rows),
];

const LARGE: usize = 1 << 20;
const COUNT: usize = 7;

/// Records events of one submission, each of them a megabyte.
fn record_large(store: &dyn Store) {
    for mut event in walk(1, COUNT) {
        event.detail.metadata = Some(json(&format!("\"{}\"", "m".repeat(LARGE))));
        record(store, vec![event]);
    }
}

fn feeds(fixture: &dyn Fixture) {
    let store = fixture.open();
    record_large(&*store);
    let all: Vec<u64> = (1..=COUNT as u64).collect();
    let any = Feed { limit: 100, ..Feed::default() };
    for (bytes_max, shown) in [
        (None, PAGE_BYTES_MAX / LARGE),
        (Some(0), 1),
        (Some(1), 1),
        (Some(LARGE + 1), 1),
        (Some(3 * LARGE), 3),
    ] {
        let wanted = Feed { bytes_max, ..any.clone() };
        let page = feed(&*store, &wanted);
        assert_eq!(positions(&page.events), all[..shown], "{bytes_max:?}");
        assert_eq!(page.next, shown as u64, "{bytes_max:?}");
        assert_eq!(positions(&feed_all(&*store, &wanted)), all, "{bytes_max:?}");
    }
    let state = feed(&*store, &any).events[1].event.leaf.to.clone();
    assert!(!feed_all(&*store, &Feed { state: Some(state), bytes_max: Some(1), ..any }).is_empty());
}

fn histories(fixture: &dyn Fixture) {
    let store = fixture.open();
    record_large(&*store);
    let page = store.history(id(1), 0, 100).expect("the store can be read");
    assert_eq!(page.len(), PAGE_BYTES_MAX / LARGE);
    assert_eq!(store.history(id(1), 1, 2).expect("the store can be read").len(), 2);
    let all = history_all(&*store, id(1)).expect("the store can be read");
    assert_eq!(positions(&all), (1..=COUNT as u64).collect::<Vec<_>>());
}

fn rows(fixture: &dyn Fixture) {
    let store = fixture.open();
    for n in 1..=COUNT as u64 {
        let mut row = Sample::row(n).label("owner", "ada").build();
        row.error = Some(Failure { code: "large".into(), message: "e".repeat(LARGE) });
        insert(&*store, [row]);
    }
    let newest: Vec<_> = (1..=COUNT as u64).rev().map(id).collect();
    let labelled = Query { labels: [("owner".into(), "ada".into())].into(), ..Query::default() };
    let placed = Query { pipeline: Some("alpha".into()), ..Query::default() };
    for query in [Query::default(), labelled, placed] {
        let query = Query { limit: 100, ..query };
        let page = store.find(&query).expect("the store can be read");
        assert!(page.more);
        assert_eq!(page.rows.len(), PAGE_BYTES_MAX / LARGE);
        let found: Vec<_> = find_all(&*store, &query).iter().map(|row| row.id).collect();
        assert_eq!(found, newest);
    }
}
