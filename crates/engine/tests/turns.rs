//! Turns at keys, lanes and limits that come in the very step in which something else happens to those in line.

use crate::support;

use engine::Hold;
use engine::core::{Ask, ClaimMany, Output, Reply};
use model::command::{Act, Amend, Finish, Renew};
use model::submission::Wait;
use model::{Caller, Command, Json, LeaseToken, Role, SubmissionId};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};

const PROMISES: Promises = &[
    ("an arrival does not overtake who is first in line", an_arrival_does_not_overtake),
    ("who gets its key gets its free lane too", who_gets_its_key_gets_its_free_lane_too),
    ("who is amended as its key comes free gets it all the same", amended_as_its_key_comes_free),
    ("the key of one that ended as it came free goes to the next", ended_as_its_key_comes_free),
    ("a hold does not keep a key from who waits for it", a_hold_does_not_keep_a_key),
    ("a slot that is given back is there for the next claim of the same step", a_slot_that_is_given_back),
    (
        "a hold takes one out of the line and leaves its granted task alone",
        a_hold_leaves_a_granted_task_alone,
    ),
    ("every queue beside a slot hears that it is free, however many there are", all_queues_hear_of_a_slot),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

const PORT: &str = r#"
name = "port"
version = 1
title = "Port"
key = "payload.ship"
on_duplicate = "queue"
lane = { key = "payload.quay" }
amend = { fields = ["load"], role = "submitter", lease = "keep" }
start = "UNLOAD"
[states.UNLOAD]
task = "port.unload"
on.done = "GONE"
actions.turn = "GONE"
[states.GONE]
final = "success"
"#;

/// One after the other, a moment apart: those of one moment stand in no order of arrival.
fn arrive(bench: &mut Bench, ship: &str, quay: &str) -> SubmissionId {
    bench.clock.advance(1);
    bench.machine.submit_to("port", &format!(r#"{{"ship":"{ship}","quay":"{quay}","load":1}}"#))
}

/// Finishes in a step of its own: what follows for others is written, and nobody has looked at it yet.
fn leave(bench: &mut Bench, token: LeaseToken) {
    let finish = Finish {
        token,
        outcome: "done".into(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    bench.machine.one(Ask::Tell(token.submission, Command::Finish(finish))).unwrap();
}

fn unloading(bench: &mut Bench) -> Vec<SubmissionId> {
    bench.machine.settle();
    bench.machine.claim_task("port.unload").iter().map(|task| task.row.id).collect()
}

fn amend(bench: &mut Bench, id: SubmissionId) -> Reply {
    let (caller, patch) = (Caller::new("bob", Role::Submitter), Json::parse(r#"{"load":2}"#).unwrap());
    bench.machine.one(Ask::Tell(id, Command::Amend(Amend { caller, patch, if_match: None })))
}

fn an_arrival_does_not_overtake(open: Open<'_>) {
    let mut bench = open(&[PORT]);
    arrive(&mut bench, "a", "q");
    let waits = arrive(&mut bench, "b", "q");
    let token = bench.machine.claim_task("port.unload")[0].token;
    leave(&mut bench, token);
    arrive(&mut bench, "c", "q");
    assert_eq!(unloading(&mut bench), [waits]);
}

fn who_gets_its_key_gets_its_free_lane_too(open: Open<'_>) {
    let mut bench = open(&[PORT]);
    arrive(&mut bench, "a", "q1");
    let again = arrive(&mut bench, "a", "q2");
    let token = bench.machine.claim_task("port.unload")[0].token;
    leave(&mut bench, token);
    assert_eq!(unloading(&mut bench), [again]);
}

fn amended_as_its_key_comes_free(open: Open<'_>) {
    let mut bench = open(&[PORT]);
    arrive(&mut bench, "a", "q1");
    let again = arrive(&mut bench, "a", "q2");
    let token = bench.machine.claim_task("port.unload")[0].token;
    leave(&mut bench, token);
    amend(&mut bench, again).unwrap();
    assert_eq!(unloading(&mut bench), [again]);
}

fn ended_as_its_key_comes_free(open: Open<'_>) {
    let mut bench = open(&[PORT]);
    arrive(&mut bench, "a", "q1");
    let [second, third] = ["q2", "q3"].map(|quay| arrive(&mut bench, "a", quay));
    let token = bench.machine.claim_task("port.unload")[0].token;
    leave(&mut bench, token);
    let (caller, action) = (Caller::new("ada", Role::Admin), "turn".into());
    let act = Act { caller, action, reason: None, data: None, to: None, if_match: None };
    bench.machine.one(Ask::Tell(second, Command::Act(act))).unwrap();
    assert_eq!(unloading(&mut bench), [third]);
}

fn a_hold_does_not_keep_a_key(open: Open<'_>) {
    let mut bench = open(&[PORT]);
    arrive(&mut bench, "a", "q1");
    let again = arrive(&mut bench, "a", "q2");
    let hold = Hold { submission: Some(again), ..support::hold(1) };
    bench.machine.one(Ask::Hold(Box::new(hold))).unwrap();
    let token = bench.machine.claim_task("port.unload")[0].token;
    leave(&mut bench, token);
    assert_eq!(unloading(&mut bench), [], "it is held");
    let row = bench.row(again);
    assert!(!row.key_waits && row.wait != Wait::Key, "and the key is its own: {row:?}");
}

fn a_slot_that_is_given_back(open: Open<'_>) {
    let limited = PORT.replace(
        "lane = { key = \"payload.quay\" }",
        "labels = { quay = \"payload.quay\" }\nlimits.quay = 1",
    );
    let mut bench = open(&[&limited]);
    arrive(&mut bench, "a", "q");
    let token = bench.machine.claim_task("port.unload")[0].token;
    let next = arrive(&mut bench, "b", "q");
    let finish = Finish {
        token,
        outcome: "done".into(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    let claim = ClaimMany { tasks: vec!["port.unload".into()], ..support::claim(1) };
    let asks = [Ask::Tell(token.submission, Command::Finish(finish)), Ask::Claim(claim)];
    let step = bench.machine.step(&asks.map(Into::into));
    let Ok(Output::Tasks(tasks)) = &step.outcomes[1] else { panic!("{:?}", step.outcomes) };
    assert_eq!(tasks.iter().map(|task| task.row.id).collect::<Vec<_>>(), [next]);
}

fn a_hold_leaves_a_granted_task_alone(open: Open<'_>) {
    let inspected = PORT
        .replace("actions.turn = \"GONE\"", "actions.inspect = { to = \"GONE\", task = \"port.inspect\" }");
    let mut bench = open(&[&inspected]);
    arrive(&mut bench, "a", "q");
    let [first, next] = ["b", "c"].map(|ship| arrive(&mut bench, ship, "q"));
    bench.machine.act(first, "inspect").unwrap();
    let inspecting = bench.machine.claim_task("port.inspect")[0].token;
    let hold = Hold { submission: Some(first), ..support::hold(1) };
    let hold_id = hold.id.clone();
    bench.machine.one(Ask::Hold(Box::new(hold))).unwrap();
    let token = bench.machine.claim_task("port.unload")[0].token;
    leave(&mut bench, token);
    assert_eq!(unloading(&mut bench), [next], "who is held lets the next have its turn");
    let row = bench.row(first);
    assert_eq!((row.parked.as_ref(), row.lease().is_some()), (Some(&hold_id), true));
    assert!(row.timer.is_some(), "its lease still ends by itself: {row:?}");
    bench.machine.finish(inspecting, "inspected").unwrap();
    assert_eq!((bench.state(first).as_str(), bench.row(first).parked), ("GONE", None));
}

/// The last of so many queues: two limits and as many tasks owe more than 256 looks when one slot of each is given back.
const LAST_QUEUE: usize = 129;

/// Tasks in a row, each with a queue beside it for each of two limits.
fn long_way() -> String {
    let state = |no: usize| format!("[states.S{no}]\ntask = \"way.t{no:03}\"\non.done = \"S{}\"\n", no + 1);
    let states: String = (0..=LAST_QUEUE).map(state).collect();
    format!(
        "name = \"way\"\nversion = 1\ntitle = \"Way\"\nstart = \"ROUTE\"\n\
         labels = {{ one = \"payload.one\", two = \"payload.two\" }}\nlimits = {{ one = 1, two = 1 }}\n\
         [states.ROUTE]\nnext = [{{ to = \"S{LAST_QUEUE}\", when = \"payload.last\" }}, \"S0\"]\n\
         {states}[states.S{}]\nfinal = \"success\"\n",
        LAST_QUEUE + 1
    )
}

fn all_queues_hear_of_a_slot(open: Open<'_>) {
    // The number of times it was written before must not matter.
    for renewals in 0..2 {
        let mut bench = open(&[&long_way()]);
        bench.machine.submit_to("way", r#"{"one":"a","two":"c","last":false}"#);
        let token = bench.machine.claim_task("way.t000")[0].token;
        let waits = bench.machine.submit_to("way", r#"{"one":"b","two":"c","last":true}"#);
        assert_eq!(bench.machine.claim_task("way.t129").len(), 0);
        for _ in 0..renewals {
            bench.clock.advance(1);
            let renew = Command::Renew(Renew { token, progress: None });
            bench.machine.one(Ask::Tell(token.submission, renew)).unwrap();
        }
        leave(&mut bench, token);
        bench.machine.settle();
        let tasks = bench.machine.claim_task("way.t129");
        assert_eq!(tasks.iter().map(|task| task.row.id).collect::<Vec<_>>(), [waits], "{renewals}");
    }
}
