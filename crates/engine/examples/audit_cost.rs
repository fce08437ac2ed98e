//! What the audit log costs: the same load over SQLite with and without it, in turns, in one run.
//!
//! `cargo run --release -p milepost-engine --example audit_cost [SUBMISSIONS] [TURNS]`
#![allow(clippy::unwrap_used, reason = "a measurement that goes wrong has nothing to say")]

use std::sync::Arc;
use std::time::Duration;

use engine::core::ClaimMany;
use engine::{Engine, LogOptions, Options, SystemClock, clock};
use model::admit::Application;
use model::command::Finish;
use model::pipeline::Source;
use model::{Caller, Command, Json, Role};
use store_sqlite::SqliteStore;
use tokio::task::JoinSet;

const TASKS: usize = 5;
const SUBMITTERS: usize = 64;
const WORKERS: usize = 16;

fn pipeline() -> String {
    let mut text = "name = \"steps\"\nversion = 1\nstart = \"S1\"\n[defaults]\nlease = \"1h\"\n".to_owned();
    for n in 1..=TASKS {
        let next = if n == TASKS { "DONE".to_owned() } else { format!("S{}", n + 1) };
        text += &format!("[states.S{n}]\ntask = \"steps.s{n}\"\non.done = \"{next}\"\n");
    }
    text + "[states.DONE]\nfinal = \"success\"\n"
}

/// Walks so many submissions through; how many a second.
async fn rate(submissions: usize, logged: bool) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("data"), Arc::new(SystemClock::new())).unwrap();
    let log = logged.then(|| LogOptions::in_folder(folder.path()));
    let engine = Engine::start(Arc::new(store), &Options { log, ..Options::default() }).unwrap();
    engine.apply(&Source::new("steps.toml", pipeline())).await.unwrap();
    let begun = clock::instant();
    let mut all = JoinSet::new();
    for part in 0..SUBMITTERS {
        let engine = engine.clone();
        let count = submissions / SUBMITTERS + usize::from(part < submissions % SUBMITTERS);
        all.spawn(async move {
            for _ in 0..count {
                submit(&engine).await;
            }
        });
    }
    let left = Arc::new(std::sync::atomic::AtomicUsize::new(submissions * TASKS));
    for _ in 0..WORKERS {
        all.spawn(work(engine.clone(), left.clone()));
    }
    all.join_all().await;
    let took = begun.elapsed();
    engine.drain().await;
    submissions as f64 / took.as_secs_f64()
}

async fn submit(engine: &Engine) {
    let application = Application {
        caller: Caller::new("ada", Role::Admin),
        payload: Json::parse(r#"{"name":"a small document","n":1}"#).unwrap(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
        parent: None,
    };
    engine.submit("steps", application, None).await.unwrap();
}

async fn work(engine: Engine, left: Arc<std::sync::atomic::AtomicUsize>) {
    use std::sync::atomic::Ordering::SeqCst;
    let claim = ClaimMany {
        worker: "w".into(),
        tasks: (1..=TASKS).map(|n| format!("steps.s{n}").into()).collect(),
        pipelines: Vec::new(),
        labels: Default::default(),
        max: 32,
    };
    while left.load(SeqCst) > 0 {
        let granted = engine.claim(claim.clone(), Duration::from_millis(20)).await.unwrap();
        let mut settling = JoinSet::new();
        for task in granted {
            let (engine, left) = (engine.clone(), left.clone());
            settling.spawn(async move {
                let (token, outcome) = (task.token, "done".into());
                let output = Some(Json::parse(r#"{"score":80}"#).unwrap());
                let finish = Finish { token, outcome, output, result: None, children: Vec::new() };
                engine.settle(token, Command::Finish(finish)).await.unwrap();
                left.fetch_sub(1, SeqCst);
            });
        }
        settling.join_all().await;
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let (submissions, turns) = (arguments.next().unwrap_or(5_000), arguments.next().unwrap_or(5));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(rate(submissions / 5, true));
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        // Now one first, now the other: neither has the warmer disk.
        for logged in if turn % 2 == 0 { [false, true] } else { [true, false] } {
            let rate = runtime.block_on(rate(submissions, logged));
            println!("{} the log: {rate:.0} submissions/s", if logged { "with" } else { "without" });
            if logged { with.push(rate) } else { without.push(rate) }
        }
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (with, without) = (median(&mut with), median(&mut without));
    println!("median {with:.0} with, {without:.0} without: {:.3}", with / without);
}
