//! Work beside the moves people ask for: limits, service levels, forgetting, schedules.

use crate::support;

use std::collections::BTreeMap;

use engine::core::{Ask, Input, SCHEDULES, Scheduled};
use engine::duty::{Duty as _, Housekeeping, Look, Schedules, Sweep};
use model::command::Snooze;
use model::submission::Status;
use model::{ActorKind, Code, Command, Millis, Right, SubmissionId};
use store::{Clock, Feed, Late};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite, serve};

const PROMISES: Promises = &[
    ("a limit is never exceeded and never starves", a_limit_is_never_exceeded_and_never_starves),
    (
        "a task without workers keeps no slot from one that has some",
        a_task_without_workers_keeps_no_slot_from_one_that_has_some,
    ),
    ("a full limit slows no other label", a_full_limit_slows_no_other_label),
    ("a held submission passes its turn under a limit on", a_held_submission_passes_its_turn_on),
    ("a limit that was raised is used in full", a_limit_that_was_raised_is_used_in_full),
    ("a missed service level is listed until it is over", a_missed_service_level_is_listed),
    ("a forgotten row leaves its history", a_forgotten_row_leaves_its_history),
    ("clearing up does not delay a timer", clearing_up_does_not_delay_a_timer),
    ("a schedule submits once for each of its times", a_schedule_submits_once_for_each_of_its_times),
    ("a schedule that two servers begin misses no time", a_schedule_that_two_servers_begin_misses_no_time),
    (
        "a time of a schedule that two servers serve is served once",
        a_time_that_two_servers_serve_is_served_once,
    ),
    (
        "what ends in the step its time comes is cleared up later",
        what_ends_as_its_time_comes_is_cleared_up_later,
    ),
    ("events that a deployment need not keep are retired", old_events_are_retired),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

const LIMITED: &str = r#"
name = "limited"
version = 1
title = "Limited"
labels = { owner = "payload.owner" }
limits.owner = 2
start = [{ to = "OTHER", when = "payload.other" }, "WORK"]
[defaults]
lease = "30s"
[states.WORK]
task = "t.work"
on.done = "DONE"
[states.OTHER]
task = "t.other"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

fn submit_owned(bench: &mut Bench, owner: &str, other: bool) -> SubmissionId {
    bench.machine.submit_to("limited", &format!(r#"{{"owner":"{owner}","other":{other}}}"#))
}

fn a_limit_is_never_exceeded_and_never_starves(open: Open<'_>) {
    let mut bench = open(&[LIMITED]);
    let ids: Vec<_> = (0..7).map(|_| submit_owned(&mut bench, "ada", false)).collect();
    let mut ends = 0_usize;
    for round in 0_u64.. {
        let granted = bench.machine.claim_task("t.work");
        assert!(granted.len() <= 2);
        let leased = ids.iter().filter(|id| bench.row(**id).lease().is_some()).count();
        assert!(leased <= 2, "{leased} are leased");
        let Some(task) = granted.first() else { break };
        // However a lease ends, its slot is free again.
        match round % 3 {
            0 => {
                let snooze = Snooze { token: task.token, span: Millis::ZERO };
                bench.machine.one(Ask::Tell(task.token.submission, Command::Snooze(snooze))).unwrap();
                bench.clock.advance(1);
            }
            1 => bench.clock.advance(30_000),
            _ => {
                bench.machine.finish(task.token, "done").unwrap();
                ends += 1;
            }
        }
        bench.machine.settle();
        for task in &granted[1..] {
            if bench.machine.finish(task.token, "done").is_ok() {
                ends += 1;
            }
        }
    }
    assert_eq!(ends, 7, "all were done");
    assert!(ids.iter().all(|id| bench.row(*id).status == Status::Succeeded));
}

fn a_task_without_workers_keeps_no_slot_from_one_that_has_some(open: Open<'_>) {
    let mut bench = open(&[LIMITED]);
    let first: Vec<_> = (0..2).map(|_| submit_owned(&mut bench, "ada", false)).collect();
    let granted = bench.machine.claim_task("t.work");
    assert_eq!(granted.len(), first.len());
    // Set aside while the limit is full: two of a task that nobody serves later, then one that somebody does.
    (0..2).for_each(|_| {
        submit_owned(&mut bench, "ada", true);
    });
    let wanted = submit_owned(&mut bench, "ada", false);
    assert!(bench.machine.claim_task("t.other").is_empty());
    assert!(bench.machine.claim_task("t.work").is_empty());
    bench.machine.finish(granted[0].token, "done").unwrap();
    let next = bench.machine.claim_task("t.work");
    assert_eq!(next.iter().map(|task| task.row.id).collect::<Vec<_>>(), [wanted]);
}

fn a_full_limit_slows_no_other_label(open: Open<'_>) {
    let mut bench = open(&[LIMITED]);
    (0..5).for_each(|_| {
        submit_owned(&mut bench, "ada", false);
    });
    let other = submit_owned(&mut bench, "bob", false);
    let granted: Vec<_> = bench.machine.claim_task("t.work").into_iter().map(|task| task.row.id).collect();
    assert_eq!(granted.len(), 3);
    assert!(granted.contains(&other));
}

fn a_held_submission_passes_its_turn_on(open: Open<'_>) {
    let mut bench = open(&[LIMITED]);
    (0..2).for_each(|_| {
        submit_owned(&mut bench, "ada", false);
    });
    let granted = bench.machine.claim_task("t.work");
    let held = submit_owned(&mut bench, "ada", false);
    let next = submit_owned(&mut bench, "ada", false);
    assert!(bench.machine.claim_task("t.work").is_empty());
    let hold = engine::Hold { submission: Some(held), ..support::hold(1) };
    bench.machine.one(Ask::Hold(Box::new(hold.clone()))).unwrap();
    bench.machine.finish(granted[0].token, "done").unwrap();
    let tasks = bench.machine.claim_task("t.work");
    assert_eq!(tasks.iter().map(|task| task.row.id).collect::<Vec<_>>(), [next]);
    bench.machine.one(Ask::Release(hold.id)).unwrap();
    bench.machine.finish(granted[1].token, "done").unwrap();
    assert_eq!(bench.machine.claim_task("t.work")[0].row.id, held);
}

fn a_limit_that_was_raised_is_used_in_full(open: Open<'_>) {
    let mut bench = open(&[LIMITED]);
    (0..6).for_each(|_| {
        submit_owned(&mut bench, "ada", false);
    });
    assert_eq!(bench.machine.claim_task("t.work").len(), 2);
    let raised =
        LIMITED.replace("version = 1", "version = 2").replace("limits.owner = 2", "limits.owner = 4");
    bench.machine.one(Ask::apply(std::sync::Arc::new(support::loaded(&raised)))).unwrap();
    let newest = submit_owned(&mut bench, "ada", false);
    assert_eq!(bench.machine.claim_task("t.work")[0].row.id, newest, "the first to follow the new version");
    assert!(bench.machine.claim_task("t.work").is_empty(), "the others follow the old one");
    let mut sweep = Sweep::default();
    serve(&mut bench, &mut sweep);
    assert!(
        bench.machine.claim_task("t.work").is_empty(),
        "a look changes nothing where nothing has changed"
    );
    let wanted = operation_to(2, &bench);
    bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    serve(&mut bench, &mut engine::duty::Operations);
    assert_eq!(bench.machine.claim_task("t.work").len(), 1, "four in all");
}

fn operation_to(version: u32, bench: &Bench) -> engine::core::Operation {
    let migrate = engine::core::Deed::Migrate { version, map: BTreeMap::new() };
    support::operation(bench.clock.now(), "limited", migrate)
}

const MEASURED: &str = r#"
name = "measured"
version = 1
title = "Measured"
start = "WORK"
[sla.all]
to = "DONE"
target = "1h"
[states.WORK]
task = "t.work"
lease = "2h"
sla = { target = "10s" }
on.done = "REST"
[states.REST]
actions.end = "DONE"
[states.DONE]
final = "success"
forget = "1d"
"#;

fn a_missed_service_level_is_listed(open: Open<'_>) {
    let mut bench = open(&[MEASURED]);
    let id = bench.machine.submit_to("measured", "{}");
    let late = |bench: &Bench| {
        let late = Late { pipeline: "measured".into(), until: bench.clock.now(), after: None, limit: 10 };
        bench.store.late(&late).unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let kinds = |bench: &Bench| {
        let history = bench.store.history(id, 0, 100).unwrap();
        history.iter().map(|recorded| recorded.event.leaf.kind.as_str()).collect::<Vec<_>>()
    };
    let token = bench.machine.claim_task("t.work")[0].token;
    assert!(late(&bench).is_empty());
    bench.clock.advance(10_000);
    bench.machine.settle();
    assert_eq!(late(&bench), [id]);
    assert_eq!(kinds(&bench), ["submitted", "late"]);
    bench.machine.finish(token, "done").unwrap();
    assert!(late(&bench).is_empty(), "the state's own is over with the state");
    bench.clock.advance(3_600_000);
    bench.machine.settle();
    assert_eq!(late(&bench), [id], "the way as a whole takes too long");
    bench.machine.act(id, "end").unwrap();
    assert!(late(&bench).is_empty());
    assert_eq!(kinds(&bench), ["submitted", "late", "moved", "late", "moved"]);
}

fn a_forgotten_row_leaves_its_history(open: Open<'_>) {
    let mut bench = open(&[MEASURED]);
    let id = bench.machine.submit_to("measured", "{}");
    let token = bench.machine.claim_task("t.work")[0].token;
    bench.machine.finish(token, "done").unwrap();
    bench.machine.act(id, "end").unwrap();
    bench.clock.advance(24 * 3_600_000);
    bench.machine.settle();
    assert!(bench.store.submission(id).unwrap().is_none());
    assert!(bench.store.counts().unwrap().iter().all(|count| count.count == 0));
    let history = bench.store.history(id, 0, 100).unwrap();
    assert_eq!(history.last().unwrap().event.leaf.kind.as_str(), "forgotten");
    assert_eq!(bench.machine.act(id, "end").unwrap_err().code, Code::UnknownSubmission);
}

const BRIEF: &str = r#"
name = "brief"
version = 1
title = "Brief"
start = [{ to = "WAIT", when = "payload.waits" }, "DONE"]
[states.WAIT]
wait = "1h"
next = "DONE"
[states.DONE]
final = "success"
forget = "1s"
"#;

fn clearing_up_does_not_delay_a_timer(open: Open<'_>) {
    let mut bench = open(&[BRIEF]);
    for _ in 0..300 {
        bench.machine.submit_to("brief", r#"{"waits":false}"#);
    }
    let waits = bench.machine.submit_to("brief", r#"{"waits":true}"#);
    bench.clock.advance(3_600_000);
    bench.machine.step(&[]);
    assert_eq!(bench.state(waits), "DONE", "three hundred that were due before it do not come first");
    bench.machine.settle();
    bench.clock.advance(1_000);
    bench.machine.settle();
    assert!(bench.store.find(&store::Query { limit: 10, ..Default::default() }).unwrap().rows.is_empty());
}

fn what_ends_as_its_time_comes_is_cleared_up_later(open: Open<'_>) {
    let at_once = MEASURED.replace("actions.end", "ttl = { after = \"1h\", to = \"DONE\" }\nactions.end");
    let mut bench = open(&[&at_once.replace("forget = \"1d\"", "forget = \"0s\"")]);
    let id = bench.machine.submit_to("measured", "{}");
    let token = bench.machine.claim_task("t.work")[0].token;
    bench.machine.finish(token, "done").unwrap();
    bench.clock.advance(3_600_000);
    bench.machine.act(id, "end").unwrap();
    bench.machine.settle();
    assert!(bench.store.submission(id).unwrap().is_none());
    let history = bench.store.history(id, 0, 100).unwrap();
    let kinds: Vec<_> = history.iter().map(|recorded| recorded.event.leaf.kind.as_str()).collect();
    assert!(kinds.ends_with(&["moved", "forgotten"]), "{kinds:?}");
}

const NIGHTLY: &str = r#"
name = "nightly"
version = 1
title = "Nightly"
start = "REST"
schedule = { cron = "0 3 * * *", timezone = "Europe/Paris", payload = { what = "report" } }
[states.REST]
actions.end = "DONE"
[states.DONE]
final = "success"
"#;

fn a_schedule_submits_once_for_each_of_its_times(open: Open<'_>) {
    let mut bench = open(&[NIGHTLY]);
    let count = |bench: &Bench| bench.store.counts().unwrap().iter().map(|count| count.count).sum::<u64>();
    serve(&mut bench, &mut Schedules);
    assert_eq!(count(&bench), 0, "what lies before its beginning is not made up for");
    let day = 24 * 3_600_000;
    for days in 1..4 {
        bench.clock.advance(day);
        serve(&mut bench, &mut Schedules);
        serve(&mut bench, &mut Schedules);
        assert_eq!(count(&bench), days);
    }
    bench.clock.advance(7 * day);
    serve(&mut bench, &mut Schedules);
    assert_eq!(count(&bench), 4, "a week's outage is made up for once");
    let served = bench.store.registry(SCHEDULES, "", 10).unwrap();
    let served: Scheduled = serde_json::from_str(served[0].1.as_str()).unwrap();
    let row = bench.row(served.submission.unwrap());
    assert_eq!((&*row.pipeline, &*row.submitter), ("nightly", "schedule"));
    let first = &bench.store.history(row.id, 0, 1).unwrap()[0].event;
    let shown = (first.leaf.actor.kind, &*first.detail.actor, first.leaf.right);
    assert_eq!(shown, (ActorKind::System, "system", Right::Rule), "it is nobody's submission");
    let documents = bench.store.submission(row.id).unwrap().unwrap().1;
    assert_eq!(documents.payload.as_str(), r#"{"what":"report"}"#);
}

/// Lists what a server finds to do for schedules, and has not asked for yet.
fn look(bench: &Bench) -> Vec<Input> {
    let versions = bench.machine.pipelines.current();
    let look = Look { store: &*bench.store, versions: &versions, now: bench.clock.now(), doubtful: false };
    Schedules.pass(look).unwrap().inputs
}

fn a_time_that_two_servers_serve_is_served_once(open: Open<'_>) {
    let mut bench = open(&[NIGHTLY]);
    serve(&mut bench, &mut Schedules);
    bench.clock.advance(24 * 3_600_000);
    let (one, other) = (look(&bench), look(&bench));
    assert_eq!((one.len(), other.len()), (1, 1));
    for input in one.into_iter().chain(other) {
        bench.machine.one(input).unwrap();
    }
    let rows = bench.store.find(&store::Query { limit: 10, ..Default::default() }).unwrap().rows;
    assert_eq!(rows.len(), 1);
}

fn a_schedule_that_two_servers_begin_misses_no_time(open: Open<'_>) {
    let mut bench = open(&[NIGHTLY]);
    let one = look(&bench);
    bench.clock.advance(24 * 3_600_000);
    let other = look(&bench);
    for input in one.into_iter().chain(other) {
        bench.machine.one(input).unwrap();
    }
    serve(&mut bench, &mut Schedules);
    let rows = bench.store.find(&store::Query { limit: 10, ..Default::default() }).unwrap().rows;
    assert_eq!(rows.len(), 1, "the night in between is served");
}

fn old_events_are_retired(open: Open<'_>) {
    let mut bench = open(&[BRIEF]);
    for _ in 0..253 {
        bench.machine.submit_to("brief", r#"{"waits":true}"#);
    }
    let mut housekeeping = Housekeeping { keep_events: Some(Millis::from_secs(1_800)), logged: false };
    serve(&mut bench, &mut housekeeping);
    let oldest = |bench: &Bench| bench.store.feed(&Feed { limit: 1, ..Feed::default() }).unwrap().oldest;
    assert_eq!(oldest(&bench), 1);
    bench.clock.advance(1_800_000);
    let young = bench.machine.submit_to("brief", r#"{"waits":true}"#);
    serve(&mut bench, &mut housekeeping);
    assert_eq!(oldest(&bench), 254);
    let page = bench.store.feed(&Feed { limit: 10, after: 253, ..Feed::default() }).unwrap();
    assert_eq!(page.events[0].event.leaf.submission, young);
}
