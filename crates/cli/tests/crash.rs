//! `kill -9` of the real server under load, again and again on the same folder: what was acknowledged is there, once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use audit::follow::TileStore as _;
use audit::note::Trust;
use audit::verify::{LogOptions, verify_log};
use client::{Client, Retries};
use engine::SystemClock;
use engine::log::{KeyFile, StoreTiles};
use model::event::Kind;
use model::{Json, Millis, SubmissionId};
use store::{Query, Store};
use store_sqlite::SqliteStore;
use wire::api::{ClaimBody, FinishBody, SubmitBody};

const ROUNDS: u64 = 12;

const PIPELINE: &str = r#"
name = "steps"
version = 1
title = "Two steps"
key = "string(payload.n)"
start = "FIRST"

[defaults]
lease = "1h"

[states.FIRST]
task = "steps.first"
on.done = "SECOND"

[states.SECOND]
task = "steps.second"
on.done = "DONE"

[states.DONE]
final = "success"
"#;

/// The changes that the server has acknowledged, over all its lives.
#[derive(Debug, Default)]
struct Acknowledged {
    submitted: Mutex<HashMap<u64, SubmissionId>>,
    moved: Mutex<Vec<(SubmissionId, String)>>,
    count: AtomicU64,
    next: AtomicU64,
}

struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(data: &Path, pipelines: &Path) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_milepost"))
            .args(["serve", "--listen", "127.0.0.1:0", "--checkpoint-every", "5ms", "--data"])
            .arg(data)
            .arg("--pipelines")
            .arg(pipelines)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("the server says where it listens").unwrap();
            if let Some((_, url)) = line.split_once("listening on ") {
                break url.trim().to_owned();
            }
        };
        // The rest of what it says is read, so that it never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Server { process, url }
    }

    fn client(&self) -> Client {
        let once = Retries { times: 0, ..Retries::default() };
        Client::new(&self.url, None).unwrap().with_retries(once)
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Submits one after the other until the server is gone. A number without an answer is sent again in the next life.
async fn submitter(client: Client, seen: Arc<Acknowledged>, mut unanswered: Option<u64>) -> Option<u64> {
    loop {
        let n = unanswered.take().unwrap_or_else(|| seen.next.fetch_add(1, Ordering::SeqCst));
        let payload = Json::parse(&format!(r#"{{"n":{n}}}"#)).unwrap();
        let body = SubmitBody { payload, ..SubmitBody::default() };
        match client.submit("steps", &body, Some(&format!("n-{n}"))).await {
            Ok(answer) => {
                seen.submitted.lock().unwrap().insert(n, answer.id);
                seen.count.fetch_add(1, Ordering::SeqCst);
            }
            Err(_) => return Some(n),
        }
    }
}

async fn worker(client: Client, seen: Arc<Acknowledged>, name: String) {
    let claim = ClaimBody {
        worker: name,
        tasks: vec!["steps.first".to_owned(), "steps.second".to_owned()],
        max: Some(8),
        wait: Some(Millis::from_secs(20)),
        ..ClaimBody::default()
    };
    while let Ok(claimed) = client.claim(&claim).await {
        let finish = claimed.tasks.iter().map(|task| FinishBody {
            token: task.token.clone(),
            outcome: "done".to_owned(),
            output: None,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        });
        let Ok(answer) = client.finish(finish.collect()).await else { return };
        for (task, result) in claimed.tasks.iter().zip(answer.results) {
            assert_eq!(result.status, 200, "{:?}", result.problem);
            seen.moved.lock().unwrap().push((task.submission, result.state.unwrap().to_string()));
            seen.count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// One life: load until enough was acknowledged, then the kill, in the middle of everything.
async fn live(
    data: &Path,
    pipelines: &Path,
    seen: &Arc<Acknowledged>,
    left: Vec<Option<u64>>,
    acks: u64,
) -> Vec<Option<u64>> {
    let server = Server::start(data, pipelines);
    let goal = seen.count.load(Ordering::SeqCst) + acks;
    let submitters: Vec<_> =
        left.into_iter().map(|n| tokio::spawn(submitter(server.client(), seen.clone(), n))).collect();
    let workers: Vec<_> =
        (0..4).map(|n| tokio::spawn(worker(server.client(), seen.clone(), format!("w{n}")))).collect();
    while seen.count.load(Ordering::SeqCst) < goal {
        tokio::task::yield_now().await;
    }
    server.kill();
    let mut unanswered = Vec::new();
    for submitter in submitters {
        unanswered.push(submitter.await.unwrap());
    }
    for worker in workers {
        worker.await.unwrap();
    }
    unanswered
}

/// Compares what is on disk with what was acknowledged.
fn check(data: &Path, seen: &Acknowledged) {
    let store = SqliteStore::open(data, Arc::new(SystemClock::new())).unwrap();
    let mut rows = BTreeMap::new();
    let mut query = Query { limit: 1000, ..Query::default() };
    loop {
        let page = store.find(&query).unwrap();
        query.after = page.rows.last().map(|row| row.id);
        rows.extend(page.rows.into_iter().map(|row| (row.id, row)));
        if !page.more {
            break;
        }
    }
    let counted: u64 = store.counts().unwrap().iter().map(|count| count.count).sum();
    assert_eq!(counted, rows.len() as u64, "counters equal a recount");

    let mut numbers = HashSet::new();
    let mut moves = HashSet::new();
    let mut events = 0;
    for (id, row) in &rows {
        let (_, documents) = store.submission(*id).unwrap().unwrap();
        assert!(numbers.insert(documents.payload.as_str().to_owned()), "{} twice", documents.payload);
        let history = store.history(*id, 0, 1000).unwrap();
        assert_eq!(history.len() as u64, row.revision);
        events += history.len() as u64;
        let mut replayed = None;
        for recorded in &history {
            let leaf = &recorded.event.leaf;
            if leaf.kind == Kind::Moved {
                assert!(moves.insert((*id, leaf.to.to_string())), "{id} moved to {} twice", leaf.to);
            }
            replayed = Some(model::evolve(replayed, &recorded.event));
        }
        assert_eq!(replayed.unwrap().state, row.state);
    }
    // The acts of the definition and of the built-in one have the first positions.
    assert_eq!(store.leaves(events, 10).unwrap().leaves.len(), 2, "positions are dense");
    check_log(data, &store);

    for (n, id) in &*seen.submitted.lock().unwrap() {
        assert!(rows.contains_key(id), "submission {n} was acknowledged and is gone");
        assert!(numbers.contains(&format!(r#"{{"n":{n}}}"#)));
    }
    for moved in &*seen.moved.lock().unwrap() {
        assert!(moves.contains(moved), "the move {moved:?} was acknowledged and is gone");
    }
}

/// Whatever was being published when the end came, what is published verifies.
fn check_log(data: &Path, store: &SqliteStore) {
    let tiles = StoreTiles(store);
    let Some(checkpoint) = tiles.checkpoint().unwrap() else { return };
    let (keys, _) = KeyFile::open(&data.join("log.key"), None).unwrap();
    let trust = Trust { keys: keys.verifiers().unwrap(), policy: None };
    let report = verify_log(&tiles, &checkpoint, &trust, &LogOptions::default());
    let report = report.unwrap_or_else(|finding| panic!("{finding}"));
    PUBLISHED.fetch_max(report.checkpoint.checkpoint.size, Ordering::SeqCst);
}

/// The size of the log that was verified last.
static PUBLISHED: AtomicU64 = AtomicU64::new(0);

#[test]
fn nothing_acknowledged_is_lost_or_done_twice_when_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (data, pipelines) = (folder.path().join("data"), folder.path().join("pipelines"));
    std::fs::create_dir_all(&pipelines).unwrap();
    std::fs::write(pipelines.join("steps.toml"), PIPELINE).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let seen = Arc::new(Acknowledged::default());
    let mut left = vec![None; 8];
    for round in 0..ROUNDS {
        // Never the same moment: from a handful of acknowledgements to hundreds.
        let acks = 1 + (round * round * 7 + round * 31) % 400;
        left = runtime.block_on(live(&data, &pipelines, &seen, left, acks));
        check(&data, &seen);
    }
    assert!(!seen.moved.lock().unwrap().is_empty(), "something was under way");
    assert!(PUBLISHED.load(Ordering::SeqCst) > 100, "the log went on over all lives");
}
