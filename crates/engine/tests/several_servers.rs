//! Several engines over one PostgreSQL: what one does, the others hear of and go on with.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::core::Granted;
use engine::{Engine, LogOptions, Options};
use model::Millis;
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
async fn version_retired_at_one_server_is_retired_at_all_of_them() {
    let settings = settings();
    let (one, two) = (trusting(&settings), trusting(&settings));
    let version = |number: u32| {
        let mut source = source();
        source.toml = source.toml.replace("version = 1", &format!("version = {number}"));
        source
    };
    one.apply(&version(1)).await.unwrap();
    one.submit("work", application("first"), None).await.unwrap();
    for number in 2..=4 {
        one.apply(&version(number)).await.unwrap();
    }
    let name = "work".into();
    until("the definitions are at the other server", || {
        two.pipelines().current().versions("work").count() == 4
    })
    .await;
    assert_eq!(two.retire_unused(&name, false).await.unwrap().retired, [2], "the others are of use");
    until("the server that applied it hears of it", || one.pipelines().current().is_retired("work", 2)).await;
    assert!(one.retire_version(&name, 2, false).await.unwrap().retired.is_empty(), "it is retired already");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_submitted_to_one_server_wakes_the_worker_who_waits_at_another() {
    let settings = settings();
    let (one, two) = (trusting(&settings), trusting(&settings));
    one.apply(&source()).await.unwrap();
    until("the definition is in force at the other server", || {
        two.pipelines().current().in_force("work").is_some()
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

fn named(settings: &Settings, name: &str) -> Engine {
    let options = Options { name: name.into(), ..Options::default() };
    Engine::start(Arc::new(PostgresStore::open(settings).unwrap()), &options).unwrap()
}

/// Lists the servers that are there, where they listen, and how many duties each has.
async fn seen(engine: &Engine) -> Vec<(String, String, usize)> {
    let servers = engine.servers().await.unwrap();
    let seen = servers
        .into_iter()
        .map(|report| (report.server.name.to_string(), report.server.address.clone(), report.duties.len()));
    seen.collect()
}

async fn sees(engine: &Engine, what: &str, holds: impl Fn(&[(String, String, usize)]) -> bool) {
    let holding = async {
        while !holds(&seen(engine).await) {
            tokio::time::sleep(MOMENT).await;
        }
    };
    let patience = tokio::time::timeout(PATIENCE, holding).await;
    assert!(patience.is_ok(), "never: {what}; seen: {:?}", seen(engine).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_see_each_other_and_a_duty_is_done_by_one() {
    let settings = settings();
    let (one, two) = (named(&settings, "one"), named(&settings, "two"));
    one.listens_at("127.0.0.1:1001");
    two.listens_at("127.0.0.1:1002");
    let duties = |seen: &[(String, String, usize)]| seen.iter().map(|(.., duties)| duties).sum::<usize>();
    for engine in [&one, &two] {
        sees(engine, "both with their addresses, and four duties", |seen| {
            let who: Vec<_> = seen.iter().map(|(name, address, _)| (&**name, &**address)).collect();
            who == [("one", "127.0.0.1:1001"), ("two", "127.0.0.1:1002")] && duties(seen) == 4
        })
        .await;
    }
    let asked = two.servers().await.unwrap().into_iter().filter(|report| report.asked);
    assert_eq!(asked.map(|report| report.server.name).collect::<Vec<_>>(), ["two".into()]);
    // One that stops is off the list at once, and its duties are taken over.
    one.drain().await;
    assert_eq!(seen(&two).await.len(), 1);
    sees(&two, "the other has all of them", |seen| duties(seen) == 4).await;
    two.drain().await;
}

#[tokio::test]
async fn server_over_a_store_of_its_own_is_the_only_one() {
    let (store, _) = support::memory();
    let engine = Engine::start(store, &Options { name: "me".into(), ..Options::default() }).unwrap();
    engine.listens_at("here");
    let servers = engine.servers().await.unwrap();
    assert!(servers[0].asked && servers.len() == 1);
    assert_eq!((&*servers[0].server.name, &*servers[0].server.address), ("me", "here"));
    assert_eq!(servers[0].duties.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_of_all_servers() {
    let settings = settings();
    let folder = tempfile::tempdir().unwrap();
    let log = LogOptions { every: Duration::from_millis(20), ..LogOptions::in_folder(folder.path()) };
    let options = Options { log: Some(log), ..Options::default() };
    // Only one of them publishes the log.
    let one = Engine::start(Arc::new(PostgresStore::open(&settings).unwrap()), &options).unwrap();
    let two = named(&settings, "two");
    one.apply(&source()).await.unwrap();
    one.submit("work", application("first"), None).await.unwrap();
    until("the definition is in force at the other server", || {
        two.pipelines().current().in_force("work").is_some()
    })
    .await;
    two.submit("work", application("second"), None).await.unwrap();
    for engine in [&one, &two] {
        let holding = async {
            loop {
                let flow = engine.flow().await.unwrap();
                let moves: u64 = flow.edges().iter().flat_map(|edge| edge.minutes.clone()).sum();
                let checkpoint = engine.checkpoint_at().await.unwrap();
                if moves == 2 && checkpoint.is_some_and(|at| engine.now().since(at) < Millis::from_secs(30)) {
                    break;
                }
                tokio::time::sleep(MOMENT).await;
            }
        };
        tokio::time::timeout(PATIENCE, holding)
            .await
            .expect("both servers tell of all moves, and of the checkpoint");
    }
    let finished = two.claim(claim(2), Duration::ZERO).await.unwrap();
    finish(&two, finished).await;
    one.drain().await;
    two.drain().await;
}
