//! A store moved into another is the same store, however often the move was cut off.

use crate::support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::core::ClaimMany;
use engine::{Engine, Options, SystemClock};
use model::admit::{Application, Door};
use model::command::Finish;
use model::pipeline::Source;
use model::{Caller, Command, Json, Role};
use store::ManualClock;
use store::transfer::{Move, Moved, Progress, Transfer};
use store::{
    AnswerChange, Changes, Clock, Error, MemoryStore, Owed, OwedId, OwedTo, Received, RequestKey, Store,
    Take, Tile,
};
use store_conformance::{Differential, assert_same_store, differential};
use store_postgres::{PostgresStore, Settings};
use store_sqlite::SqliteStore;
use support::Session;

/// A store in a folder with a long random history: retired, erased and forgotten things included.
fn furnished(folder: &Path, clock: &ManualClock, seed: u64) -> SqliteStore {
    let store = SqliteStore::open(folder, Arc::new(clock.clone())).unwrap();
    let memory = MemoryStore::new(Arc::new(clock.clone()));
    let seen = differential(&memory, &store, &Differential { clock, seed, steps: 200 });
    assert!(seen.forgotten > 0 && seen.retirements > 0, "{seen:?}");
    let (id, body) = (store_conformance::sample::id, Json::parse("{}").unwrap());
    let owed = |no| Owed {
        id: OwedId { submission: id(1), revision: 99, no },
        to: OwedTo::Parked("h".into()),
        body: body.clone(),
    };
    let received = Received {
        id: id(500),
        submitter: "sql:ada".into(),
        pipeline: "alpha".into(),
        payload: "\u{1}\u{1} no json".to_owned(),
        key: None,
        priority: Some(-1),
        not_before: None,
        reason: Some("because".to_owned()),
    };
    let key = RequestKey { subject: "ada\u{1}".into(), route: "POST".into(), key: "\0".into() };
    let expires_at = clock.now().plus(model::Millis::from_secs(60));
    let answers = vec![AnswerChange { key, body: body.clone(), expires_at }];
    let tiles = vec![Tile { level: 0, index: 0, hashes: vec![7; 64] }];
    let (owed, received) = (vec![owed(2), owed(1)], vec![received]);
    let rest = Changes { owed, received, answers, tiles, ..Changes::default() };
    let mut rest = Some(rest);
    store.transact(&Take::nothing(), &mut |_| rest.take().unwrap()).unwrap();
    store
}

fn run(source: &dyn Transfer, target: &dyn Transfer, chunk: usize) -> Result<Moved, Error> {
    Move { source, target, chunk }.run(&mut |_| Ok(()))
}

fn postgres(settings: &Settings, clock: &ManualClock) -> PostgresStore {
    PostgresStore::open_with_clock(settings, Arc::new(clock.clone())).unwrap()
}

#[test]
fn a_store_is_the_same_after_it_was_moved_there_and_back() {
    for seed in 0..2 {
        let (clock, folder, back) =
            (ManualClock::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let source = furnished(folder.path(), &clock, seed);
        let settings = support::fresh();
        let moved = run(&source, &PostgresStore::open_to_move(&settings).unwrap(), 64).unwrap();
        assert!(moved.counts.iter().all(|(_, count)| *count > 0), "{moved:?}");
        let target = postgres(&settings, &clock);
        assert_same_store(&source, &target);
        let empty = SqliteStore::open_to_move(back.path(), Arc::new(clock.clone())).unwrap();
        let returned = run(&target, &empty, 17).unwrap();
        assert_eq!(moved, returned);
        assert_same_store(&source, &empty);
    }
}

#[test]
fn both_go_on_alike_after_the_move() {
    let (clock, folder) = (ManualClock::new(), tempfile::tempdir().unwrap());
    let source = furnished(folder.path(), &clock, 7);
    let settings = support::fresh();
    run(&source, &PostgresStore::open_to_move(&settings).unwrap(), 1_000).unwrap();
    let target = postgres(&settings, &clock);
    let last = |store: &dyn Store| {
        let events = vec![store_conformance::sample::submitted(9_999)];
        let mut changes = Some(Changes { events, ..Changes::default() });
        store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap()
    };
    assert_eq!(last(&source), last(&target), "positions go on");
    assert_same_store(&source, &target);
}

/// Cuts a move off after so many chunks, as a kill would.
fn cut_off(source: &dyn Transfer, settings: &Settings, after: usize) -> bool {
    let target = PostgresStore::open_to_move(settings).unwrap();
    let mut chunks = 0;
    let mut stop = |_: Progress| {
        chunks += 1;
        if chunks > after { Err(Error::unavailable("killed")) } else { Ok(()) }
    };
    Move { source, target: &target, chunk: 20 }.run(&mut stop).is_err()
}

#[test]
fn a_move_that_is_cut_off_again_and_again_comes_to_its_end() {
    let (clock, folder) = (ManualClock::new(), tempfile::tempdir().unwrap());
    let source = furnished(folder.path(), &clock, 4);
    let settings = support::fresh();
    let mut cuts = 0;
    while cut_off(&source, &settings, 9) {
        cuts += 1;
        let refused = PostgresStore::open(&settings).map(drop).unwrap_err();
        assert!(refused.to_string().contains("migrate-store"), "{refused}");
    }
    assert!(cuts > 3, "it was cut off in the middle of parts: {cuts}");
    assert_same_store(&source, &postgres(&settings, &clock));
}

#[test]
fn a_target_that_is_not_of_this_move_is_refused() {
    let (clock, folder) = (ManualClock::new(), tempfile::tempdir().unwrap());
    let source = furnished(folder.path(), &clock, 1);
    let settings = support::fresh();
    assert!(cut_off(&source, &settings, 5));
    let (other_folder, third) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let other = furnished(other_folder.path(), &clock, 2);
    let target = PostgresStore::open_to_move(&settings).unwrap();
    let refused = run(&other, &target, 10).unwrap_err();
    assert!(refused.to_string().contains("another move"), "{refused}");
    run(&source, &target, 10).unwrap();
    drop(target);
    let full = PostgresStore::open_to_move(&settings).unwrap();
    for (source, target) in [(&source as &dyn Transfer, &full as &dyn Transfer), (&full, &other)] {
        let refused = run(source, target, 10).unwrap_err();
        assert!(refused.to_string().contains("not empty"), "{refused}");
    }
    // A source that has gone on in between is not the one that was begun with.
    let half = SqliteStore::open_to_move(third.path(), Arc::new(clock.clone())).unwrap();
    let mut once = |_: Progress| Err(Error::unavailable("killed"));
    Move { source: &full, target: &half, chunk: 10 }.run(&mut once).unwrap_err();
    Session::open(&settings).run("DELETE FROM owed");
    assert!(run(&full, &half, 10).unwrap_err().to_string().contains("has changed since"));
}

#[test]
fn a_difference_is_found_before_the_target_can_be_opened() {
    let (clock, folder) = (ManualClock::new(), tempfile::tempdir().unwrap());
    let source = furnished(folder.path(), &clock, 3);
    let settings = support::fresh();
    let target = PostgresStore::open_to_move(&settings).unwrap();
    let session = Session::open(&settings);
    let mut spoil = |progress: Progress| {
        if progress.done == progress.total {
            session.run("UPDATE event SET detail = detail || ' ' WHERE no = 3");
        }
        Ok(())
    };
    let found = Move { source: &source, target: &target, chunk: 100 }.run(&mut spoil).unwrap_err();
    assert!(found.to_string().contains("records of event"), "{found}");
    assert!(PostgresStore::open(&settings).is_err());
}

const WORK: &str = r#"
name = "work"
version = 1
title = "Work"
key = "payload.id"
start = "DOING"
[states.DOING]
task = "work.do"
lease = "1h"
on.done = "DONE"
[states.DONE]
final = "success"
"#;

fn application(id: &str) -> Application {
    let payload = Json::parse(&format!(r#"{{"id":"{id}"}}"#)).unwrap();
    let caller = Caller::new("bob", Role::Submitter);
    Application {
        caller,
        payload,
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        door: Door::Api,
    }
}

fn claim() -> ClaimMany {
    let (pipelines, labels) = (Vec::new(), BTreeMap::new());
    ClaimMany {
        worker: "w1".into(),
        tasks: vec!["work.do".into()],
        pipelines,
        labels,
        max: 1,
        arriving: false,
        only: None,
        lease: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_on_after_the_move_leases_included() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(SqliteStore::open(folder.path(), Arc::new(SystemClock::new())).unwrap());
    let engine = Engine::start(sqlite.clone(), &Options::default()).unwrap();
    engine.apply(&Source::new("work.toml", WORK)).await.unwrap();
    for id in ["a", "b"] {
        engine.submit("work", application(id), None).await.unwrap();
    }
    let leased = engine.claim(claim(), Duration::ZERO).await.unwrap();
    engine.drain().await;

    let settings = support::fresh();
    let moving = settings.clone();
    let moved = tokio::task::spawn_blocking(move || {
        run(&*sqlite, &PostgresStore::open_to_move(&moving).unwrap(), 1_000).unwrap();
        Arc::new(PostgresStore::open(&moving).unwrap())
    });
    let engine = Engine::start(moved.await.unwrap(), &Options::default()).unwrap();
    let token = leased[0].token;
    let finish = Finish {
        token,
        outcome: "done".into(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    engine.settle(token, Command::Finish(finish)).await.unwrap();
    let rest = engine.claim(claim(), Duration::ZERO).await.unwrap();
    assert_eq!(rest.len(), 1, "the other one is still in its queue");
    let again = engine.submit("work", application("b"), None).await.unwrap();
    assert!(again.duplicate, "and has its key");
    let new = engine.submit("work", application("c"), None).await.unwrap();
    assert!(new.row.id > rest[0].row.id);
    engine.drain().await;
}
