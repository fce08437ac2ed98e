//! Operations: one deed for many submissions, each once, over restarts.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::bounds::OPERATIONS as OPERATIONS_BOUND;
use engine::core::{
    Ask, Asker, Deed, Input, OPERATIONS, Operation, OperationResult, OperationStatus, Output, RUNNING,
    results_of,
};
use engine::duty::{Duty, Housekeeping, Look, Operations};
use model::command::Finish;
use model::{Caller, Code, Command, Role, SubmissionId};
use store::Clock;
use support::bench::{Bench, Open, Promises, check, over_memory, over_sqlite, serve};
use support::loaded;

const PROMISES: Promises = &[
    ("an operation does every submission once, over restarts", an_operation_does_every_submission_once),
    ("a stopped operation stops", a_stopped_operation_stops),
    ("a dry run changes nothing and tells everything", a_dry_run_changes_nothing),
    ("a migration maps states and says who could not follow", a_migration_maps_states),
    ("an old operation is removed with its results", an_old_operation_is_removed),
    ("nobody runs more than their share, and owners have a reserve", nobody_runs_more_than_their_share),
];

#[test]
fn promises_hold_on_memory() {
    check(PROMISES, &over_memory);
}

#[test]
fn promises_hold_on_sqlite() {
    check(PROMISES, &over_sqlite);
}

const V1: &str = r#"
name = "versions"
version = 1
title = "Versions"
labels = { team = "payload.team" }
start = [{ to = "REST", when = "payload.rests" }, "WORK"]
[states.WORK]
task = "t.work"
on.done = "DONE"
[states.REST]
actions.end = "DONE"
[states.DONE]
final = "success"
"#;

fn operation(bench: &Bench, deed: Deed, dry_run: bool) -> Operation {
    Operation { dry_run, ..support::operation(bench.clock.now(), "versions", deed) }
}

fn end() -> Deed {
    Deed::Act { action: "end".into(), data: None, to: None }
}

fn kept(bench: &Bench, id: &str) -> Operation {
    let all = store::registry_all(&*bench.store, OPERATIONS).unwrap();
    let (_, body) = all.into_iter().find(|(name, _)| name == id).unwrap();
    serde_json::from_str(body.as_str()).unwrap()
}

fn results(bench: &Bench, id: &str) -> BTreeMap<String, OperationResult> {
    let all = store::registry_all(&*bench.store, &results_of(id)).unwrap();
    all.into_iter().map(|(name, body)| (name, serde_json::from_str(body.as_str()).unwrap())).collect()
}

fn crowd(bench: &mut Bench) -> (Vec<SubmissionId>, Vec<SubmissionId>) {
    let mut submit = |rests: bool, count: usize| {
        let payload = format!(r#"{{"rests":{rests},"team":"a"}}"#);
        (0..count).map(|_| bench.machine.submit_to("versions", &payload)).collect::<Vec<_>>()
    };
    (submit(true, 250), submit(false, 3))
}

fn an_operation_does_every_submission_once(open: Open<'_>) {
    let mut bench = open(&[V1]);
    let (resting, working) = crowd(&mut bench);
    let wanted = operation(&bench, end(), false);
    let id = wanted.id.clone();
    bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    for pass in 0..2 {
        let versions = bench.machine.pipelines.current();
        let now = bench.clock.now();
        let found = Operations
            .pass(Look { store: &*bench.store, versions: &versions, now, doubtful: false })
            .unwrap();
        assert!(found.again, "pass {pass}");
        // The same chunk twice, as when an answer was lost, and a restart in between.
        for _ in 0..2 {
            bench.machine.one(found.inputs[0].ask.clone()).unwrap();
            bench.machine.core = bench.machine.rebuilt(bench.store.clone());
        }
    }
    serve(&mut bench, &mut Operations);
    let operation = kept(&bench, &id);
    assert_eq!((operation.status, operation.found, operation.done), (OperationStatus::Done, 253, 250));
    assert_eq!(operation.refused, BTreeMap::from([("action-not-allowed".to_owned(), 3)]));
    let results = results(&bench, &id);
    assert_eq!(results.len(), 253);
    for id in &resting {
        assert_eq!((bench.row(*id).revision, bench.state(*id).as_str()), (2, "DONE"));
        assert_eq!(results[&id.to_string()].state.as_deref(), Some("DONE"));
    }
    for id in &working {
        assert_eq!(results[&id.to_string()].code.as_deref(), Some("action-not-allowed"));
    }
    assert!(bench.store.registry(RUNNING, "", 10).unwrap().is_empty());
}

fn a_stopped_operation_stops(open: Open<'_>) {
    let mut bench = open(&[V1]);
    let (resting, _) = crowd(&mut bench);
    let wanted = operation(&bench, end(), false);
    let id = wanted.id.clone();
    bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    let versions = bench.machine.pipelines.current();
    let look = Look { store: &*bench.store, versions: &versions, now: bench.clock.now(), doubtful: false };
    let chunk = Operations.pass(look).unwrap().inputs.remove(0);
    bench.machine.one(Ask::Stop(id.clone())).unwrap();
    bench.machine.one(chunk).unwrap();
    serve(&mut bench, &mut Operations);
    assert_eq!(kept(&bench, &id).status, OperationStatus::Stopped);
    assert!(resting.iter().all(|id| bench.state(*id) == "REST"), "not even the chunk that was under way");
    assert_eq!(bench.machine.one(Ask::Stop(id)).unwrap_err().code, Code::OperationOver);
    assert_eq!(bench.machine.one(Ask::Stop("none".into())).unwrap_err().code, Code::UnknownOperation);
}

fn nobody_runs_more_than_their_share(open: Open<'_>) {
    let mut bench = open(&[V1]);
    let mut start = |who: &str, owner: bool| {
        let by = Caller::new(who, Role::Admin);
        let id = engine::clock::fresh_id().to_string().into();
        let wanted = Operation { id, by: by.clone(), ..operation(&bench, end(), false) };
        let asker = if owner { Asker::owner(by) } else { Asker::sharing(by) };
        let start = Input::from(Ask::Start(Box::new(wanted.clone()))).by(asker);
        bench.machine.one(start).map(|_| wanted.id).map_err(|refusal| refusal.code)
    };
    let first: Vec<_> = (0..OPERATIONS_BOUND.each).map(|_| start("ada", false).unwrap()).collect();
    assert_eq!(start("ada", false).unwrap_err(), Code::TooLarge);
    for who in ["bob", "cleo", "dora"] {
        (0..OPERATIONS_BOUND.each).for_each(|_| drop(start(who, false).unwrap()));
    }
    assert_eq!(start("eve", false).unwrap_err(), Code::TooLarge, "the rest is reserved");
    (0..OPERATIONS_BOUND.reserve).for_each(|_| drop(start("root", true).unwrap()));
    assert_eq!(start("root", true).unwrap_err(), Code::TooLarge);
    bench.machine.one(Ask::Stop(first[0].clone())).unwrap();
    bench.machine.one(Ask::Stop(first[1].clone())).unwrap();
    while !bench.store.registry(RUNNING, "", 1).unwrap().is_empty() {
        serve(&mut bench, &mut Operations);
    }
    let started = bench.store.registry("operations-started", "", 10).unwrap();
    assert_eq!(started[0].1.as_str(), "{}", "what has ended is nobody's share");
}

fn a_dry_run_changes_nothing(open: Open<'_>) {
    let mut bench = open(&[V1]);
    let (resting, _) = crowd(&mut bench);
    let wanted = operation(&bench, end(), true);
    let id = wanted.id.clone();
    bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    serve(&mut bench, &mut Operations);
    let operation = kept(&bench, &id);
    assert_eq!((operation.done, operation.refused.len()), (250, 1));
    assert!(resting.iter().all(|id| bench.state(*id) == "REST" && bench.row(*id).revision == 1));
    assert!(results(&bench, &id).values().any(|result| result.state.as_deref() == Some("DONE")));
}

fn a_migration_maps_states(open: Open<'_>) {
    let mut bench = open(&[V1]);
    let (resting, working) = crowd(&mut bench);
    let leased = bench.machine.claim_task("t.work");
    let v2 = V1
        .replace("version = 1", "version = 2")
        .replace("REST", "LOUNGE")
        .replace("team = \"payload.team\"", "team = \"payload.team + '!'\"")
        .replace("task = \"t.work\"", "task = \"t.new\"");
    bench.machine.one(Ask::apply(Arc::new(loaded(&v2)))).unwrap();
    let map = BTreeMap::from([("REST".into(), "LOUNGE".into())]);
    let wanted = operation(&bench, Deed::Migrate { version: 2, map }, false);
    let id = wanted.id.clone();
    bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    serve(&mut bench, &mut Operations);
    let operation = kept(&bench, &id);
    assert_eq!((operation.done, operation.refused["not-migratable"]), (250, 3), "a worker has the others");
    let row = bench.row(resting[0]);
    assert_eq!((row.version, &*row.state, &*row.labels["team"]), (2, "LOUNGE", "a!"));
    bench.machine.act(resting[0], "end").unwrap();
    let found = bench.store.find(&store::Query {
        labels: BTreeMap::from([("team".into(), "a!".into())]),
        limit: 1_000,
        ..Default::default()
    });
    assert_eq!(found.unwrap().rows.len(), 250, "it is found under what it is called now");
    let task = leased.iter().find(|task| task.row.id == working[0]).unwrap();
    let finish = Finish {
        token: task.token,
        outcome: "done".into(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    bench.machine.one(Ask::Tell(working[0], Command::Finish(finish))).unwrap();
    let unknown = Deed::Migrate { version: 9, map: BTreeMap::new() };
    let unknown = asked(&bench, unknown);
    assert_eq!(bench.machine.one(unknown).unwrap_err().code, Code::UnknownVersion);
}

fn asked(bench: &Bench, deed: Deed) -> Ask {
    Ask::Start(Box::new(operation(bench, deed, false)))
}

fn an_old_operation_is_removed(open: Open<'_>) {
    let mut bench = open(&[V1]);
    crowd(&mut bench);
    let wanted = operation(&bench, end(), true);
    let id = wanted.id.clone();
    bench.machine.one(Ask::Start(Box::new(wanted))).unwrap();
    serve(&mut bench, &mut Operations);
    let mut housekeeping = Housekeeping::default();
    serve(&mut bench, &mut housekeeping);
    assert_eq!(results(&bench, &id).len(), 253, "not before its time");
    bench.clock.advance(30 * 24 * 3_600_000);
    serve(&mut bench, &mut housekeeping);
    serve(&mut bench, &mut housekeeping);
    assert!(results(&bench, &id).is_empty());
    assert!(store::registry_all(&*bench.store, OPERATIONS).unwrap().is_empty());
}

#[test]
fn an_operation_is_answered_as_it_was_asked() {
    let mut bench = over_memory(&[V1]);
    let ask = asked(&bench, end());
    let Ok(Output::Operation(operation)) = bench.machine.one(ask) else { panic!("it was not started") };
    assert_eq!((operation.started_at, operation.found), (bench.clock.now(), 0));
}
