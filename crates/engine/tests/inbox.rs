//! Submissions that applications make in transactions of their own: decided once, like anything else, and answered by
//! an event where they do not become a submission.

use crate::support::WORK;
use crate::support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};
use engine::core::Tally;
use model::event::{Change, Kind};
use model::{Millis, SubmissionId, Time};
use store::{Changes, Clock, Received, Store, Take};

const PROMISES: Promises = &[
    ("what is received is submitted under the id it was promised", submitted),
    ("what was sent with it counts: key, priority, time, reason, sender", options),
    ("an unknown pipeline, no JSON, a misfit and a taken key are refused, each with its event", refused),
    ("an open submission stands for a duplicate where the pipeline says so", merged),
    ("a duplicate waits behind the open one where the pipeline says so", queued),
    ("two of one key in one batch are one submission", merged_within_a_batch),
    ("two of one lane in one batch get one holder", lanes),
    ("a thousand are decided in bounded steps, each once", a_thousand),
    ("what has the id of a submission is dropped and stops nobody", namesake),
];

#[test]
fn the_inbox_is_decided_over_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn the_inbox_is_decided_over_sqlite() {
    check(PROMISES, &over_sqlite);
}

const STRICT: &str = r#"
name = "strict"
version = 1
title = "Strict"
key = "payload.id"
on_duplicate = "reject"
start = "DOING"
[states.DOING]
task = "work.do"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

const LINE: &str = r#"
name = "line"
version = 1
title = "Line"
on_duplicate = "queue"
lane = { key = "payload.lane" }
priority = { set_by = "submitter" }
start = "DOING"
[states.DOING]
task = "work.do"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

fn id(n: u64) -> SubmissionId {
    SubmissionId::new(Time::from_millis(i64::try_from(n).unwrap()), [1; 10])
}

fn sent(n: u64, pipeline: &str, payload: &str) -> Received {
    Received {
        id: id(n),
        submitter: "sql:shop".into(),
        pipeline: pipeline.into(),
        payload: payload.to_owned(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
    }
}

fn receive(bench: &Bench, received: Vec<Received>) {
    let mut changes = Some(Changes { received, ..Changes::default() });
    bench.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
}

fn left(store: &dyn Store) -> usize {
    let mut left = 0;
    let take = Take { inbox: 10_000, ..Take::nothing() };
    let mut look = |taken: store::Taken| {
        left = taken.inbox.len();
        Changes::default()
    };
    store.transact(&take, &mut look).unwrap();
    left
}

/// Returns the kind and the change of the one event of a request that never became a submission.
fn end(bench: &Bench, n: u64) -> (Kind, Change) {
    assert!(bench.store.submission(id(n)).unwrap().is_none());
    let history = bench.store.history(id(n), 0, 9).unwrap();
    assert_eq!(history.len(), 1, "one event, and nothing else");
    (history[0].event.leaf.kind, history[0].event.detail.change.clone())
}

fn refusal(bench: &Bench, n: u64) -> String {
    match end(bench, n) {
        (Kind::Refused, Change::Refused { error, .. }) => error.code.to_string(),
        other => panic!("{other:?}"),
    }
}

fn submitted(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    receive(&bench, vec![sent(1, "work", r#"{ "id" : "a" }"#)]);
    let step = bench.machine.step(&[]);
    assert_eq!(step.received, Tally { submitted: 1, ..Tally::default() });
    assert_eq!(step.ready.get("work.do"), Some(&1), "workers are told");
    assert_eq!(step.next_timer, step.now, "there may be more: the next step comes at once");
    let (row, documents) = bench.store.submission(id(1)).unwrap().unwrap();
    assert_eq!((&*row.state, row.key.as_deref(), &*row.submitter), ("DOING", Some("a"), "sql:shop"));
    assert_eq!(documents.payload.as_str(), r#"{ "id" : "a" }"#, "as it was sent");
    assert_eq!(left(&*bench.store), 0);
    let tasks = bench.machine.claimed(5);
    assert_eq!(tasks.len(), 1);
    bench.machine.finish(tasks[0].token, "done").unwrap();
    assert_eq!(bench.state(id(1)), "DONE");
    assert_eq!(bench.machine.step(&[]).received, Tally::default());
}

fn options(open: Open<'_>) {
    let mut bench = open(&[LINE, WORK]);
    let later = bench.clock.now().plus(Millis::from_secs(60));
    let all = Received {
        key: Some("k".to_owned()),
        priority: Some(-3),
        not_before: Some(later),
        reason: Some("spring".to_owned()),
        ..sent(1, "line", r#"{"lane":"x"}"#)
    };
    let wild = Received { priority: Some(i64::MAX), ..sent(2, "line", r#"{"lane":"x"}"#) };
    let barred = Received { priority: Some(-3), ..sent(3, "work", r#"{"id":"a"}"#) };
    receive(&bench, vec![all, wild, barred]);
    bench.machine.step(&[]);
    let row = bench.row(id(1));
    assert_eq!((row.key.as_deref(), row.priority_given), (Some("k"), Some(-3)));
    assert_eq!(row.timer, Some(later));
    let metadata = bench.store.history(id(1), 0, 1).unwrap()[0].event.detail.metadata.clone();
    assert!(metadata.unwrap().as_str().contains("spring"));
    assert_eq!(refusal(&bench, 2), "invalid-request");
    assert_eq!(refusal(&bench, 3), "role-required");
}

fn refused(open: Open<'_>) {
    let mut bench = open(&[STRICT]);
    receive(&bench, vec![sent(1, "strict", r#"{"id":"a"}"#)]);
    bench.machine.step(&[]);
    let seq = bench.store.history(id(1), 0, 1).unwrap()[0].seq;
    receive(
        &bench,
        vec![
            sent(2, "nowhere", "{}"),
            sent(3, "strict", r#"{"id": "b",}"#),
            sent(4, "strict", r#"{"name":"no id"}"#),
            sent(5, "strict", r#"{"id":"a"}"#),
            sent(6, "strict", r#"{"id":"c"}"#),
        ],
    );
    let step = bench.machine.step(&[]);
    assert_eq!((step.received.submitted, step.received.refused.values().sum::<u64>()), (1, 4));
    let codes: Vec<_> = (2..=5).map(|n| refusal(&bench, n)).collect();
    assert_eq!(codes, ["unknown-pipeline", "invalid-json", "guard-error", "duplicate-key"]);
    assert_eq!(step.received.refused.keys().count(), 4);
    assert_eq!(bench.state(id(6)), "DOING", "the others are not held up");
    assert_eq!(left(&*bench.store), 0);
    let feed =
        store::Feed { after: seq, pipeline: Some("strict".into()), limit: 9, ..store::Feed::default() };
    let kinds: Vec<_> =
        bench.store.feed(&feed).unwrap().events.iter().map(|event| event.event.leaf.kind).collect();
    assert_eq!(kinds, [Kind::Refused, Kind::Refused, Kind::Refused, Kind::Submitted]);
}

fn merged(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let first = bench.machine.submit_to("work", r#"{"id":"a"}"#);
    receive(&bench, vec![sent(1, "work", r#"{"id":"a"}"#)]);
    assert_eq!(bench.machine.step(&[]).received, Tally { merged: 1, ..Tally::default() });
    let (kind, change) = end(&bench, 1);
    assert_eq!((kind, change), (Kind::Merged, Change::Merged { pipeline: "work".into(), into: first }));
}

fn queued(open: Open<'_>) {
    let mut bench = open(&[LINE]);
    let keyed = |n| Received { key: Some("k".to_owned()), ..sent(n, "line", r#"{"lane":"x"}"#) };
    receive(&bench, vec![keyed(1)]);
    bench.machine.step(&[]);
    receive(&bench, vec![keyed(2)]);
    bench.machine.settle();
    assert!(!bench.row(id(1)).key_waits && bench.row(id(2)).key_waits);
    let tasks = bench.machine.claimed(5);
    bench.machine.finish(tasks[0].token, "done").unwrap();
    assert!(!bench.row(id(2)).key_waits, "its turn has come");
}

fn merged_within_a_batch(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    receive(&bench, (1..=3).map(|n| sent(n, "work", r#"{"id":"a"}"#)).collect());
    let step = bench.machine.step(&[]);
    assert_eq!(step.received, Tally { submitted: 1, merged: 2, ..Tally::default() });
    assert!(matches!(end(&bench, 3), (Kind::Merged, Change::Merged { into, .. }) if into == id(1)));
}

fn lanes(open: Open<'_>) {
    let mut bench = open(&[LINE]);
    receive(&bench, (1..=3).map(|n| sent(n, "line", r#"{"lane":"x"}"#)).collect());
    bench.machine.settle();
    for n in 1..=3 {
        let tasks = bench.machine.claimed(5);
        assert_eq!(tasks.iter().map(|task| task.row.id).collect::<Vec<_>>(), [id(n)], "one after the other");
        bench.machine.finish(tasks[0].token, "done").unwrap();
    }
}

fn a_thousand(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    receive(&bench, (1..=1_000).map(|n| sent(n, "work", &format!(r#"{{"id":"{n}"}}"#))).collect());
    let mut tally = Vec::new();
    while left(&*bench.store) > 0 {
        tally.push(bench.machine.step(&[]).received.submitted);
    }
    assert!(tally.iter().all(|step| *step <= 256), "{tally:?}");
    assert_eq!(tally.iter().sum::<u64>(), 1_000);
    let counts = bench.store.counts().unwrap();
    assert_eq!((counts.len(), counts[0].count), (1, 1_000));
}

fn namesake(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let first = bench.machine.submit_to("work", r#"{"id":"a"}"#);
    let before = bench.row(first);
    let again = Received { id: first, ..sent(1, "work", r#"{"id":"z"}"#) };
    receive(&bench, vec![again, sent(2, "work", r#"{"id":"b"}"#)]);
    bench.machine.step(&[]);
    assert_eq!(bench.row(first), before);
    assert_eq!((bench.state(id(2)), left(&*bench.store)), ("DOING".to_owned(), 0));
}
