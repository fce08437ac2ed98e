//! The parts of the audit log: leaves in sequence, acts, tiles of hashes.

use model::Digest;
use model::token::Bits;

use super::events::{positions, record, walk};
use super::sample::{Sample, id, submitted};
use super::steps::{commit, events, feed, read};
use super::{Fixture, Promise, promise};
use store::{Changes, Committed, Feed, LeafPage, Record, Store, Tile};

pub(super) const PROMISES: &[Promise] = &[
    promise("acts take positions before the events of their commit", acts_come_first),
    promise("acts are in no feed and no history", acts_are_hidden),
    promise("leaves are the exact bytes of acts and events, position after position", exact_leaves),
    promise("an act is found by its series and revision, after reopening too", act_by_revision),
    promise("leaves begin where the past was retired, and a retired act is gone", retired_leaves),
    promise("a tile reads back as it was set, and only grows", tiles_grow),
    promise("tiles are apart by level and index, and there after reopening", tiles_apart),
    promise("erasing and forgetting take the salts of payloads and outputs along", salts_go),
];

/// The n-th act of a series.
pub(super) fn act(series: u64, n: u64) -> Record {
    let series = id(1_000_000 + series);
    Record { series, revision: n, leaf: format!("{{\"act\":{n},\"of\":\"{series}\"}}").into_bytes() }
}

fn leaves(store: &dyn Store, after: u64, limit: usize) -> LeafPage {
    store.leaves(after, limit).expect("reading works")
}

fn acts_come_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    let changes =
        Changes { acts: vec![act(1, 1), act(2, 5)], events: vec![submitted(1)], ..Changes::default() };
    assert_eq!(commit(&*store, changes), Committed { first_seq: 1, last_seq: 3 });
    let changes = Changes { acts: vec![act(1, 2)], ..Changes::default() };
    assert_eq!(commit(&*store, changes), Committed { first_seq: 4, last_seq: 4 });
    assert_eq!(record(&*store, vec![submitted(2)]), Committed { first_seq: 5, last_seq: 5 });
    assert_eq!(positions(&events(&*store, 0, 10)), [3, 5]);
}

fn acts_are_hidden(fixture: &dyn Fixture) {
    let store = fixture.open();
    let changes = Changes { acts: vec![act(1, 1)], events: vec![submitted(1)], ..Changes::default() };
    commit(&*store, changes);
    commit(&*store, Changes { acts: vec![act(1, 2)], ..Changes::default() });
    let page = feed(&*store, &Feed { limit: 10, ..Feed::default() });
    assert_eq!((positions(&page.events), page.next, page.oldest), (vec![2], 3, 1));
    let page = feed(&*store, &Feed { after: 2, limit: 10, ..Feed::default() });
    assert_eq!((page.events.len(), page.next), (0, 3), "passed over once and for all");
    assert_eq!(store.history(act(1, 1).series, 0, 10), Ok(Vec::new()));
}

fn exact_leaves(fixture: &dyn Fixture) {
    let store = fixture.open();
    let walked = walk(1, 3);
    record(&*store, walked.clone());
    commit(&*store, Changes { acts: vec![act(1, 1)], events: vec![submitted(2)], ..Changes::default() });
    let mut expected: Vec<Vec<u8>> = walked.iter().map(|event| event.leaf.bytes()).collect();
    expected.extend([act(1, 1).leaf, submitted(2).leaf.bytes()]);
    let store = fixture.reopen(store);
    assert_eq!(leaves(&*store, 0, 100), LeafPage { first: 1, leaves: expected.clone() });
    assert_eq!(leaves(&*store, 2, 2), LeafPage { first: 3, leaves: expected[2..4].to_vec() });
    assert_eq!(leaves(&*store, 5, 2), LeafPage { first: 6, leaves: Vec::new() });
}

fn act_by_revision(fixture: &dyn Fixture) {
    let store = fixture.open();
    for n in [1, 2, 7] {
        let acts = vec![act(1, n), act(2, n + 1)];
        commit(&*store, Changes { acts, events: vec![submitted(n)], ..Changes::default() });
    }
    let store = fixture.reopen(store);
    let found = |series, n| store.act(act(series, n).series, n).expect("reading works");
    assert_eq!(found(1, 2), Some((4, act(1, 2).leaf)));
    assert_eq!(found(2, 8), Some((8, act(2, 8).leaf)));
    assert_eq!((found(1, 3), found(3, 1)), (None, None));
    assert_eq!(store.act(id(1), 1), Ok(None), "an event is no act");
}

fn retired_leaves(fixture: &dyn Fixture) {
    let store = fixture.open();
    commit(&*store, Changes { acts: vec![act(1, 1)], events: vec![submitted(1)], ..Changes::default() });
    commit(&*store, Changes { acts: vec![act(1, 2)], events: vec![submitted(2)], ..Changes::default() });
    commit(&*store, Changes { retired_before: Some(3), ..Changes::default() });
    let expected = vec![act(1, 2).leaf, submitted(2).leaf.bytes()];
    assert_eq!(leaves(&*store, 0, 10), LeafPage { first: 3, leaves: expected });
    assert_eq!(store.act(act(1, 1).series, 1), Ok(None));
    assert_eq!(store.act(act(1, 2).series, 2), Ok(Some((3, act(1, 2).leaf))));
    commit(&*store, Changes { acts: vec![act(1, 3)], ..Changes::default() });
    assert_eq!(store.act(act(1, 3).series, 3), Ok(Some((5, act(1, 3).leaf))));
}

fn put(store: &dyn Store, level: u8, index: u64, hashes: &[u8]) {
    let tile = Tile { level, index, hashes: hashes.to_vec() };
    commit(store, Changes { tiles: vec![tile], ..Changes::default() });
}

fn tiles_grow(fixture: &dyn Fixture) {
    let store = fixture.open();
    let hashes: Vec<u8> = (0..=255).cycle().take(256 * 32).collect();
    for width in [1, 7, 3, 7, 256, 255] {
        put(&*store, 0, 0, &hashes[..width * 32]);
    }
    assert_eq!(store.tile(0, 0), Ok(Some(hashes.clone())), "whoever comes late takes nothing away");
    put(&*store, 0, 0, &vec![0; 256 * 32]);
    assert_eq!(store.tile(0, 0), Ok(Some(hashes)), "a full tile stays as it is");
}

fn tiles_apart(fixture: &dyn Fixture) {
    let store = fixture.open();
    let places = [(0, 0), (0, 1), (1, 0), (7, 1 << 40)];
    for (level, index) in places {
        put(&*store, level, index, &Digest::of(&[level, u8::try_from(index % 251).unwrap_or(0)]).0);
    }
    let store = fixture.reopen(store);
    for (level, index) in places {
        let hash = Digest::of(&[level, u8::try_from(index % 251).unwrap_or(0)]).0;
        assert_eq!(store.tile(level, index), Ok(Some(hash.to_vec())));
    }
    assert_eq!(store.tile(2, 0), Ok(None));
}

fn salts_go(fixture: &dyn Fixture) {
    let store = fixture.open();
    for n in 1..=3 {
        let mut walked = walk(n, 3);
        walked[0].detail.salts.payload = Some(Bits([1; 16]));
        walked[1].detail.salts.output = Some(Bits([2; 16]));
        let rows = vec![Sample::row(n).new_row()];
        commit(&*store, Changes { rows, events: walked, ..Changes::default() });
    }
    let before = leaves(&*store, 0, 100);
    let forgotten = vec![read(&*store, id(2))];
    commit(&*store, Changes { erased: vec![id(1)], forgotten, ..Changes::default() });
    let store = fixture.reopen(store);
    let salted = |n| {
        let history = store.history(id(n), 0, 10).expect("reading works");
        assert!(history.iter().all(|one| one.event.detail.salts.metadata.is_some()), "metadata stays");
        history
            .iter()
            .any(|one| one.event.detail.salts.payload.is_some() || one.event.detail.salts.output.is_some())
    };
    assert_eq!((salted(1), salted(2), salted(3)), (false, false, true));
    assert_eq!(leaves(&*store, 0, 100), before, "no leaf changes by it");
}
