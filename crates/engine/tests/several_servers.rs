//! Several engines over one PostgreSQL: what one does, the others hear of and go on with.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::core::Granted;
use engine::{Engine, Options};
use store_postgres::{PostgresStore, Settings};
use support::{application, claim, done, source};

const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at whether something has come about.
const MOMENT: Duration = Duration::from_millis(20);

fn settings() -> Settings {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let url = std::env::var("MILEPOST_TEST_POSTGRES")
        .expect("MILEPOST_TEST_POSTGRES names a PostgreSQL server: run the tests through `cargo xtask test`");
    let no = NEXT.fetch_add(1, Ordering::SeqCst);
    Settings::new(url).schema(format!("engine_{}_{no}", std::process::id()))
}

/// An engine that never looks for work by itself: only a hint wakes those who wait.
fn trusting(settings: &Settings) -> Engine {
    let options = Options { claim_sweep: Some(Duration::from_secs(3_600)), ..Options::default() };
    Engine::start(Arc::new(PostgresStore::open(settings).unwrap()), &options).unwrap()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let holding = async {
        while !holds() {
            tokio::time::sleep(MOMENT).await;
        }
    };
    tokio::time::timeout(PATIENCE, holding).await.unwrap_or_else(|_| panic!("never: {what}"));
}

async fn finish(engine: &Engine, tasks: Vec<Granted>) {
    for task in tasks {
        engine.settle(task.token, done(task.token)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_submitted_to_one_server_wakes_the_worker_who_waits_at_another() {
    let settings = settings();
    let (one, two) = (trusting(&settings), trusting(&settings));
    one.apply(&source()).await.unwrap();
    until("the definition is in force at the other server", || {
        two.pipelines().current().latest("work").is_some()
    })
    .await;
    let mut no = 0;
    for _round in 0..5 {
        let mut waiting = {
            let two = two.clone();
            tokio::spawn(async move { two.claim(claim(100), PATIENCE).await.unwrap() })
        };
        // The first hints go unheard while nobody listens yet. Later ones are heard at once.
        let tasks = loop {
            no += 1;
            one.submit("work", application(&no.to_string()), None).await.unwrap();
            if let Ok(tasks) = tokio::time::timeout(Duration::from_secs(5), &mut waiting).await {
                break tasks.unwrap();
            }
        };
        assert!(!tasks.is_empty());
        finish(&two, tasks).await;
    }
    assert!(no < 15, "most hints are heard: {no} submissions for five rounds");
    one.drain().await;
    two.drain().await;
}
