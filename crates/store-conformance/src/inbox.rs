//! The inbox: what was submitted in a transaction of its own and waits to be decided.

use std::cell::RefCell;

use model::decide::{Fate, Unborn, unborn};
use model::{Caller, Code, Refusal, Role, Submission, SubmissionId, Time};

use super::sample::{Sample, id, json};
use super::snapshot::{lane_key, open_key};
use super::steps::{assert_conflict, commit, feed_all, insert, take, try_commit};
use super::{Fixture, Promise, promise};
use store::{Arrival, Changes, DocumentChange, Feed, INBOX_BYTES_MAX, Received, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("the inbox comes smallest id first, no more than asked for, as it was sent", smallest_first),
    promise("what is in the inbox stays until it is decided, and is gone then", decided),
    promise("what was decided before is a conflict, and commits nothing", decided_twice),
    promise("what is received under the same id again stays as it was", kept_once),
    promise("a decision and the submission it makes are one commit", one_commit),
    promise("the inbox brings the keys and lanes it would stand in", brings_what_it_stands_in),
    promise("where the inbox would stand is asked before whose documents are wanted", asked_before_documents),
    promise("the inbox brings the submission that has its id already", brings_its_namesake),
    promise("large payloads come a few at a time, and each gets its turn", bounded_bytes),
    promise("an event of what never was a submission is found by its id and pipeline", unborn_events),
];

/// Sent with everything but one thing, by turns.
pub(super) fn received(n: u64) -> Received {
    Received {
        id: id(n),
        submitter: "sql:ada".into(),
        pipeline: if n.is_multiple_of(2) { "alpha" } else { "beta" }.into(),
        payload: format!("{{ \"n\": {n} , \"wort\": \"Grüße\"}}"),
        key: (!n.is_multiple_of(3)).then(|| format!("k{}", n % 3)),
        priority: (!n.is_multiple_of(4)).then_some(-5),
        not_before: (!n.is_multiple_of(5)).then_some(Time::from_millis(1_000)),
        reason: (!n.is_multiple_of(6)).then(|| "because".to_owned()),
    }
}

fn receive(store: &dyn Store, received: Vec<Received>) {
    commit(store, Changes { received, ..Changes::default() });
}

fn decide(store: &dyn Store, decided: &[SubmissionId]) {
    commit(store, Changes { decided: decided.to_vec(), ..Changes::default() });
}

fn pending(store: &dyn Store, max: usize) -> Vec<Received> {
    take(store, &Take { inbox: max, ..Take::nothing() }).inbox
}

fn smallest_first(fixture: &dyn Fixture) {
    let store = fixture.open();
    receive(&*store, vec![received(9), received(2)]);
    receive(&*store, [7, 4, 5, 3].map(received).to_vec());
    let all: Vec<_> = [2, 3, 4, 5, 7, 9].map(received).to_vec();
    for max in [0, 1, 4, 6, 100] {
        assert_eq!(pending(&*store, max), all[..max.min(6)]);
    }
    let odd =
        Received { payload: "no {json \u{1} at all".to_owned(), key: Some(String::new()), ..received(1) };
    receive(&*store, vec![odd.clone()]);
    assert_eq!(pending(&*store, 1), [odd]);
}

fn decided(fixture: &dyn Fixture) {
    let store = fixture.open();
    receive(&*store, vec![received(1), received(2), received(3)]);
    assert_eq!(pending(&*store, 9).len(), 3, "taking alone decides nothing");
    decide(&*store, &[id(1), id(3)]);
    assert_eq!(pending(&*store, 9), [received(2)]);
    let store = fixture.reopen(store);
    assert_eq!(pending(&*store, 9), [received(2)]);
    decide(&*store, &[id(2)]);
    assert_eq!(pending(&*store, 9), []);
}

fn decided_twice(fixture: &dyn Fixture) {
    let store = fixture.open();
    receive(&*store, vec![received(1), received(2)]);
    decide(&*store, &[id(1)]);
    for gone in [vec![id(2), id(1)], vec![id(8)], vec![id(2), id(2)]] {
        let rows = vec![Sample::row(5).new_row()];
        assert_conflict(&try_commit(&*store, Changes { rows, decided: gone, ..Changes::default() }));
    }
    assert_eq!(pending(&*store, 9), [received(2)]);
    assert_eq!(store.submission(id(5)), Ok(None), "nothing in part");
}

fn kept_once(fixture: &dyn Fixture) {
    let store = fixture.open();
    receive(&*store, vec![received(1)]);
    receive(&*store, vec![Received { payload: "other".to_owned(), ..received(1) }, received(2)]);
    assert_eq!(pending(&*store, 9), [received(1), received(2)]);
}

fn one_commit(fixture: &dyn Fixture) {
    let store = fixture.open();
    receive(&*store, vec![received(1), received(2)]);
    let row = |n| Sample::row(n).key("same").new_row();
    commit(&*store, Changes { rows: vec![row(1)], decided: vec![id(1)], ..Changes::default() });
    let conflict = Changes { rows: vec![row(2)], decided: vec![id(2)], ..Changes::default() };
    assert_conflict(&try_commit(&*store, conflict));
    assert_eq!(pending(&*store, 9), [received(2)], "the key was taken, so it is not decided");
}

fn brings_what_it_stands_in(fixture: &dyn Fixture) {
    let store = fixture.open();
    let holder = Sample::row(1).key("k1").holds_lane("l1").build();
    insert(&*store, [holder, Sample::row(2).in_line("l1", "").build(), Sample::row(3).key("k3").build()]);
    receive(&*store, vec![received(10), received(11)]);
    let arrival = |received: &Received| match received.id == id(10) {
        true => Arrival { key: Some(open_key("alpha", "k1")), lane: Some(lane_key("alpha", "l1")) },
        false => Arrival { key: Some(open_key("alpha", "k9")), lane: Some(lane_key("alpha", "l9")) },
    };
    let taken = take(&*store, &Take { inbox: 9, arrival: &arrival, ..Take::nothing() });
    assert_eq!(taken.holders, [(open_key("alpha", "k1"), id(1))].into());
    let view = taken.lanes[&lane_key("alpha", "l1")];
    assert_eq!((view.holder, view.first), (Some(id(1)), Some(id(2))));
    assert!(taken.lanes.contains_key(&lane_key("alpha", "l9")), "an entry where nobody is there");
    let mut rows: Vec<_> = taken.rows.keys().copied().collect();
    rows.sort_unstable();
    assert_eq!(rows, [id(1), id(2)]);
    assert!(take(&*store, &Take { arrival: &arrival, ..Take::nothing() }).rows.is_empty(), "not asked for");
}

fn asked_before_documents(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).key("k1").build(), Sample::row(2).key("k2").build()]);
    let document = |n| DocumentChange { submission: id(n), name: "payload".to_owned(), body: json("[1]") };
    let documents = vec![document(1), document(2)];
    commit(&*store, Changes { documents, received: vec![received(10), received(11)], ..Changes::default() });
    let asked = RefCell::new(Vec::new());
    let arrival = |received: &Received| {
        asked.borrow_mut().push(received.id);
        let key = if received.id == id(10) { "k1" } else { "k2" };
        Arrival { key: Some(open_key("alpha", key)), lane: None }
    };
    let wanted = |row: &Submission| asked.borrow().len() == 2 && row.id == id(1);
    let taken = take(&*store, &Take { inbox: 9, arrival: &arrival, documents: &wanted, ..Take::nothing() });
    let brought = |n| taken.rows[&id(n)].documents.as_ref().map(|documents| documents.payload.as_str());
    assert_eq!((brought(1), brought(2)), (Some("[1]"), None));
}

fn brings_its_namesake(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(2).build(), Sample::row(3).build()]);
    receive(&*store, vec![received(1), received(2)]);
    let taken = take(&*store, &Take { inbox: 9, ..Take::nothing() });
    assert_eq!(taken.rows.keys().collect::<Vec<_>>(), [&id(2)]);
}

fn bounded_bytes(fixture: &dyn Fixture) {
    let store = fixture.open();
    let large = |n| Received { payload: "x".repeat(INBOX_BYTES_MAX / 2 + 1), ..received(n) };
    receive(&*store, vec![large(1), large(2), large(3), received(4)]);
    let ids = |max| pending(&*store, max).iter().map(|received| received.id).collect::<Vec<_>>();
    assert_eq!(ids(9), [id(1), id(2)]);
    decide(&*store, &[id(1), id(2)]);
    assert_eq!(ids(9), [id(3), id(4)]);
}

fn unborn_events(fixture: &dyn Fixture) {
    let store = fixture.open();
    let refusal = Refusal::new(Code::UnknownPipeline, "no pipeline alpha");
    let sent = received(2);
    receive(&*store, vec![sent.clone()]);
    let context = super::sample::context();
    let caller = Caller::new(sent.submitter.clone(), Role::Submitter);
    let what = Unborn {
        id: sent.id,
        caller: &caller,
        pipeline: &sent.pipeline,
        definition: None,
        payload: &sent.payload,
    };
    let event = unborn(what, Fate::Refused(&refusal), &context);
    commit(&*store, Changes { events: vec![event.clone()], decided: vec![sent.id], ..Changes::default() });
    let history = store.history(sent.id, 0, 9).expect("reading works");
    assert_eq!(history.iter().map(|recorded| &recorded.event).collect::<Vec<_>>(), [&event]);
    let of = |pipeline: &str| Feed { pipeline: Some(pipeline.into()), limit: 9, ..Feed::default() };
    assert_eq!(feed_all(&*store, &of("alpha")), history);
    assert_eq!(feed_all(&*store, &of("beta")), []);
    assert_eq!(store.counts(), Ok(Vec::new()), "it is in no place");
}
