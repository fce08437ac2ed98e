//! Feeds: the events somebody asked for, and how far they came.

use model::submission::Wait;
use model::{Event, Status, evolve};

use super::events::{positions, record};
use super::sample::{Sample, entry, id, labels, moved, submitted};
use super::steps::{commit, feed, feed_all, insert, read};
use super::{Fixture, Promise, promise};
use store::{Changes, FEED_SCAN_MAX, Feed, Record, RowChange, Store, newest};

pub(super) const PROMISES: &[Promise] = &[
    promise("a feed is filtered by pipeline, state and labels, all together", filtered),
    promise("a feed goes by the labels an event's commit left", labels_of_the_time),
    promise("a feed goes by the row that is there when a commit has none", row_not_in_the_commit),
    promise("an event of no row is in feeds without a filter for rows", event_of_no_row),
    promise("a feed says how far it came, whatever it showed", how_far),
    promise("a feed that has nothing new stays where it was", nothing_new),
    promise("a feed tells the newest position, whatever it shows", newest_position),
    promise("a feed passes over a bounded number of events", bounded),
    promise("a feed filters by any text", any_text),
];

/// Enters a row and moves it to a state.
fn enter(store: &dyn Store, row: Sample, to: &str) {
    let before = row.build();
    let event = moved(&before, to, entry(Wait::Person, Status::Open));
    let after = evolve(Some(before), &event);
    let rows = vec![RowChange::insert(after)];
    commit(store, Changes { rows, events: vec![event], ..Changes::default() });
}

#[track_caller]
fn assert_shown(store: &dyn Store, wanted: &Feed, expected: &[u64]) {
    assert_eq!(positions(&feed_all(store, wanted)), expected);
    let one_by_one = Feed { limit: 1, ..wanted.clone() };
    assert_eq!(positions(&feed_all(store, &one_by_one)), expected, "one event a page");
}

fn any() -> Feed {
    Feed { limit: 100, ..Feed::default() }
}

fn filtered(fixture: &dyn Fixture) {
    let store = fixture.open();
    let ada = |n| Sample::row(n).label("owner", "ada");
    enter(&*store, ada(1).label("tier", "1"), "A");
    enter(&*store, ada(2).label("tier", "1").pipeline("beta"), "A");
    enter(&*store, ada(3).label("tier", "2"), "A");
    enter(&*store, ada(4).label("tier", "1"), "B");
    enter(&*store, Sample::row(5).label("tier", "1"), "A");
    enter(&*store, ada(6).label("tier", "1"), "A");
    enter(&*store, Sample::row(7), "A");
    let (pipeline, state) = (Some("alpha".into()), Some("A".into()));
    let owned = labels(&[("owner", "ada")]);
    assert_shown(&*store, &any(), &[1, 2, 3, 4, 5, 6, 7]);
    assert_shown(&*store, &Feed { pipeline: Some("beta".into()), ..any() }, &[2]);
    assert_shown(&*store, &Feed { pipeline: Some("gamma".into()), ..any() }, &[]);
    assert_shown(&*store, &Feed { state: Some("B".into()), ..any() }, &[4]);
    assert_shown(&*store, &Feed { labels: owned.clone(), ..any() }, &[1, 2, 3, 4, 6]);
    assert_shown(&*store, &Feed { labels: labels(&[("owner", "ad")]), ..any() }, &[]);
    assert_shown(
        &*store,
        &Feed { pipeline: pipeline.clone(), state: state.clone(), ..any() },
        &[1, 3, 5, 6, 7],
    );
    let all = Feed { pipeline, state, labels: labels(&[("owner", "ada"), ("tier", "1")]), ..any() };
    assert_shown(&*store, &all, &[1, 6]);
    assert_shown(&*store, &Feed { after: 1, ..all.clone() }, &[6]);
    assert_shown(&*store, &Feed { after: 6, ..all }, &[]);
}

fn labels_of_the_time(fixture: &dyn Fixture) {
    let store = fixture.open();
    enter(&*store, Sample::row(1).label("owner", "ada"), "A");
    let before = read(&*store, id(1));
    let event = moved(&before, "B", entry(Wait::Person, Status::Open));
    let mut after = evolve(Some(before.clone()), &event);
    after.labels = labels(&[("owner", "bob")]);
    let rows = vec![RowChange::update(before, after)];
    commit(&*store, Changes { rows, events: vec![event], ..Changes::default() });
    assert_shown(&*store, &Feed { labels: labels(&[("owner", "ada")]), ..any() }, &[1]);
    assert_shown(&*store, &Feed { labels: labels(&[("owner", "bob")]), ..any() }, &[2]);
}

fn row_not_in_the_commit(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).pipeline("beta").label("owner", "ada").build()]);
    record(&*store, vec![submitted(1)]);
    assert_shown(&*store, &Feed { pipeline: Some("beta".into()), ..any() }, &[1]);
    assert_shown(&*store, &Feed { labels: labels(&[("owner", "ada")]), ..any() }, &[1]);
}

fn event_of_no_row(fixture: &dyn Fixture) {
    let store = fixture.open();
    record(&*store, vec![submitted(1)]);
    insert(&*store, [Sample::row(1).label("owner", "ada").build()]);
    assert_shown(&*store, &any(), &[1]);
    assert_shown(&*store, &Feed { state: Some("START".into()), ..any() }, &[1]);
    assert_shown(&*store, &Feed { pipeline: Some("alpha".into()), ..any() }, &[]);
    assert_shown(&*store, &Feed { labels: labels(&[("owner", "ada")]), ..any() }, &[]);
}

fn how_far(fixture: &dyn Fixture) {
    let store = fixture.open();
    for n in 1..=20 {
        enter(&*store, Sample::row(n), if n.is_multiple_of(5) { "FIFTH" } else { "OTHER" });
    }
    let next = |after, state: &str, limit| {
        let page = feed(&*store, &Feed { after, state: Some(state.into()), limit, ..Feed::default() });
        (positions(&page.events), page.next)
    };
    assert_eq!(next(0, "FIFTH", 2), (vec![5, 10], 10), "no further than what was shown last");
    assert_eq!(next(10, "FIFTH", 2), (vec![15, 20], 20));
    assert_eq!(next(16, "OTHER", 9), (vec![16 + 1, 18, 19], 20), "the last one did not fit");
    assert_eq!(next(0, "NEVER", 9), (vec![], 20), "nothing fits, all was looked at");
    assert_eq!(next(7, "FIFTH", 0), (vec![], 7), "nothing was asked for");
}

fn nothing_new(fixture: &dyn Fixture) {
    let store = fixture.open();
    let page = |after| feed(&*store, &Feed { after, ..any() });
    assert_eq!((page(0).events, page(0).next, page(0).oldest), (vec![], 0, 1), "a fresh store");
    record(&*store, [1, 2, 3].map(submitted).to_vec());
    assert_eq!((page(3).events, page(3).next, page(3).oldest), (vec![], 3, 1));
    assert_eq!((page(9).events, page(9).next), (vec![], 9), "a position not reached yet");
    assert_eq!(page(0).next, 3);
}

fn newest_position(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(newest(&*store), Ok(0), "a fresh store");
    record(&*store, [1, 2, 3].map(submitted).to_vec());
    assert_eq!(newest(&*store), Ok(3));
    let act = Record { series: id(9), revision: 1, leaf: b"{}".to_vec() };
    commit(&*store, Changes { acts: vec![act], ..Changes::default() });
    assert_eq!(newest(&*store), Ok(4), "an act has a position, too");
    for feed in [any(), Feed { after: 2, limit: 1, ..any() }, Feed { state: Some("NEVER".into()), ..any() }] {
        assert_eq!(store.feed(&feed).map(|page| page.newest), Ok(4));
    }
    commit(&*store, Changes { retired_before: Some(5), ..Changes::default() });
    assert_eq!(newest(&*store), Ok(4), "what was retired had its position");
}

fn bounded(fixture: &dyn Fixture) {
    let store = fixture.open();
    let many = FEED_SCAN_MAX + 500;
    let events: Vec<Event> = (1..=many).map(submitted).collect();
    for some in events.chunks(2_500) {
        record(&*store, some.to_vec());
    }
    enter(&*store, Sample::row(many + 1), "LAST");
    let last = Feed { state: Some("LAST".into()), ..any() };
    let page = feed(&*store, &last);
    assert_eq!((page.events, page.next), (vec![], FEED_SCAN_MAX));
    let page = feed(&*store, &Feed { after: page.next, ..last.clone() });
    assert_eq!((positions(&page.events), page.next), (vec![many + 1], many + 1));
    let page = feed(&*store, &Feed { limit: usize::MAX, ..any() });
    assert_eq!(page.events.len() as u64, page.next);
    assert!(page.next <= FEED_SCAN_MAX, "{}", page.next);
    commit(&*store, Changes { retired_before: Some(401), ..Changes::default() });
    let page = feed(&*store, &last);
    assert_eq!((page.events, page.next, page.oldest), (vec![], FEED_SCAN_MAX + 400, 401));
}

fn any_text(fixture: &dyn Fixture) {
    let store = fixture.open();
    let texts = ["o'hara; --", "a\"b", "a\\", "Ünï cödé 🦀", "%_*", "tab\tline\n", "{\"a\":\"b\"}", ""];
    for (n, text) in (1..).zip(texts) {
        enter(&*store, Sample::row(n).pipeline(text).label(text, text).label("other", "b"), text);
    }
    for (n, text) in (1..).zip(texts) {
        assert_shown(&*store, &Feed { pipeline: Some(text.into()), ..any() }, &[n]);
        assert_shown(&*store, &Feed { state: Some(text.into()), ..any() }, &[n]);
        assert_shown(&*store, &Feed { labels: labels(&[(text, text)]), ..any() }, &[n]);
    }
    assert_shown(&*store, &Feed { labels: labels(&[("a", "b")]), ..any() }, &[]);
}
