//! Lanes, keys in line, holds: the queues beside a task's own, over the core.

use crate::support;

use std::collections::BTreeMap;

use engine::Hold;
use engine::core::{Ask, ClaimMany, Input, Output};
use model::command::{Amend, Redrive};
use model::submission::{Status, Wait};
use model::{Caller, Code, Command, Json, Role, SubmissionId, Time};
use store::{Changes, LaneKey, Take};
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite};
use support::hold;

const LANES: &str = r#"
name = "lanes"
version = 1
title = "Lanes"
lane = { key = "payload.lane", tie = "payload.tie" }
start = "QUEUED"
[defaults]
lease = "30s"
[states.QUEUED]
lane = "wait"
next = "WORK"
actions.leave = "DONE"
[states.WORK]
task = "t.work"
on.done = "AFTER"
on.end = "DONE"
[states.AFTER]
lane = "free"
task = "t.after"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

const PROMISES: Promises = &[
    (
        "a lane has one holder and goes to the next when it is left",
        a_lane_has_one_holder_and_goes_to_the_next_when_it_is_left,
    ),
    (
        "a lane goes to the next in the commit that leaves it",
        a_lane_goes_to_the_next_in_the_commit_that_leaves_it,
    ),
    (
        "a lane goes to whoever joins its line as it is left and is first",
        a_lane_goes_to_whoever_joins_and_is_first,
    ),
    (
        "a lane is owed where the first in line leaves it as it is left",
        a_lane_is_owed_where_the_first_in_line_leaves_it,
    ),
    ("an older arrival never displaces a holder", an_older_arrival_never_displaces_a_holder),
    ("a dead letter frees its lane unless it blocks it", a_dead_letter_frees_its_lane_unless_it_blocks_it),
    (
        "a queued duplicate waits visibly and enters when the key is free",
        a_queued_duplicate_waits_visibly_and_enters_when_the_key_is_free,
    ),
    ("an ended submission goes on only with its key", an_ended_submission_goes_on_only_with_its_key),
    ("a hold stops leases and its end lets them go on", a_hold_stops_leases_and_its_end_lets_them_go_on),
    ("a hold that ends twice in a row lets everything go on", a_hold_that_ends_twice_lets_everything_go_on),
    ("holds stack and expire", holds_stack_and_expire),
    ("a hold never stops a settlement", a_hold_never_stops_a_settlement),
    (
        "an amendment changes allowed fields and wakes what rests",
        an_amendment_changes_allowed_fields_and_wakes_what_rests,
    ),
    (
        "what a final state keeps for a while is erased after it",
        what_a_final_state_keeps_for_a_while_is_erased_after_it,
    ),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

fn lane(lane: &str, tie: &str) -> String {
    format!(r#"{{"lane":"{lane}","tie":"{tie}"}}"#)
}

fn a_lane_has_one_holder_and_goes_to_the_next_when_it_is_left(bench: Open<'_>) {
    let mut bench = bench(&[LANES]);
    let first = bench.machine.submit_to("lanes", &lane("a", "z"));
    let tied: Vec<_> = ["y", "x"].map(|tie| bench.machine.submit_to("lanes", &lane("a", tie))).to_vec();
    let other = bench.machine.submit_to("lanes", &lane("b", "z"));
    bench.machine.settle();
    let tasks = bench.machine.claim_task("t.work");
    let mut ids: Vec<_> = tasks.iter().map(|task| task.row.id).collect();
    ids.sort();
    let mut expected = vec![first, other];
    expected.sort();
    assert_eq!(ids, expected, "one of each lane");
    assert_eq!(bench.state(tied[0]), "QUEUED");

    let token = tasks.iter().find(|task| task.row.id == first).unwrap().token;
    bench.machine.finish(token, "done").unwrap();
    let next = bench.machine.claim_task("t.work");
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].row.id, tied[1], "of those that came together, the smaller tie");
    assert_eq!(bench.state(first), "AFTER", "it goes on without the lane");
    assert_eq!(bench.machine.claim_task("t.after").len(), 1);
}

/// Three in a lane, the first of them leased.
fn three_in_a_lane(bench: &mut Bench) -> ([SubmissionId; 3], Input) {
    let ids = ["a", "b", "c"].map(|tie| bench.machine.submit_to("lanes", &lane("a", tie)));
    let token = bench.machine.claim_task("t.work")[0].token;
    assert_eq!(token.submission, ids[0]);
    (ids, Ask::Tell(ids[0], support::done(token)).into())
}

fn holder(bench: &Bench) -> Option<SubmissionId> {
    bench.store.line(&LaneKey { pipeline: "lanes".into(), lane: "a".into() }, 9).unwrap().holder
}

fn owes(bench: &Bench) -> usize {
    let mut owed = 0;
    let look = Take { owed: 9, ..Take::nothing() };
    let mut count = |taken: store::Taken| {
        owed = taken.owed.len();
        Changes::default()
    };
    bench.store.transact(&look, &mut count).unwrap();
    owed
}

fn a_lane_goes_to_the_next_in_the_commit_that_leaves_it(bench: Open<'_>) {
    let mut bench = bench(&[LANES]);
    let ([_, second, third], done) = three_in_a_lane(&mut bench);
    let waits = ClaimMany { tasks: vec!["t.work".into()], arriving: true, ..support::claim(5) };
    let mut step = bench.machine.step(&[done, Ask::Claim(waits).into()]);
    assert_eq!((holder(&bench), owes(&bench)), (Some(second), 0));
    let Ok(Output::Tasks(tasks)) = step.outcomes.remove(1) else { panic!("a claim is answered with tasks") };
    assert_eq!(tasks.iter().map(|task| task.row.id).collect::<Vec<_>>(), [second]);
    assert!(tasks[0].documents.payload.as_str().contains("lane"));
    let held = Hold { submission: Some(third), ..hold(1) };
    bench.machine.one(Ask::Hold(Box::new(held))).unwrap();
    bench.machine.step(&[Ask::Tell(second, support::done(tasks[0].token)).into()]);
    assert_eq!(
        (holder(&bench), owes(&bench)),
        (None, 1),
        "the one after a held one is found by the next look"
    );
    bench.machine.settle();
    assert_eq!((holder(&bench), owes(&bench)), (None, 0), "there is none");
}

fn a_lane_goes_to_whoever_joins_and_is_first(bench: Open<'_>) {
    let mut bench = bench(&[LANES]);
    let (_, done) = three_in_a_lane(&mut bench);
    let pipeline = bench.machine.pipelines.current().in_force("lanes").unwrap().clone();
    let mut application = support::application("");
    application.payload = Json::parse(&lane("a", "0")).unwrap();
    let joins = Ask::Submit(
        model::admit::admit(&pipeline, application, &mut model::schema::Fuel::whole()).unwrap().into(),
    )
    .into();
    let step = bench.machine.step(&[done, joins]);
    let joined = support::id_of(&step.outcomes[1]);
    assert_eq!((holder(&bench), owes(&bench)), (Some(joined), 0), "the smaller tie of the same moment");
    bench.machine.settle();
    assert_eq!((holder(&bench), owes(&bench)), (Some(joined), 0));
}

fn a_lane_is_owed_where_the_first_in_line_leaves_it(bench: Open<'_>) {
    let mut bench = bench(&[LANES]);
    let ([_, second, third], done) = three_in_a_lane(&mut bench);
    let (caller, action) = (model::Caller::new("ada", model::Role::Admin), "leave".into());
    let act = model::command::Act { caller, action, reason: None, data: None, to: None, if_match: None };
    bench.machine.step(&[done, Ask::Tell(second, model::Command::Act(act)).into()]);
    assert_eq!((holder(&bench), owes(&bench) > 0), (None, true), "who comes then is found by the next look");
    bench.machine.settle();
    assert_eq!((holder(&bench), owes(&bench)), (Some(third), 0));
}

fn an_older_arrival_never_displaces_a_holder(bench: Open<'_>) {
    let mut bench = bench(&[LANES]);
    bench.clock.advance(1_000);
    let holder = bench.machine.submit_to("lanes", &lane("a", "z"));
    bench.machine.submit_to("lanes", &lane("a", "a"));
    bench.machine.settle();
    let tasks = bench.machine.claim_task("t.work");
    assert_eq!((tasks.len(), tasks[0].row.id), (1, holder));
}

fn a_dead_letter_frees_its_lane_unless_it_blocks_it(bench: Open<'_>) {
    for (on_dead, freed) in [("free", true), ("block", false)] {
        let file = LANES
            .replace("tie = \"payload.tie\"", &format!("tie = \"payload.tie\", on_dead = \"{on_dead}\""));
        let mut bench = bench(&[&file]);
        let first = bench.machine.submit_to("lanes", &lane("a", "1"));
        let second = bench.machine.submit_to("lanes", &lane("a", "2"));
        bench.machine.settle();
        let token = bench.machine.claim_task("t.work")[0].token;
        let failure = model::submission::Failure { code: "broken".into(), message: String::new() };
        let fail = model::command::Fail { token, failure, retryable: false, after: None };
        bench.machine.one(Ask::Tell(first, Command::Fail(fail))).unwrap();
        bench.machine.settle();
        assert_eq!(bench.row(first).status, Status::Dead);
        assert_eq!(bench.state(second) == "WORK", freed, "{on_dead}");

        let redrive = || Command::Redrive(Redrive { caller: Caller::new("ada", Role::Admin), reason: None });
        let outcome = bench.machine.one(Ask::Tell(first, redrive()));
        bench.machine.settle();
        if freed {
            assert_eq!(outcome.unwrap_err().code, Code::LaneTaken);
            let token = bench.machine.claim_task("t.work")[0].token;
            bench.machine.finish(token, "end").unwrap();
            bench.machine.one(Ask::Tell(first, redrive())).unwrap();
        }
        assert_eq!(bench.machine.claim_task("t.work")[0].row.id, first);
        assert_eq!(bench.row(first).requeues, 1);
    }
}

const KEYED: &str = r#"
name = "keyed"
version = 1
title = "Keyed"
key = "payload.id"
on_duplicate = "queue"
start = "WORK"
[states.WORK]
task = "t.work"
on.done = "DONE"
actions.cancel = "GONE"
[states.DONE]
final = "success"
actions.again = "WORK"
[states.GONE]
final = "cancelled"
"#;

fn a_queued_duplicate_waits_visibly_and_enters_when_the_key_is_free(bench: Open<'_>) {
    let mut bench = bench(&[KEYED]);
    let ids: Vec<_> = (0..3).map(|_| bench.machine.submit_to("keyed", r#"{"id":"k"}"#)).collect();
    assert_eq!(bench.row(ids[1]).wait, Wait::Key);
    let tasks = bench.machine.claim_task("t.work");
    assert_eq!((tasks.len(), tasks[0].row.id), (1, ids[0]));
    bench.machine.act(ids[1], "cancel").unwrap();
    bench.machine.finish(tasks[0].token, "done").unwrap();
    let tasks = bench.machine.claim_task("t.work");
    assert_eq!((tasks.len(), tasks[0].row.id), (1, ids[2]), "the one that was cancelled is passed over");
}

fn an_ended_submission_goes_on_only_with_its_key(bench: Open<'_>) {
    let mut bench = bench(&[KEYED]);
    let first = bench.machine.submit_to("keyed", r#"{"id":"k"}"#);
    let token = bench.machine.claim_task("t.work")[0].token;
    bench.machine.finish(token, "done").unwrap();
    let second = bench.machine.submit_to("keyed", r#"{"id":"k"}"#);
    let refusal = bench.machine.act(first, "again").unwrap_err();
    assert_eq!(
        (refusal.code, &refusal.details["submission"]),
        (Code::DuplicateKey, &second.to_string().into())
    );
    let token = bench.machine.claim_task("t.work")[0].token;
    bench.machine.finish(token, "done").unwrap();
    bench.machine.act(first, "again").unwrap();
    assert_eq!((bench.row(first).status, bench.row(first).requeues), (Status::Open, 1));
}

/// The end before is paid for in the commit of the second one.
fn a_hold_that_ends_twice_lets_everything_go_on(bench: Open<'_>) {
    let mut bench = bench(&[support::WORK]);
    let held = Hold { pipeline: Some("work".into()), ..hold(1) };
    let place = || Input::from(Ask::Hold(Box::new(held.clone())));
    let end = || Input::from(Ask::Release(held.id.clone()));
    bench.machine.submit_to("work", r#"{"id":"a"}"#);
    bench.machine.step(&[place(), end(), place()]);
    let claim = Input::from(Ask::Claim(support::claim(1)));
    bench.machine.step(&[claim, end()]);
    bench.machine.settle();
    assert_eq!(bench.machine.claim_task("work.do").len(), 1);
}

fn a_hold_stops_leases_and_its_end_lets_them_go_on(bench: Open<'_>) {
    let mut bench = bench(&[support::WORK]);
    for n in 0..600 {
        bench.machine.submit_to("work", &format!(r#"{{"id":"{n}"}}"#));
    }
    let held = Hold { pipeline: Some("work".into()), ..hold(1) };
    bench.machine.one(Ask::Hold(Box::new(held.clone()))).unwrap();
    assert_eq!(bench.machine.claim_task("work.do").len(), 0);
    let late = bench.machine.submit_to("work", r#"{"id":"late"}"#);
    for _ in 0..7 {
        assert_eq!(bench.machine.claim_task("work.do").len(), 0, "arrivals join what is held");
    }
    assert!(bench.row(late).parked.is_some());
    let take = store::Take {
        ready: vec![store::Ready {
            tasks: vec!["work.do".into()],
            pipelines: vec![],
            labels: BTreeMap::new(),
            max: 10,
        }],
        ..store::Take::nothing()
    };
    let mut met = usize::MAX;
    bench
        .store
        .transact(&take, &mut |taken| {
            met = taken.ready[0].len();
            store::Changes::default()
        })
        .unwrap();
    assert_eq!(met, 0, "claims do not walk past held rows again and again");

    bench.machine.one(Ask::Release(held.id.clone())).unwrap();
    bench.machine.settle();
    let mut granted = 0;
    for _ in 0..8 {
        granted += bench.machine.claim_task("work.do").len();
    }
    assert_eq!(granted, 601);
}

fn holds_stack_and_expire(bench: Open<'_>) {
    let mut bench = bench(&[support::WORK]);
    let id = bench.machine.submit_to("work", r#"{"id":"a"}"#);
    let by_pipeline = Hold { pipeline: Some("work".into()), ..hold(1) };
    let soon = Time::from_millis(bench.row(id).created_at.millis() + 60_000);
    let by_submission = Hold { submission: Some(id), expires_at: Some(soon), ..hold(2) };
    bench.machine.one(Ask::Hold(Box::new(by_pipeline.clone()))).unwrap();
    bench.machine.one(Ask::Hold(Box::new(by_submission))).unwrap();
    assert_eq!(bench.machine.claim_task("work.do").len(), 0);
    bench.machine.one(Ask::Release(by_pipeline.id)).unwrap();
    bench.machine.settle();
    assert_eq!(bench.machine.claim_task("work.do").len(), 0, "the other still holds it");
    bench.clock.advance(60_000);
    bench.machine.settle();
    assert_eq!(bench.machine.claim_task("work.do").len(), 1);
    let deeds: Vec<_> = (1..).map_while(|no| administered(&bench, no)).collect();
    assert_eq!(deeds, ["hold-placed", "hold-placed", "hold-released", "hold-expired"]);
}

fn administered(bench: &support::bench::Bench, no: u64) -> Option<String> {
    let (_, leaf) = bench.store.act(engine::core::administered_series(), no).unwrap()?;
    match audit::leaf::Entry::read(&leaf).unwrap() {
        audit::leaf::Entry::Record(audit::leaf::Record::Administered(act)) => Some(act.deed.to_string()),
        other => panic!("{other:?}"),
    }
}

fn a_hold_never_stops_a_settlement(bench: Open<'_>) {
    let mut bench = bench(&[support::WORK]);
    let id = bench.machine.submit_to("work", r#"{"id":"a"}"#);
    let token = bench.machine.claim_task("work.do")[0].token;
    bench.machine.one(Ask::Hold(Box::new(Hold { submission: Some(id), ..hold(1) }))).unwrap();
    bench.machine.finish(token, "done").unwrap();
    assert_eq!(bench.row(id).status, Status::Succeeded);
}

const AMENDED: &str = r#"
name = "amended"
version = 1
title = "Amended"
key = "payload.id"
labels = { size = "payload.size" }
priority = "payload.rush ? -10 : 0"
amend = { fields = ["final", "size", "rush", "id"], role = "submitter", lease = "keep" }
start = "WORK"
[states.WORK]
task = "t.work"
on.done = [{ to = "DONE", when = "payload.final" }, "RESTING"]
[states.RESTING]
next = { to = "DONE", when = "payload.final" }
[states.DONE]
final = "success"
"#;

fn an_amendment_changes_allowed_fields_and_wakes_what_rests(bench: Open<'_>) {
    let mut bench = bench(&[AMENDED]);
    let id = bench
        .machine
        .submit_to("amended", r#"{"id":"k","final":false,"size":"s","rush":false,"n":9007199254740993}"#);
    let amend = |patch: &str, role| {
        let (caller, patch) = (Caller::new("bob", role), Json::parse(patch).unwrap());
        Ask::Tell(id, Command::Amend(Amend { caller, patch, if_match: None }))
    };
    let code = |bench: &mut Bench, ask: Ask| bench.machine.one(ask).unwrap_err().code;
    assert_eq!(code(&mut bench, amend(r#"{"n":1}"#, Role::Submitter)), Code::NotAmendable);
    assert_eq!(code(&mut bench, amend(r#"{"id":"other"}"#, Role::Submitter)), Code::NotAmendable);
    assert_eq!(code(&mut bench, amend(r#"{"final":true}"#, Role::Viewer)), Code::RoleRequired);
    assert_eq!(code(&mut bench, amend("[]", Role::Submitter)), Code::InvalidRequest);

    let token = bench.machine.claim_task("t.work")[0].token;
    bench.machine.one(amend(r#"{"size":"xl","rush":true}"#, Role::Submitter)).unwrap();
    let row = bench.row(id);
    assert_eq!((&*row.labels["size"], row.priority, row.payload_revision), ("xl", -10, 2));
    assert!(row.lease().is_some(), "the lease is kept");
    bench.machine.finish(token, "done").unwrap();
    assert_eq!(bench.state(id), "RESTING");
    bench.machine.one(amend(r#"{"final":true}"#, Role::Submitter)).unwrap();
    assert_eq!(bench.state(id), "DONE");
    let payload = bench.store.submission(id).unwrap().unwrap().1.payload;
    assert!(payload.as_str().contains("9007199254740993"), "{payload}");
    assert_eq!(code(&mut bench, amend(r#"{"final":false}"#, Role::Submitter)), Code::NotAmendable);
}

const KEPT: &str = r#"
name = "kept"
version = 1
title = "Kept"
start = "WORK"
[states.WORK]
task = "t.work"
on.done = "DONE"
[states.DONE]
final = "success"
retention = "1h"
actions.again = "WORK"
"#;

fn what_a_final_state_keeps_for_a_while_is_erased_after_it(bench: Open<'_>) {
    let mut bench = bench(&[KEPT]);
    let id = bench.machine.submit_to("kept", r#"{"secret":true}"#);
    let token = bench.machine.claim_task("t.work")[0].token;
    bench.machine.finish(token, "done").unwrap();
    let payload = |bench: &Bench| bench.store.submission(id).unwrap().unwrap().1.payload;
    bench.clock.advance(3_599_999);
    bench.machine.settle();
    assert!(!payload(&bench).is_null(), "an hour is an hour");
    bench.clock.advance(1);
    bench.machine.settle();
    assert!(payload(&bench).is_null());
    let history = bench.store.history(id, 0, 100).unwrap();
    assert_eq!(history.last().unwrap().event.leaf.kind.as_str(), "erased", "and the history says so");
    assert!(history[0].event.leaf.payload.is_some(), "what was proven of it stays");
    assert_eq!(bench.machine.act(id, "again").unwrap_err().code, Code::Erased);
}
