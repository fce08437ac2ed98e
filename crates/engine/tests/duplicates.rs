//! Duplicates over every store: what comes with the key of an open submission is compared with what is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite, serve};
use crate::support::wrapped::{Between, Wrapped};
use crate::support::{Machine, application, id_of};
use engine::core::{Ask, Input, Output, Reply, SCHEDULES, Scheduled};
use engine::duty::Schedules;
use model::admit::admit;
use model::command::{Act, Amend};
use model::event::Change;
use model::{Caller, Code, Command, Json, Role, SubmissionId, Time};
use store::{Changes, Received, Take, Taken};

const PROMISES: Promises = &[
    ("another payload under a taken key is a conflict, and nothing is written", conflict),
    ("two of one batch are compared, too", within_a_batch),
    ("what is amended or reopened earlier in the batch is compared as it stands", changed_within_a_batch),
    ("what is received with another payload is refused, with the same it is merged", received),
    ("a schedule whose payload is not that of the open one says so", schedule),
    ("a key without a holder, and rules that compare nothing, bring no documents", no_documents),
    ("large payloads are compared a few at a time", a_few_at_a_time),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

/// No move reads a payload: it is read for the comparison alone.
const ORDERS: &str = r#"
name = "orders"
version = 1
key = "payload.id"
amend = { fields = ["pages"], role = "submitter" }
start = "OPEN"
[states.OPEN]
actions.close = "CLOSED"
[states.CLOSED]
final = "success"
actions.reopen = "OPEN"
"#;

const SAME: &str = r#"{"id":"a","pages":3}"#;
const SPELLED: &str = r#"{ "pages": 3, "id": "a" }"#;
const OTHER: &str = r#"{"id":"a","pages":4}"#;

fn submit(bench: &Bench, pipeline: &str, payload: &str) -> Input {
    let pipeline = bench.machine.pipelines.current().in_force(pipeline).unwrap().clone();
    let mut application = application("");
    application.payload = Json::parse(payload).unwrap();
    Ask::Submit(admit(&pipeline, application, &mut model::schema::Fuel::whole()).unwrap().into()).into()
}

fn act(id: SubmissionId, action: &str) -> Input {
    let caller = Caller::new("ada", Role::Admin);
    let act = Act { caller, action: action.into(), reason: None, data: None, to: None, if_match: None };
    Ask::Tell(id, Command::Act(act)).into()
}

/// The one that stands for it, or the code of the refusal and whom it names.
fn answer(outcome: &Reply) -> Result<SubmissionId, (Code, String)> {
    match outcome {
        Ok(Output::Submission(answered)) if answered.duplicate => Ok(answered.row.id),
        Err(refusal) => Err((refusal.code, refusal.details["submission"].as_str().unwrap().to_owned())),
        other => panic!("{other:?}"),
    }
}

fn conflict(open: Open<'_>) {
    let mut bench = open(&[ORDERS]);
    let first = bench.machine.submit_to("orders", SAME);
    let before = (bench.row(first), bench.store.counts().unwrap());
    for (payload, expected) in [
        (SAME, Ok(first)),
        (SPELLED, Ok(first)),
        (OTHER, Err((Code::KeyConflict, first.to_string()))),
        (r#"{"id":"a"}"#, Err((Code::KeyConflict, first.to_string()))),
    ] {
        let input = submit(&bench, "orders", payload);
        assert_eq!(answer(&bench.machine.one(input)), expected, "{payload}");
    }
    assert_eq!((bench.row(first), bench.store.counts().unwrap()), before);
    bench.machine.one(act(first, "close")).unwrap();
    assert_ne!(bench.machine.submit_to("orders", OTHER), first, "the key is free once its holder ended");
}

fn within_a_batch(open: Open<'_>) {
    let mut bench = open(&[ORDERS]);
    let inputs = [SAME, OTHER, SPELLED].map(|payload| submit(&bench, "orders", payload));
    let step = bench.machine.step(&inputs);
    let first = id_of(&step.outcomes[0]);
    assert_eq!(answer(&step.outcomes[1]), Err((Code::KeyConflict, first.to_string())));
    assert_eq!(answer(&step.outcomes[2]), Ok(first));
}

fn changed_within_a_batch(open: Open<'_>) {
    let mut bench = open(&[ORDERS]);
    let first = bench.machine.submit_to("orders", SAME);
    let caller = Caller::new("ada", Role::Admin);
    let amend = Amend { caller, patch: Json::parse(r#"{"pages":4}"#).unwrap(), if_match: None };
    let inputs = [
        submit(&bench, "orders", OTHER),
        Ask::Tell(first, Command::Amend(amend)).into(),
        submit(&bench, "orders", OTHER),
        submit(&bench, "orders", SAME),
    ];
    let step = bench.machine.step(&inputs);
    let told = [&step.outcomes[0], &step.outcomes[2], &step.outcomes[3]].map(answer);
    let conflict = Err((Code::KeyConflict, first.to_string()));
    assert_eq!(told, [conflict.clone(), Ok(first), conflict.clone()]);

    bench.machine.one(act(first, "close")).unwrap();
    let inputs = [act(first, "reopen"), submit(&bench, "orders", OTHER), submit(&bench, "orders", SAME)];
    let step = bench.machine.step(&inputs);
    assert_eq!([&step.outcomes[1], &step.outcomes[2]].map(answer), [Ok(first), conflict]);
}

fn received(open: Open<'_>) {
    let mut bench = open(&[ORDERS]);
    let first = bench.machine.submit_to("orders", SAME);
    let id = |n| SubmissionId::new(Time::from_millis(n), [1; 10]);
    let sent = |(n, payload): (i64, &str)| Received {
        id: id(n),
        submitter: "sql:shop".into(),
        pipeline: "orders".into(),
        payload: payload.to_owned(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
    };
    let all = [(1, OTHER), (2, SPELLED), (3, r#"{"id":"b"}"#), (4, r#"{"id":"b","pages":1}"#)].map(sent);
    let mut changes = Some(Changes { received: all.to_vec(), ..Changes::default() });
    bench.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    let tally = bench.machine.step(&[]).received;
    assert_eq!((tally.submitted, tally.merged), (1, 1));
    assert_eq!(tally.refused, [("key-conflict".into(), 2)].into());
    let end = |n| bench.store.history(id(n), 0, 9).unwrap()[0].event.detail.change.clone();
    assert!(matches!(end(1), Change::Refused { error, .. } if error.message.contains(&first.to_string())));
    assert!(matches!(end(2), Change::Merged { into, .. } if into == first));
    assert!(matches!(end(4), Change::Refused { error, .. } if error.message.contains(&id(3).to_string())));
}

fn schedule(open: Open<'_>) {
    let by_clock = "schedule = { cron = '0 * * * *', payload = { id = 'a', pages = 3 } }\nstart =";
    let mut bench = open(&[&ORDERS.replace("start =", by_clock)]);
    serve(&mut bench, &mut Schedules);
    let hour = |bench: &mut Bench| {
        bench.clock.advance(3_600_000);
        serve(bench, &mut Schedules);
        let served = bench.store.registry(SCHEDULES, "", 10).unwrap();
        serde_json::from_str::<Scheduled>(served[0].1.as_str()).unwrap()
    };
    let first = hour(&mut bench).submission.unwrap();
    assert_eq!(hour(&mut bench).submission, Some(first), "the open one serves this time, too");
    bench.machine.one(act(first, "close")).unwrap();
    let other = bench.machine.submit_to("orders", OTHER);
    let refused = hour(&mut bench).refused.unwrap();
    assert!(refused.contains(&other.to_string()) && refused.contains("another payload"), "{refused}");
}

/// The number of rows that came with their documents, and the most bytes of them at once.
#[derive(Debug, Default)]
struct Brought {
    rows: AtomicUsize,
    most: AtomicUsize,
}

impl Between for Arc<Brought> {
    fn taken(&self, taken: &Taken) {
        let documents = taken.rows.values().filter_map(|stored| stored.documents.as_ref());
        let sizes: Vec<_> = documents.map(model::Documents::bytes).collect();
        self.rows.fetch_add(sizes.len(), Ordering::SeqCst);
        self.most.fetch_max(sizes.iter().sum(), Ordering::SeqCst);
    }
}

fn watched(bench: &mut Bench, file: &str) -> Arc<Brought> {
    let brought = Arc::new(Brought::default());
    let store = Wrapped { inner: bench.store.clone(), between: brought.clone() };
    bench.machine = Machine::with(Arc::new(store), &[file]);
    brought
}

fn no_documents(open: Open<'_>) {
    for (says, wanted) in [
        ("", 1),
        ("on_duplicate = 'reject'", 0),
        ("on_duplicate = 'queue'", 0),
        ("on_duplicate = { same = 'return', differs = 'return' }", 0),
    ] {
        let file = ORDERS.replace("start =", &format!("{says}\nstart ="));
        let mut bench = open(&[&file]);
        let brought = watched(&mut bench, &file);
        let first = bench.machine.submit_to("orders", SAME);
        bench.machine.submit_to("orders", r#"{"id":"b"}"#);
        bench.machine.one(act(first, "close")).unwrap();
        assert_eq!(brought.rows.load(Ordering::SeqCst), 0, "{says}: nobody has the key");
        bench.machine.submit_to("orders", SAME);
        let input = submit(&bench, "orders", SAME);
        let _ = bench.machine.one(input);
        assert_eq!(brought.rows.load(Ordering::SeqCst), wanted, "{says}");
    }
}

fn a_few_at_a_time(open: Open<'_>) {
    let mut bench = open(&[ORDERS]);
    let brought = watched(&mut bench, ORDERS);
    let text = "x".repeat(1_000_000);
    let payload = |n: usize, pages: usize| format!(r#"{{"id":"{n}","pages":{pages},"text":"{text}"}}"#);
    let ids: Vec<_> = (0..48).map(|n| bench.machine.submit_to("orders", &payload(n, 3))).collect();
    let inputs: Vec<_> = (0..48).map(|n| submit(&bench, "orders", &payload(n, 3 + n % 2))).collect();
    let step = bench.machine.step(&inputs);
    for (n, outcome) in step.outcomes.iter().enumerate() {
        let conflict = (Code::KeyConflict, ids[n].to_string());
        let expected = if n % 2 == 0 { Ok(ids[n]) } else { Err(conflict) };
        assert_eq!(answer(outcome), expected);
    }
    let most = brought.most.load(Ordering::SeqCst);
    assert!(most > 16 << 20 && most < 34 << 20, "{most} bytes of documents at once");
}
