//! The engine as its callers have it: many at once, waiting, stopping.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::support::wrapped::{Between, Wrapped};
use crate::support::{application, claim, done, memory, source};
use engine::core::Output;
use engine::{Condition, DutyReport, Engine, Options};
use model::Code;

async fn started() -> Engine {
    let (store, _) = memory();
    let engine = Engine::start(store, &Options::default()).unwrap();
    engine.apply(&source()).await.unwrap();
    engine
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_identical_submissions_at_once_give_one_id() {
    let engine = started().await;
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let engine = engine.clone();
            tokio::spawn(async move { engine.submit("work", application("same"), None).await.unwrap() })
        })
        .collect();
    let mut ids = Vec::new();
    let mut duplicates = 0;
    for task in tasks {
        let answered = task.await.unwrap();
        ids.push(answered.row.id);
        duplicates += usize::from(answered.duplicate);
    }
    ids.dedup();
    assert_eq!((ids.len(), duplicates), (1, 19));
}

#[tokio::test]
async fn a_waiting_claim_is_woken_by_work() {
    let engine = started().await;
    let waiting = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.claim(claim(1), Duration::from_secs(60)).await.unwrap() })
    };
    let submitted = engine.submit("work", application("a"), None).await.unwrap();
    let tasks = waiting.await.unwrap();
    assert_eq!(tasks[0].row.id, submitted.row.id);
    assert_eq!(tasks[0].documents.payload.as_str(), r#"{"id":"a"}"#);
}

#[tokio::test]
async fn a_claim_that_finds_nothing_ends_with_nothing() {
    let engine = started().await;
    assert!(engine.claim(claim(1), Duration::ZERO).await.unwrap().is_empty());
}

#[tokio::test]
async fn claims_do_not_wait_once_waiting_is_ended_and_still_look() {
    let engine = started().await;
    let hour = Duration::from_secs(3_600);
    let waiting = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.claim(claim(1), hour).await.unwrap() })
    };
    while engine.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    engine.end_waiting();
    assert!(waiting.await.unwrap().is_empty());
    assert!(engine.claim(claim(1), hour).await.unwrap().is_empty());
    engine.submit("work", application("a"), None).await.unwrap();
    assert_eq!(engine.claim(claim(1), hour).await.unwrap().len(), 1, "what is there is handed out");
}

#[tokio::test]
async fn a_drained_engine_has_done_what_was_asked_and_takes_no_more() {
    let engine = started().await;
    let asked: Vec<_> = (0..50)
        .map(|n| {
            let engine = engine.clone();
            tokio::spawn(async move { engine.submit("work", application(&n.to_string()), None).await })
        })
        .collect();
    let mut done = 0;
    for task in asked {
        done += u64::from(task.await.unwrap().is_ok());
    }
    assert_eq!(engine.drain().await, Condition::Drained);
    let count: u64 = engine.read(|store| store.counts()).await.unwrap().iter().map(|count| count.count).sum();
    assert_eq!(count, done);
    let refusal = engine.submit("work", application("late"), None).await.unwrap_err();
    assert_eq!(refusal.code, Code::Draining);
}

#[tokio::test]
async fn what_was_applied_is_in_force_after_a_restart() {
    let (store, _) = memory();
    let engine = Engine::start(store.clone(), &Options::default()).unwrap();
    engine.apply(&source()).await.unwrap();
    engine.submit("work", application("a"), None).await.unwrap();
    engine.drain().await;
    let engine = Engine::start(store, &Options::default()).unwrap();
    let tasks = engine.claim(claim(1), Duration::ZERO).await.unwrap();
    let outcome = engine.settle(tasks[0].token, done(tasks[0].token)).await.unwrap();
    assert!(matches!(outcome, Output::Settled { state, .. } if &*state == "DONE"));
}

#[tokio::test]
async fn an_unknown_pipeline_is_refused_with_those_there_are() {
    let engine = started().await;
    let refusal = engine.submit("werk", application("a"), None).await.unwrap_err();
    assert_eq!(refusal.code, Code::UnknownPipeline);
    assert!(refusal.message.contains("work"), "{}", refusal.message);
}

/// A read of running operations that hangs until it is let go.
#[derive(Debug, Default)]
struct Hanging {
    let_go: Arc<(Mutex<bool>, Condvar)>,
}

impl Between for Hanging {
    fn before_registry(&self, kind: &str) {
        if kind == engine::core::RUNNING {
            let (let_go, bell) = &*self.let_go;
            drop(bell.wait_while(let_go.lock().unwrap(), |let_go| !*let_go).unwrap());
        }
    }
}

async fn report(engine: &Engine, name: &str, wanted: impl Fn(&DutyReport) -> bool) {
    loop {
        if engine.duties().iter().any(|duty| duty.name == name && wanted(duty)) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duty_that_hangs_delays_nobody_and_is_seen() {
    let (inner, _) = memory();
    let hanging = Hanging::default();
    let let_go = hanging.let_go.clone();
    let engine = Engine::start(Arc::new(Wrapped { inner, between: hanging }), &Options::default()).unwrap();
    engine.apply(&source()).await.unwrap();
    report(&engine, "operations", |duty| duty.running_for.is_some()).await;
    report(&engine, "schedules", |duty| duty.passes >= 2).await;
    engine.submit("work", application("a"), None).await.unwrap();
    report(&engine, "operations", |duty| duty.running_for.is_some() && duty.last_good_ago.is_none()).await;
    *let_go.0.lock().unwrap() = true;
    let_go.1.notify_all();
    report(&engine, "operations", |duty| duty.passes >= 1 && duty.last_good_ago.is_some()).await;
    engine.drain().await;
}

#[tokio::test(start_paused = true)]
async fn an_engine_alone_over_its_store_says_goodbye_to_nobody() {
    let engine = started().await;
    let begun = tokio::time::Instant::now();
    engine.drain().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
