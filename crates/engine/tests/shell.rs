//! The engine as its callers have it: many at once, waiting, stopping.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod support;

use std::time::Duration;

use engine::core::Output;
use engine::{Condition, Engine, Options};
use model::Code;
use support::{application, claim, done, memory, source};

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
