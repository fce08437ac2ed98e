//! Submissions that come at one moment: into a lane by their tie, into a queue in the order they came.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::core::{Ask, Input};
use engine::{Engine, Options, Within};
use model::admit::{Admission, Application, Door, admit};
use model::command::Finish;
use model::{Command, Json, SubmissionId};
use store::{Changes, Clock as _, Received, Take};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};
use support::{application, loaded, memory};

const PROMISES: Promises = &[
    ("of those who come at once to a free lane the first by tie is let in", the_first_by_tie),
    ("ties that are numbers are compared as numbers", numbers_as_numbers),
    ("whoever is in line already comes before those who come at once", in_line_already),
    ("a lane that is left as others come goes to the first in line", left_as_others_come),
    ("one that is held is not let in before the others", held_as_it_comes),
    ("children of one answer come to a lane by their ties", children_by_tie),
    ("what comes by the inbox comes to a lane by its tie", inbox_by_tie),
    ("what comes at once stands in its queue as it came", queued_as_it_came),
    ("what comes in one moment and two steps stands in its queue as it came", two_steps),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

const LEDGER: &str = r#"
name = "ledger"
version = 1
title = "Ledger"
labels = { service = "payload.service" }
lane = { key = "payload.service", tie = "payload.nonce" }
start = "QUEUED"
[states.QUEUED]
lane = "wait"
next = "SENDING"
[states.SENDING]
task = "ledger.send"
on.sent = "DONE"
[states.DONE]
final = "success"
"#;

const BATCH: &str = r#"
name = "batch"
version = 1
title = "Batch"
start = "FILL"
[states.FILL]
join = "ledger"
task = "batch.fill"
on.all_succeeded = "DONE"
on.some_failed = "LOST"
[states.DONE]
final = "success"
[states.LOST]
final = "failure"
"#;

fn payload(service: &str, nonce: &str) -> Application {
    let payload = Json::parse(&format!(r#"{{"service":"{service}","nonce":{nonce}}}"#)).unwrap();
    Application { payload, ..application("") }
}

fn admission(service: &str, nonce: &str) -> Admission {
    admit(&loaded(LEDGER), payload(service, nonce), &mut model::schema::Fuel::whole()).unwrap()
}

/// Submits these to one lane in one step.
fn come(bench: &mut Bench, nonces: &[&str]) {
    let inputs: Vec<Input> =
        nonces.iter().map(|nonce| Ask::Submit(admission("s", nonce).into()).into()).collect();
    bench.machine.step(&inputs).outcomes.into_iter().for_each(|outcome| drop(outcome.unwrap()));
}

/// The nonces in the order in which a worker gets them, one at a time.
fn sent(bench: &mut Bench) -> Vec<String> {
    let mut sent = Vec::new();
    loop {
        bench.machine.settle();
        let tasks = bench.machine.claim_task("ledger.send");
        let [task] = &tasks[..] else {
            assert!(tasks.is_empty(), "two at a time");
            return sent;
        };
        let nonce = task.documents.payload.value().get("nonce").unwrap().clone();
        sent.push(Json::from_value(&nonce).as_str().to_owned());
        bench.machine.finish(task.token, "sent").unwrap();
    }
}

fn the_first_by_tie(open: Open<'_>) {
    let mut bench = open(&[LEDGER]);
    come(&mut bench, &["\"d\"", "\"b\"", "\"a\"", "\"c\""]);
    let at_once = bench.machine.claim_task("ledger.send");
    assert_eq!(at_once.len(), 1, "somebody has the lane in the commit they came in");
    bench.machine.finish(at_once[0].token, "sent").unwrap();
    assert_eq!(at_once[0].documents.payload.as_str(), r#"{"service":"s","nonce":"a"}"#);
    assert_eq!(sent(&mut bench), ["\"b\"", "\"c\"", "\"d\""]);
}

fn numbers_as_numbers(open: Open<'_>) {
    let mut bench = open(&[LEDGER]);
    come(&mut bench, &["10", "2", "\"18446744073709551616\"", "100", "-1"]);
    assert_eq!(sent(&mut bench), ["-1", "2", "10", "100", "\"18446744073709551616\""]);
}

fn in_line_already(open: Open<'_>) {
    let mut bench = open(&[LEDGER]);
    come(&mut bench, &["5"]);
    bench.clock.advance(1);
    come(&mut bench, &["9"]);
    bench.clock.advance(1);
    come(&mut bench, &["3", "1"]);
    assert_eq!(sent(&mut bench), ["5", "9", "1", "3"]);
}

fn left_as_others_come(open: Open<'_>) {
    let mut bench = open(&[LEDGER]);
    come(&mut bench, &["5"]);
    let token = bench.machine.claim_task("ledger.send")[0].token;
    bench.clock.advance(1);
    let finish = Finish {
        token,
        outcome: "sent".into(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    let leaves = Ask::Tell(token.submission, Command::Finish(finish));
    let [late, early] = ["9", "2"].map(|nonce| Ask::Submit(admission("s", nonce).into()));
    bench.machine.step(&[late.into(), leaves.into(), early.into()]);
    assert_eq!(bench.machine.claim_task("ledger.send").len(), 1, "the lane was handed over in that commit");
    let line = bench.store.line(&store::LaneKey { pipeline: "ledger".into(), lane: "s".into() }, 9).unwrap();
    let nonce = |id: SubmissionId| bench.store.submission(id).unwrap().unwrap().1.payload.as_str().to_owned();
    assert_eq!(nonce(line.holder.unwrap()), r#"{"service":"s","nonce":2}"#);
    assert_eq!(line.waiting.len(), 1);
}

fn held_as_it_comes(open: Open<'_>) {
    let mut bench = open(&[LEDGER]);
    let hold = engine::Hold { lane: Some("s".into()), ..support::hold(1) };
    bench.machine.one(Ask::Hold(Box::new(hold))).unwrap();
    come(&mut bench, &["2", "1"]);
    assert_eq!(sent(&mut bench), [""; 0]);
    bench.machine.one(Ask::Release(support::hold(1).id)).unwrap();
    assert_eq!(sent(&mut bench), ["1", "2"]);
}

fn children_by_tie(open: Open<'_>) {
    let mut bench = open(&[LEDGER, BATCH]);
    let parent = bench.machine.submit_to("batch", "{}");
    let token = bench.machine.claim_task("batch.fill")[0].token;
    let child = |nonce: &str| {
        let door = Door::Child(parent, format!("n{nonce}").into());
        admit(&loaded(LEDGER), Application { door, ..payload("s", nonce) }, &mut model::schema::Fuel::whole())
            .unwrap()
    };
    let children = ["3", "20", "1"].map(child).into();
    let finish =
        Finish { token, outcome: "sealed".into(), output: None, result: None, children, entries: Vec::new() };
    bench.machine.one(Ask::Tell(parent, Command::Finish(finish))).unwrap();
    assert_eq!(sent(&mut bench), ["1", "3", "20"]);
}

fn inbox_by_tie(open: Open<'_>) {
    let mut bench = open(&[LEDGER]);
    let received = [(1, "3"), (2, "20"), (3, "1")].map(|(n, nonce)| Received {
        id: SubmissionId::new(bench.clock.now(), [n; 10]),
        submitter: "sql:shop".into(),
        pipeline: "ledger".into(),
        payload: format!(r#"{{"service":"s","nonce":{nonce}}}"#),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
    });
    let mut changes = Some(Changes { received: received.into(), ..Changes::default() });
    bench.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    assert_eq!(sent(&mut bench), ["1", "3", "20"]);
}

const MANY: usize = 300;

/// Claims all that was submitted to the pipeline `work` and returns the keys in the order of the queue.
fn queue(bench: &mut Bench) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let tasks = bench.machine.claimed(100);
        if tasks.is_empty() {
            return ids;
        }
        ids.extend(tasks.iter().map(|task| task.row.key.as_deref().unwrap_or_default().to_owned()));
    }
}

fn queued_as_it_came(open: Open<'_>) {
    let mut bench = open(&[support::WORK]);
    let names: Vec<String> = (0..MANY).map(|n| n.to_string()).collect();
    bench.machine.step(&names.iter().map(|name| support::submit(name)).collect::<Vec<_>>());
    assert_eq!(queue(&mut bench), names);
}

fn two_steps(open: Open<'_>) {
    let mut bench = open(&[support::WORK]);
    let names: Vec<String> = (0..MANY).map(|n| n.to_string()).collect();
    for some in names.chunks(MANY / 3) {
        bench.machine.step(&some.iter().map(|name| support::submit(name)).collect::<Vec<_>>());
    }
    assert_eq!(queue(&mut bench), names);
}

/// More than one commit takes, in one call to the engine: the first by tie is let in all the same.
#[tokio::test]
async fn a_call_that_is_more_than_a_commit_goes_by_tie() {
    let (store, _) = memory();
    let engine = Engine::start(store, &Options::default()).unwrap();
    engine.apply(&model::pipeline::Source::new("ledger.toml", LEDGER)).await.unwrap();
    let applications = (0..1_000).rev().map(|nonce| (payload("s", &nonce.to_string()), None)).collect();
    let outside = || unreachable!("all of it is covered");
    let within = Within { trace: None, covers: &|_: &BTreeMap<_, _>| true, outside: &outside };
    let answers = engine.submit_within("ledger", applications, within).await;
    let nonces: Vec<i64> = engine
        .read(move |store| {
            let line = store.line(&store::LaneKey { pipeline: "ledger".into(), lane: "s".into() }, 2_000)?;
            let ids = line.holder.into_iter().chain(line.waiting);
            let rows = ids.map(|id| store.submission(id)).collect::<Result<Vec<_>, _>>()?;
            let nonce = |payload: &Json| {
                serde_json::from_str::<serde_json::Value>(payload.as_str()).unwrap()["nonce"]
                    .as_i64()
                    .unwrap()
            };
            Ok(rows.into_iter().flatten().map(|(_, documents)| nonce(&documents.payload)).collect())
        })
        .await
        .unwrap();
    assert_eq!(nonces, (0..1_000).collect::<Vec<_>>());
    assert!(answers.iter().all(Result::is_ok));
    let keys: Vec<_> =
        answers.into_iter().map(|answer| answer.unwrap().row.seat.clone().unwrap().tie).collect();
    let expected: Vec<Arc<str>> = (0..1_000).rev().map(|nonce| nonce.to_string().into()).collect();
    assert_eq!(keys, expected, "each is answered in its place");
    engine.drain().await;
}
