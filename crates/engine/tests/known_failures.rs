//! Failures other engines have shipped, as sentences that must be true here.

use crate::support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};
use engine::core::Ask;
use model::decide::{Current, Decision};
use model::submission::{Failure, Status, Wait};
use model::{Code, Command, Context, LeaseToken, Pipeline, Refusal, SubmissionId};

const PROMISES: Promises = &[
    ("an answer after a rescue changes nothing", late_answer),
    ("a rescue does not count as a failure", rescue_is_no_failure),
    ("a blocked lane slows no other and starves no queue", blocked_lane),
    ("an error is never recorded as success", error_is_no_success),
    ("one timer that cannot be served holds up no other", stuck_timer),
    ("a retry budget survives a restart", budget_survives),
    ("an outage longer than every lease expires none of them at once", mass_expiry),
    ("work whose worker died waits no longer than its lease", prompt_rescue),
];

#[test]
fn known_failures_do_not_happen_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn known_failures_do_not_happen_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
start = "DOING"
[states.DOING]
task = "t.work"
lease = "30s"
retry = { times = 2, delay = "1s" }
on.done = "DONE"
[states.DONE]
final = "success"
"#;

fn token(bench: &mut Bench) -> LeaseToken {
    bench.machine.claim_task("t.work")[0].token
}

fn fail(bench: &mut Bench, token: LeaseToken) {
    let failure = Failure { code: "broken".into(), message: "broken".to_owned() };
    let fail = model::command::Fail { token, failure, retryable: true, after: None };
    bench.machine.one(Ask::Tell(token.submission, Command::Fail(fail))).unwrap();
}

fn late_answer(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let id = bench.machine.submit_to("work", "{}");
    let dead = token(&mut bench);
    bench.clock.advance(30_000);
    bench.machine.settle();
    let alive = token(&mut bench);
    assert_eq!(bench.machine.finish(dead, "done").unwrap_err().code, Code::StaleLease);
    assert_eq!(bench.row(id).status, Status::Open);
    bench.machine.finish(alive, "done").unwrap();
    assert_eq!(bench.row(id).revision, 3, "submitted, crashed, moved once");
}

fn rescue_is_no_failure(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let id = bench.machine.submit_to("work", "{}");
    for _ in 0..3 {
        token(&mut bench);
        bench.clock.advance(30_000);
        bench.machine.settle();
    }
    let row = bench.row(id);
    assert_eq!((row.attempt, row.status), (1, Status::Open));
    assert!(row.failures.is_empty() && row.error.is_none());
}

fn blocked_lane(open: Open<'_>) {
    const LANES: &str = r#"
name = "lanes"
version = 1
title = "Lanes"
lane = { key = "payload.lane", on_dead = "block" }
start = "WORK"
[states.WORK]
task = "t.work"
on.done = "DONE"
[states.DONE]
final = "success"
"#;
    let mut bench = open(&[LANES]);
    for _ in 0..50 {
        bench.machine.submit_to("lanes", r#"{"lane":"blocked"}"#);
    }
    let blocked = token(&mut bench);
    let mut others: Vec<_> =
        (0..5).map(|n| bench.machine.submit_to("lanes", &format!(r#"{{"lane":"{n}"}}"#))).collect();
    bench.machine.settle();
    let mut granted: Vec<SubmissionId> =
        bench.machine.claim_task("t.work").iter().map(|task| task.row.id).collect();
    granted.sort();
    others.sort();
    assert_eq!(granted, others, "all others at once, behind fifty that wait");
    assert!(bench.row(blocked.submission).lease().is_some());
}

fn error_is_no_success(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let id = bench.machine.submit_to("work", "{}");
    for _ in 0..3 {
        let token = token(&mut bench);
        fail(&mut bench, token);
        assert_ne!(bench.row(id).status, Status::Succeeded);
        bench.clock.advance(1_000);
        bench.machine.settle();
    }
    let row = bench.row(id);
    assert_eq!((row.status, &*row.error.unwrap().code), (Status::Dead, "broken"));
}

fn unwakeable(
    pipeline: &Pipeline,
    current: Option<Current<'_>>,
    command: &Command,
    context: &Context,
) -> Result<Decision, Refusal> {
    let stuck = current.is_some_and(|current| current.row.key.as_deref() == Some("stuck"));
    assert!(!(stuck && matches!(command, Command::Wake)), "a fault in a rule");
    model::decide(pipeline, current, command, context)
}

fn stuck_timer(open: Open<'_>) {
    const WAITING: &str = r#"
name = "waiting"
version = 1
title = "Waiting"
key = "payload.key"
start = "WAIT"
[states.WAIT]
wait = "10s"
next = "DONE"
[states.DONE]
final = "success"
"#;
    let mut bench = open(&[WAITING]);
    let stuck = bench.machine.submit_to("waiting", r#"{"key":"stuck"}"#);
    let fine = bench.machine.submit_to("waiting", r#"{"key":"fine"}"#);
    bench.machine.core = bench.machine.rebuilt(bench.store.clone()).with_decide(unwakeable);
    bench.clock.advance(10_000);
    bench.machine.settle();
    assert_eq!((bench.state(stuck).as_str(), bench.state(fine).as_str()), ("WAIT", "DONE"));
    assert!(
        bench.row(stuck).timer
            > Some(model::Time::from_millis(bench.row(stuck).created_at.millis() + 10_000))
    );
}

fn budget_survives(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let id = bench.machine.submit_to("work", "{}");
    for _ in 0..3 {
        let token = token(&mut bench);
        fail(&mut bench, token);
        bench.machine.core = bench.machine.rebuilt(bench.store.clone());
        bench.clock.advance(60_000);
        bench.machine.settle();
    }
    assert_eq!(bench.row(id).status, Status::Dead);
}

fn mass_expiry(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    for _ in 0..20 {
        bench.machine.submit_to("work", "{}");
    }
    let tokens: Vec<LeaseToken> = bench.machine.claim_task("t.work").iter().map(|task| task.token).collect();
    bench.clock.advance(3_600_000);
    // As after an outage: the engine is new and its leases are all long over.
    bench.machine.core = bench.machine.rebuilt(bench.store.clone());
    bench.machine.settle();
    bench.clock.advance(9_000);
    bench.machine.settle();
    for token in &tokens {
        assert!(
            matches!(bench.row(token.submission).wait, Wait::Lease(_)),
            "its worker may still hand it in"
        );
    }
    bench.machine.finish(tokens[0], "done").unwrap();
    bench.clock.advance(1_000);
    bench.machine.settle();
    assert!(matches!(bench.row(tokens[1].submission).wait, Wait::Worker { .. }), "but not for ever");
}

fn prompt_rescue(open: Open<'_>) {
    let mut bench = open(&[WORK]);
    let id = bench.machine.submit_to("work", "{}");
    token(&mut bench);
    bench.clock.advance(29_999);
    bench.machine.settle();
    assert!(bench.row(id).lease().is_some());
    bench.clock.advance(1);
    bench.machine.settle();
    assert_eq!(bench.machine.claim_task("t.work").len(), 1);
}
