//! Notifications of a move: one delivery for each, in a commit of its own, whatever happens in between.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::core::{Ask, Core, DUE_MAX, Output};
use model::event::{Change, Kind};
use model::owed::DELIVERY;
use model::{Code, Submission, SubmissionId};
use store::{Changes, Error, Query, Received, Store, Take};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};
use support::wrapped::{Between, Wrapped};
use support::{Machine, loaded, memory};

const PROMISES: Promises = &[
    ("three notifications of one event are three deliveries, each about its cause", three),
    ("a move is there before anybody is told", move_comes_first),
    ("a restart between the move and its deliveries loses none and doubles none", restart),
    ("what has no address is said in the event and sends nothing", no_address),
    ("a version of somebody's own that refuses a message leaves an event that says so", refused),
    ("the same message, sent by hand, stands for its own", same_message),
    ("another message under its key never stands for it: that is on record", another_message),
];

#[test]
fn moves_tell_over_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn moves_tell_over_sqlite() {
    check(PROMISES, &over_sqlite);
}

const LOUD: &str = r#"
name = "loud"
version = 1
title = "Loud"
key = "payload.id"
start = "DOING"
[notify.author]
mail = "payload.mail"
[notify.hook]
webhook = "'https://hooks.example/' + payload.id"
[notify.team]
mail = "['a@example.com', 'b@example.com']"
[states.DOING]
task = "work.do"
on.done = { to = "DONE", notify = ["author", "hook"] }
[states.DONE]
final = "success"
notify = "team"
"#;

fn loud(open: Open<'_>) -> Bench {
    let bench = open(&[LOUD]);
    let delivery = model::pipeline::load(&engine::delivery::source()).unwrap();
    bench.machine.pipelines.insert(Arc::new(delivery));
    bench
}

/// Submits and does the work: the move that tells.
fn done(machine: &mut Machine, payload: &str) -> SubmissionId {
    let id = machine.submit_to("loud", payload);
    let task = machine.claimed(1).remove(0);
    machine.one(Ask::Tell(id, support::done(task.token))).unwrap();
    id
}

fn sent(store: &dyn Store) -> Vec<Submission> {
    let query = Query { pipeline: Some(DELIVERY.into()), limit: 100, ..Query::default() };
    store.find(&query).unwrap().rows
}

fn payload(store: &dyn Store, id: SubmissionId) -> serde_json::Value {
    store.submission(id).unwrap().unwrap().1.payload.to_serde()
}

const BOTH: &str = r#"{"id":"1","mail":"ada@example.com"}"#;

fn three(open: Open<'_>) {
    let mut bench = loud(open);
    let id = done(&mut bench.machine, BOTH);
    bench.machine.settle();
    let deliveries = sent(&*bench.store);
    let mut told: Vec<String> = deliveries
        .iter()
        .map(|row| {
            let payload = payload(&*bench.store, row.id);
            format!("{} {} {} {}", payload["name"], payload["channel"], payload["to"], row.state)
        })
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            r#""author" "mail" "ada@example.com" MAILING"#,
            r#""hook" "webhook" "https://hooks.example/1" POSTING"#,
            r#""team" "mail" "a@example.com" MAILING"#,
            r#""team" "mail" "b@example.com" MAILING"#,
        ]
    );
    let moved = bench.store.history(id, 0, 10).unwrap().pop().unwrap().event;
    for row in &deliveries {
        let payload = payload(&*bench.store, row.id);
        assert_eq!(payload["cause"], moved.id().to_string());
        assert_eq!(&*row.labels["submission"], id.to_string());
    }
    let mut named: Vec<SubmissionId> =
        moved.detail.notified.iter().flat_map(|told| told.deliveries.clone()).collect();
    let mut made: Vec<SubmissionId> = deliveries.iter().map(|row| row.id).collect();
    named.sort_unstable();
    made.sort_unstable();
    assert_eq!(named, made, "the event names what it makes");
}

fn move_comes_first(open: Open<'_>) {
    let mut bench = loud(open);
    let id = done(&mut bench.machine, BOTH);
    assert_eq!((bench.state(id).as_str(), sent(&*bench.store).len()), ("DONE", 0));
    let step = bench.machine.step(&[]);
    assert_eq!((sent(&*bench.store).len(), step.outcomes.len()), (4, 0));
}

fn restart(open: Open<'_>) {
    let mut bench = loud(open);
    done(&mut bench.machine, BOTH);
    bench.machine.core = bench.machine.rebuilt(bench.store.clone());
    bench.machine.settle();
    assert_eq!(sent(&*bench.store).len(), 4);
    bench.machine.core = bench.machine.rebuilt(bench.store.clone());
    bench.machine.settle();
    assert_eq!(sent(&*bench.store).len(), 4);
}

fn no_address(open: Open<'_>) {
    let mut bench = loud(open);
    let id = done(&mut bench.machine, r#"{"id":"1","mail":null}"#);
    bench.machine.settle();
    let moved = bench.store.history(id, 0, 10).unwrap().pop().unwrap().event;
    let author = moved.detail.notified.iter().find(|told| &*told.name == "author").unwrap();
    assert_eq!((author.deliveries.len(), author.problem.as_deref()), (0, Some("no address")));
    assert_eq!((bench.state(id).as_str(), sent(&*bench.store).len()), ("DONE", 3));
}

fn refused(open: Open<'_>) {
    let mut bench = loud(open);
    let own = "name = 'delivery'\nversion = 2\nkey = 'payload.nothing'\nstart = 'END'\n[states.END]\nfinal = 'success'\n";
    bench.machine.pipelines.insert(Arc::new(loaded(own)));
    let id = done(&mut bench.machine, BOTH);
    bench.machine.settle();
    let moved = bench.store.history(id, 0, 10).unwrap().pop().unwrap().event;
    for told in moved.detail.notified.iter().flat_map(|told| &told.deliveries) {
        let history = bench.store.history(*told, 0, 10).unwrap();
        assert_eq!((history.len(), history[0].event.leaf.kind), (1, Kind::Refused));
    }
}

/// The webhook of a move that is not made yet, as it waits in the inbox.
fn unmade(bench: &mut Bench) -> Received {
    let id = done(&mut bench.machine, r#"{"id":"1","mail":null}"#);
    let moved = bench.store.history(id, 0, 10).unwrap().pop().unwrap().event;
    let hook = moved.detail.notified.iter().find(|told| &*told.name == "hook").unwrap();
    let mut found = None;
    let mut look = |taken: store::Taken| {
        found = taken.inbox.into_iter().find(|received| received.id == hook.deliveries[0]);
        Changes::default()
    };
    bench.store.transact(&Take { inbox: 10, ..Take::nothing() }, &mut look).unwrap();
    found.unwrap()
}

/// Has a message like it sent again before it is made, and returns how it ends.
fn end_after(bench: &mut Bench, own: &Received, by_hand: &str) -> Change {
    let by_hand = bench.machine.submit_to(DELIVERY, by_hand);
    bench.machine.settle();
    assert_eq!(sent(&*bench.store).len(), 3, "the one that was sent again, and those of the others");
    assert_eq!(bench.state(by_hand), "POSTING");
    bench.store.history(own.id, 0, 10).unwrap()[0].event.detail.change.clone()
}

fn same_message(open: Open<'_>) {
    let mut bench = loud(open);
    let own = unmade(&mut bench);
    let end = end_after(&mut bench, &own, &own.payload);
    assert!(matches!(end, Change::Merged { .. }), "{end:?}");
}

fn another_message(open: Open<'_>) {
    let mut bench = loud(open);
    let own = unmade(&mut bench);
    let mut forged: serde_json::Value = serde_json::from_str(&own.payload).unwrap();
    forged["body"] = serde_json::json!({});
    let end = end_after(&mut bench, &own, &forged.to_string());
    assert!(matches!(&end, Change::Refused { error, .. } if &*error.code == "key-conflict"), "{end:?}");
}

/// Loses every commit that makes deliveries, until it is told to stop.
#[derive(Debug)]
struct Unlucky(AtomicBool);

impl Between for Unlucky {
    fn before_transact(&self, take: &Take<'_>) -> Result<(), Error> {
        if take.inbox > 0 && self.0.load(Ordering::SeqCst) {
            return Err(Error::unavailable("gone"));
        }
        Ok(())
    }

    fn decided(&self, changes: &Changes) {
        assert!(changes.received.is_empty() || changes.decided.is_empty(), "never in the commit of the move");
    }
}

#[test]
fn a_delivery_that_cannot_be_made_yet_does_not_fail_the_move() {
    let (inner, _) = memory();
    let store = Arc::new(Wrapped { inner, between: Unlucky(AtomicBool::new(false)) });
    let mut machine = Machine::with(store.clone(), &[LOUD]);
    machine.pipelines.insert(Arc::new(model::pipeline::load(&engine::delivery::source()).unwrap()));
    let id = done(&mut machine, BOTH);
    store.between.0.store(true, Ordering::SeqCst);
    machine.settle();
    assert_eq!(&*store.submission(id).unwrap().unwrap().0.state, "DONE");
    assert_eq!(sent(&*store).len(), 0);
    store.between.0.store(false, Ordering::SeqCst);
    machine.settle();
    assert_eq!(sent(&*store).len(), 4);
}

#[test]
fn a_pipeline_that_notifies_needs_somewhere_for_it_to_go() {
    let (store, _) = memory();
    let mut machine = Machine::with(store, &[]);
    let (loud, delivery) =
        (Arc::new(loaded(LOUD)), Arc::new(model::pipeline::load(&engine::delivery::source()).unwrap()));
    let refusal = machine.one(Ask::apply(loud.clone())).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidDefinition);
    let step = machine.step(&[Ask::apply(delivery).into(), Ask::apply(loud).into()]);
    assert!(
        step.outcomes
            .iter()
            .all(|outcome| matches!(outcome, Ok(Output::Applied(brought)) if brought.changed))
    );
    let again = |core: &mut Core| core.step(&[], DUE_MAX, &mut || [0; 32]);
    assert!(again(&mut machine.core).unreachable.is_none());
}
