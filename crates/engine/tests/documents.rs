//! Documents that a command needs are at hand, whatever the guards of its pipeline read.

use crate::support::bench::{Open, Promises, check, over_memory, over_sqlite};
use engine::core::Ask;
use model::command::{Amend, Finish, Redrive};
use model::submission::Status;
use model::{Caller, Command, Json, Role};

const PROMISES: Promises = &[
    ("an amendment keeps what it does not name", an_amendment_keeps_what_it_does_not_name),
    (
        "what an amendment replaces is kept by its revision",
        what_an_amendment_replaces_is_kept_by_its_revision,
    ),
    ("a redrive sees the output that was kept", a_redrive_sees_the_output_that_was_kept),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

/// A pipeline that reads neither the payload nor an earlier output on a move.
const BLIND: &str = r#"
name = "blind"
version = 1
title = "Blind"
amend = { fields = ["colour"], role = "submitter" }
start = "WORK"
[states.WORK]
task = "t.work"
on.done = [
  { to = "BAD", when = "1 / requeues == 0" },
  { to = "GOOD", when = "output.grade >= 3" },
  "BAD",
]
[states.GOOD]
final = "success"
[states.BAD]
final = "failure"
"#;

fn an_amendment_keeps_what_it_does_not_name(open: Open<'_>) {
    let mut bench = open(&[BLIND]);
    let id = bench.machine.submit_to("blind", r#"{"colour":"red","size":{"x":1}}"#);
    let (caller, patch) = (Caller::new("bob", Role::Submitter), Json::parse(r#"{"colour":"blue"}"#).unwrap());
    bench.machine.one(Ask::Tell(id, Command::Amend(Amend { caller, patch, if_match: None }))).unwrap();
    let payload = bench.store.submission(id).unwrap().unwrap().1.payload;
    assert_eq!(payload.as_str(), r#"{"colour":"blue","size":{"x":1}}"#);
}

fn what_an_amendment_replaces_is_kept_by_its_revision(open: Open<'_>) {
    let mut bench = open(&[BLIND]);
    let id = bench.machine.submit_to("blind", r#"{"size":1.50}"#);
    let revision = bench.row(id).revision;
    for patch in [r#"{"colour":"blue"}"#, r#"{"colour":{"r":12345678901234567890}}"#, r#"{"colour":null}"#] {
        let (caller, patch) = (Caller::new("bob", Role::Submitter), Json::parse(patch).unwrap());
        bench.machine.one(Ask::Tell(id, Command::Amend(Amend { caller, patch, if_match: None }))).unwrap();
    }
    let documents = bench.store.submission(id).unwrap().unwrap().1;
    let replaced: Vec<(u64, &str)> =
        documents.replaced.iter().map(|(revision, body)| (*revision, body.as_str())).collect();
    let before = [r#"{"colour":null}"#, r#"{"colour":"blue"}"#, r#"{"colour":{"r":12345678901234567890}}"#];
    let expected: Vec<(u64, &str)> = (revision + 1..).zip(before).collect();
    assert_eq!(replaced, expected, "by the revision of the amendment, with every digit");
    assert!(documents.outputs.is_empty() && documents.payload.as_str() == r#"{"size":1.50}"#);
}

fn a_redrive_sees_the_output_that_was_kept(open: Open<'_>) {
    let mut bench = open(&[BLIND]);
    let id = bench.machine.submit_to("blind", r#"{"colour":"red"}"#);
    let token = bench.machine.claim_task("t.work")[0].token;
    let output = Some(Json::parse(r#"{"grade":4}"#).unwrap());
    let finish = Finish {
        token,
        outcome: "done".into(),
        output,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    bench.machine.one(Ask::Tell(id, Command::Finish(finish))).unwrap();
    assert_eq!(bench.row(id).status, Status::Dead, "its guard divides by zero");
    let redrive = Redrive { caller: Caller::new("ada", Role::Admin), reason: None };
    bench.machine.one(Ask::Tell(id, Command::Redrive(redrive))).unwrap();
    assert_eq!(bench.state(id), "GOOD");
}
