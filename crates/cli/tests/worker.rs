//! The worker loop against the real server.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::common::Server;
use client::{Client, Failure, Outcome, Rest, Task, Worker};
use model::event::Kind;
use model::{Json, Status, SubmissionId};
use serde_json::json;
use tokio::sync::{Barrier, Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use wire::api::{ActBody, FinishBody, SubmissionView, SubmitBody};

const PIPELINE: &str = r#"
name = "work"
version = 1
start = "WORK"
[states.WORK]
task = "test.work"
lease = "30s"
retry = { times = 1, delay = "1ms" }
on.done = "DONE"
actions.cancel = "CANCELLED"
[states.DONE]
final = "success"
[states.CANCELLED]
final = "cancelled"
"#;

/// Longer than anything here takes, even on a busy machine; shorter than somebody's patience.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

fn server() -> Server {
    Server::start(&[("work.toml", PIPELINE)])
}

/// For tests that wait for a renewal or for the end of a lease: soon, but not before a busy machine has had time to renew.
fn server_with_short_leases() -> Server {
    Server::start(&[("work.toml", &PIPELINE.replace("30s", "9s"))])
}

async fn submit(client: &Client) -> SubmissionId {
    let body = SubmitBody { payload: Json::from(json!({ "n": 1 })), ..SubmitBody::default() };
    client.submit("work", &body, None).await.expect("it is taken").id
}

async fn rested(client: &Client, id: SubmissionId) -> SubmissionView {
    let waited = client.wait(id, PATIENCE).await.expect("the server answers");
    assert_ne!(waited.rest, Rest::Deadline, "{:?}", waited.submission);
    waited.submission
}

async fn kinds(client: &Client, id: SubmissionId) -> Vec<Kind> {
    let page = client.events(id, 0).await.expect("the server answers");
    page.events.into_iter().map(|event| event.kind).collect()
}

/// A worker in the background, and what stops it.
struct Working {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), client::Error>>,
}

fn work(worker: Worker) -> Working {
    let (stop, stopped) = oneshot::channel::<()>();
    let ended = tokio::spawn(worker.run(async {
        let _ = stopped.await;
    }));
    Working { stop, ended }
}

impl Working {
    async fn stop(self) {
        drop(self.stop);
        self.ended.await.expect("the loop does not panic").expect("the worker is let in");
    }
}

#[tokio::test]
async fn output_and_result_reach_the_submission() {
    let server = server();
    let client = server.client();
    let working = work(Worker::new(client.clone(), "w").task("test.work", |task: Task| async move {
        let payload: serde_json::Value = task.payload()?;
        Ok(Outcome::new("done").output(json!({ "seen": payload["n"] })).result(json!("fine")))
    }));
    let id = submit(&client).await;
    let submission = rested(&client, id).await;
    assert_eq!(submission.status, Status::Succeeded);
    let outputs = submission.outputs.expect("documents are there");
    assert_eq!(outputs["WORK"], Json::from(json!({ "seen": 1 })));
    assert_eq!(submission.result, Some(Json::from(json!("fine"))));
    working.stop().await;
}

#[tokio::test]
async fn a_panic_is_a_failure_that_is_tried_again() {
    let server = server();
    let client = server.client();
    let working = work(Worker::new(client.clone(), "w").task("test.work", |task: Task| async move {
        assert!(task.attempt > 1, "not at first");
        Ok(Outcome::new("done"))
    }));
    let id = submit(&client).await;
    assert_eq!(rested(&client, id).await.status, Status::Succeeded);
    assert_eq!(kinds(&client, id).await, [Kind::Submitted, Kind::Retried, Kind::Moved]);
    working.stop().await;
}

#[tokio::test]
async fn failures_use_up_their_tries_unless_they_are_permanent() {
    let server = server();
    let client = server.client();
    let tries = Arc::new(AtomicU32::new(0));
    let counted = tries.clone();
    let working = work(Worker::new(client.clone(), "w").task("test.work", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Err(Failure::new("no-luck", "not today")) }
    }));
    let id = submit(&client).await;
    let dead = rested(&client, id).await;
    assert_eq!((dead.status, &*dead.error.expect("an error").code), (Status::Dead, "no-luck"));
    assert_eq!(tries.load(Ordering::SeqCst), 2);
    working.stop().await;

    let working = work(
        Worker::new(client.clone(), "w")
            .task("test.work", |_| async { Err(Failure::new("never", "it cannot be done").permanent()) }),
    );
    let id = submit(&client).await;
    assert_eq!(rested(&client, id).await.status, Status::Dead);
    assert_eq!(kinds(&client, id).await, [Kind::Submitted, Kind::Died]);
    working.stop().await;
}

#[tokio::test]
async fn an_outcome_that_is_not_declared_is_a_failure_for_people() {
    let server = server();
    let client = server.client();
    let working =
        work(Worker::new(client.clone(), "w").task("test.work", |_| async { Ok(Outcome::new("donne")) }));
    let id = submit(&client).await;
    let dead = rested(&client, id).await;
    assert_eq!((dead.status, &*dead.error.expect("an error").code), (Status::Dead, "unknown-outcome"));
    working.stop().await;
}

#[tokio::test]
async fn a_snooze_costs_no_attempt() {
    let server = server();
    let client = server.client();
    let calls = Arc::new(AtomicU32::new(0));
    let working = work(Worker::new(client.clone(), "w").task("test.work", move |task: Task| {
        let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            assert_eq!(task.attempt, 1);
            Ok(if first { Outcome::snooze(Duration::from_millis(1)) } else { Outcome::new("done") })
        }
    }));
    let id = submit(&client).await;
    assert_eq!(rested(&client, id).await.status, Status::Succeeded);
    assert_eq!(kinds(&client, id).await, [Kind::Submitted, Kind::Moved]);
    working.stop().await;
}

async fn heard(hears: &mut mpsc::UnboundedReceiver<&'static str>) -> Option<&'static str> {
    let patience = PATIENCE.expect("there is one");
    tokio::time::timeout(patience, hears.recv()).await.expect("something is said in time")
}

/// A handler that says it has begun and goes on until it is told, or is dropped.
fn held(
    begun: &mpsc::UnboundedSender<&'static str>,
    go: &Arc<Notify>,
) -> impl Fn(Task) -> Held + Send + Sync + 'static {
    let (begun, go) = (begun.clone(), go.clone());
    move |_| {
        let (said, go) = (begun.clone(), go.clone());
        Box::pin(async move {
            let _dropped = OnDrop(said.clone());
            let _ = said.send("begun");
            go.notified().await;
            Ok(Outcome::new("done"))
        })
    }
}

type Held = std::pin::Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;

struct OnDrop(mpsc::UnboundedSender<&'static str>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[tokio::test]
async fn a_lease_is_kept_as_long_as_its_handler_runs() {
    let server = server_with_short_leases();
    let client = server.client();
    let (begun, mut hears) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let working = work(Worker::new(client.clone(), "w").task("test.work", held(&begun, &go)));
    let id = submit(&client).await;
    assert_eq!(heard(&mut hears).await, Some("begun"));
    let expires_at = |submission: &SubmissionView| submission.lease.as_ref().map(|lease| lease.expires_at);
    let first = expires_at(&client.submission(id).await.expect("it is there")).expect("it is leased");
    let deadline = tokio::time::Instant::now() + PATIENCE.expect("there is one");
    let mut renewed = std::collections::BTreeSet::from([first]);
    // Renewed, and more than once.
    while renewed.len() < 3 {
        assert!(tokio::time::Instant::now() < deadline, "the lease was not renewed");
        let submission = client.submission(id).await.expect("it is there");
        renewed.insert(expires_at(&submission).expect("it stays leased"));
        tokio::task::yield_now().await;
    }
    go.notify_one();
    assert_eq!(rested(&client, id).await.status, Status::Succeeded);
    assert_eq!(kinds(&client, id).await, [Kind::Submitted, Kind::Moved]);
    working.stop().await;
}

#[tokio::test]
async fn a_handler_is_stopped_when_its_lease_is_lost() {
    let server = server_with_short_leases();
    let client = server.client();
    let (begun, mut hears) = mpsc::unbounded_channel();
    let working = work(Worker::new(client.clone(), "w").task("test.work", held(&begun, &Arc::default())));
    let id = submit(&client).await;
    assert_eq!(heard(&mut hears).await, Some("begun"));
    client
        .act(id, "cancel", &ActBody::default(), &client::ActOptions::default())
        .await
        .expect("it can be cancelled");
    assert_eq!(heard(&mut hears).await, Some("dropped"));
    assert_eq!(rested(&client, id).await.status, Status::Cancelled);
    assert_eq!(kinds(&client, id).await, [Kind::Submitted, Kind::Moved]);
    working.stop().await;
}

#[tokio::test]
async fn a_task_outlives_a_crash_of_the_server() {
    let mut server = server();
    let client = server.client();
    let (begun, mut hears) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let working = work(Worker::new(client.clone(), "w").task("test.work", held(&begun, &go)).concurrency(2));
    let id = submit(&client).await;
    assert_eq!(heard(&mut hears).await, Some("begun"));
    // Its answer finds nobody at first, and the claim that waits beside it is cut off.
    server.child.kill().and_then(|()| server.child.wait()).expect("it ends");
    go.notify_one();
    assert_eq!(heard(&mut hears).await, Some("dropped"));
    server.restart();
    assert_eq!(rested(&client, id).await.status, Status::Succeeded);
    assert_eq!(kinds(&client, id).await, [Kind::Submitted, Kind::Moved]);
    // And the worker goes on.
    go.notify_one();
    let next = submit(&client).await;
    assert_eq!(rested(&client, next).await.status, Status::Succeeded);
    working.stop().await;
}

#[tokio::test]
async fn a_worker_that_is_to_stop_ends_what_it_has_begun() {
    let server = server();
    let client = server.client();
    let (begun, mut hears) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let working = work(Worker::new(client.clone(), "w").task("test.work", held(&begun, &go)));
    let id = submit(&client).await;
    assert_eq!(heard(&mut hears).await, Some("begun"));
    let next = submit(&client).await;
    let stopping = tokio::spawn(working.stop());
    go.notify_one();
    stopping.await.expect("it stops");
    assert_eq!(client.submission(id).await.expect("it is there").status, Status::Succeeded);
    let waiting = client.submission(next).await.expect("it is there");
    assert!(waiting.status == Status::Open && waiting.lease.is_none(), "{waiting:?}");
}

#[tokio::test]
async fn no_more_tasks_run_than_there_are_slots() {
    let server = server();
    let client = server.client();
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let seen = most.clone();
    // Nobody ends alone: one at a time would never end.
    let pair = Arc::new(Barrier::new(2));
    let handler = move |_: Task| {
        let (running, most, pair) = (running.clone(), most.clone(), pair.clone());
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            pair.wait().await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(Outcome::new("done"))
        }
    };
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(submit(&client).await);
    }
    let working = work(Worker::new(client.clone(), "w").task("test.work", handler).concurrency(3));
    for id in ids {
        assert_eq!(rested(&client, id).await.status, Status::Succeeded);
    }
    let most = seen.load(Ordering::SeqCst);
    assert!((2..=3).contains(&most), "{most}");
    working.stop().await;
}

#[tokio::test]
async fn a_worker_without_the_right_ends_instead_of_asking_forever() {
    let server = server();
    let client = server.client();
    // No worker's name is so long.
    let worker =
        Worker::new(client, "w".repeat(1_000)).task("test.work", |_| async { Ok(Outcome::new("done")) });
    let refused = worker.run(std::future::pending()).await.expect_err("it is refused");
    assert_eq!(refused.code(), Some("invalid-request"));
    let none = Worker::new(server.client(), "w").run(std::future::pending()).await;
    assert!(matches!(none, Err(client::Error::Setup(_))));
}

#[tokio::test]
async fn a_killed_workers_task_is_given_on_once_and_its_late_answer_is_refused() {
    let server = server_with_short_leases();
    let client = server.client();
    let id = submit(&client).await;

    let mut process = Command::new(std::env::current_exe().expect("the test's own binary"))
        .args(["--exact", "worker::worker_process", "--ignored", "--nocapture"])
        .env("WORKER_PROCESS_SERVER", &server.url)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut lines =
        BufReader::new(process.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    let token = lines.find_map(|line| line.split_once("has the lease ").map(|(_, token)| token.to_owned()));
    let token = token.expect("the process has claimed the task");
    process.kill().and_then(|()| process.wait()).expect("it ends");

    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let working = work(Worker::new(client.clone(), "second").task("test.work", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(Outcome::new("done")) }
    }));
    let submission = rested(&client, id).await;
    assert_eq!(submission.status, Status::Succeeded);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let events = client.events(id, 0).await.expect("it is there").events;
    let told: Vec<_> = events.iter().map(|event| (event.kind, &*event.actor.name)).collect();
    assert_eq!(told[1..], [(Kind::Crashed, "system"), (Kind::Moved, "second")]);

    let late = FinishBody {
        token,
        outcome: "done".to_owned(),
        output: None,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    };
    let answer = client.finish(vec![late]).await.expect("the server answers");
    let problem = answer.results[0].problem.as_ref().expect("it is refused");
    assert_eq!((answer.results[0].status, problem.code.as_str()), (409, "stale-lease"));
    assert_eq!(client.submission(id).await.expect("it is there").revision, submission.revision);
    working.stop().await;
}

/// A worker that never ends its task, for the test above to kill.
#[tokio::test]
#[ignore = "is no test: another test runs it as a process of its own"]
async fn worker_process() {
    let server =
        std::env::var("WORKER_PROCESS_SERVER").expect("the test that runs this says where the server is");
    let client = Client::new(&server, None).expect("the address is good");
    let worker = Worker::new(client, "first").task("test.work", |task: Task| async move {
        println!("has the lease {}", task.token);
        std::future::pending().await
    });
    worker.run(std::future::pending()).await.expect("the worker is let in");
}
