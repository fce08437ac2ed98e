use std::collections::BTreeSet;

use client::{Client, Filter, Page};
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::api::{SubmissionView, SubmitBody, SubmitMany};
use wire::{Status, SubmissionId};

use crate::common::Server;
use crate::notifications::receiver::Request;
use crate::push::consumer::{Consumer, Mood, header};

const JOBS: &str = r#"
name = "jobs"
version = 1
start = "DOING"
[states.DOING]
task = "jobs.do"
lease = "500ms"
timeout = "1m"
retry = { times = 1000, delay = "50ms" }
on.done = "DONE"
on.odd = "ODD"
[states.DONE]
final = "success"
[states.ODD]
final = "failure"
"#;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
const OLD_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=";

const DONE: Mood = Mood::Says(|_| ("acks", json!({ "outcome": "done" })));

/// A server that pushes the tasks of `jobs` to a consumer.
struct Pushing {
    server: Server,
    client: Client,
    _folder: TempDir,
}

impl Pushing {
    /// Starts one with these settings of the queue and of its consumer; `allowed` lets it go to this machine.
    fn start(consumer: &Consumer, queue: &str, own: &str, allowed: bool) -> Pushing {
        let folder = TempDir::new().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, format!("{SECRET}\n{OLD_SECRET}\n")).unwrap();
        let settings = format!(
            "[queue.work]\npipeline = 'jobs'\ntasks = ['jobs.do']\n{queue}\n[queue.work.consumer]\n\
             url = 'http://{}/tasks'\nsecret-file = '{}'\n{own}\n",
            consumer.address,
            secret.display()
        );
        let file = folder.path().join("milepost.toml");
        std::fs::write(&file, settings).unwrap();
        let mut args = vec!["--config".to_owned(), file.display().to_string()];
        args.extend(["--allow-port".to_owned(), consumer.address.port().to_string()]);
        if allowed {
            args.extend(["--allow-address".to_owned(), "127.0.0.0/8".to_owned()]);
        }
        let server = Server::start_with(&[("jobs.toml", JOBS)], &args, &[]);
        Pushing { client: server.client(), server, _folder: folder }
    }

    /// Submits so many, whose payloads say which they are.
    async fn submit(&self, count: usize) -> Vec<SubmissionId> {
        let one = |n: usize| SubmitBody { payload: json!({ "n": n }).into(), ..SubmitBody::default() };
        let many = SubmitMany { submissions: (0..count).map(one).collect() };
        let answer = self.client.submit_many("jobs", &many, None).await.unwrap();
        answer.results.into_iter().map(|result| result.submission.unwrap().id).collect()
    }

    async fn seen(&self, id: SubmissionId, condition: impl Fn(&SubmissionView) -> bool) -> SubmissionView {
        crate::notifications::deliveries::seen(&self.client, id, condition).await
    }

    /// Waits until an attempt has failed with this code.
    async fn failed(&self, id: SubmissionId, code: &str) -> SubmissionView {
        self.seen(id, |view| view.error.as_ref().is_some_and(|error| &*error.code == code)).await
    }

    async fn state(&self, id: SubmissionId, state: &str) -> SubmissionView {
        self.seen(id, |view| &*view.state == state).await
    }
}

fn is_signed(request: &Request) -> bool {
    request.verified(&[SECRET]).is_ok() && request.verified(&[OLD_SECRET]).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_in_any_mood_loses_nothing_and_is_seen_for_what_it_is() {
    let consumer = Consumer::start(Mood::Hangs).await;
    let own = "max-batch-size = 4\nmax-batch-timeout = '50ms'\nwithin = '2s'";
    let pushing = Pushing::start(&consumer, "", own, true);
    let ids = pushing.submit(6).await;
    pushing.failed(ids[0], "timeout").await;
    for (mood, code) in [
        (Mood::Fails(500), "http-500"),
        (Mood::Babbles, "garbled"),
        (Mood::Dies, "closed"),
        (Mood::Answers("{\"acks\": \"all\"}"), "invalid-answer"),
        (Mood::Answers("{}"), "unanswered"),
        (Mood::Answers(""), "invalid-answer"),
    ] {
        consumer.turn(mood);
        pushing.failed(ids[0], code).await;
    }
    consumer.turn(DONE);
    for id in &ids {
        let done = pushing.state(*id, "DONE").await;
        assert!(done.attempts.len() > 4, "every failure is an attempt: {done:?}");
        let events = pushing.client.events(*id, 0).await.unwrap().events;
        let crashed = events.iter().find(|event| event.kind.as_str() == "crashed");
        assert!(crashed.is_none(), "leases are renewed while a request runs: {crashed:?}");
        let last = events.last().unwrap();
        assert_eq!(&*last.actor.name, "queue:work/consumer");
    }
    let batches = consumer.batches();
    assert!(batches.iter().all(|batch| is_signed(&batch.request)));
    assert!(batches.iter().all(|batch| batch.messages().len() <= 4));
    let signed: BTreeSet<_> =
        batches.iter().map(|batch| header(&batch.request.headers, "webhook-id").to_owned()).collect();
    assert_eq!(signed.len(), batches.len(), "no batch has the name of another");
    let log = pushing.server.log.lock().unwrap().join("\n");
    let loud =
        |line: &&str| (line.contains("WARN") || line.contains("ERROR")) && !line.contains("no token yet");
    assert_eq!(log.lines().find(loud), None, "a consumer's troubles are the submission's to tell");
    assert!(!log.contains(&SECRET[6..20]), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_message_of_a_batch_is_settled_on_its_own() {
    let say: fn(&Value) -> (&'static str, Value) = |message| match message["body"]["payload"]["n"].as_u64() {
        Some(0) => ("acks", json!({ "outcome": "done", "output": { "pages": 12 } })),
        Some(1) => ("acks", json!({ "outcome": "odd" })),
        Some(2) => ("retries", json!({ "delay_seconds": 3600, "code": "busy", "message": "come\u{7} back" })),
        Some(3) => ("acks", Value::Null),
        _ => ("acks", json!({ "outcome": "no-such" })),
    };
    let consumer = Consumer::start(Mood::Says(say)).await;
    let queue = "body = 'job'\nmax-retries = 5\nretry-delay = ['2h', '3h']";
    // Nothing but a full batch goes before a minute is over.
    let own = "max-batch-size = 5\nmax-batch-timeout = '1m'";
    let pushing = Pushing::start(&consumer, queue, own, true);
    let ids = pushing.submit(5).await;
    let done = pushing.state(ids[0], "DONE").await;
    assert_eq!(done.outputs.unwrap()["DOING"], json!({ "pages": 12 }).into());
    pushing.state(ids[1], "ODD").await;
    let waits = async |id, code: &str| {
        let view = pushing.failed(id, code).await;
        let minutes = (view.wake_at.unwrap().millis() - view.entered_at.millis()) / 60_000;
        (view.status, view.attempt, minutes, view.error.unwrap().message)
    };
    let busy = waits(ids[2], "busy").await;
    assert_eq!(busy, (Status::Open, 2, 60, "come back".to_owned()), "what it asks for counts");
    let left = waits(ids[3], "unanswered").await;
    assert_eq!((left.0, left.2), (Status::Open, 120), "the queue's own pause: {left:?}");
    let wrong = pushing.failed(ids[4], "unknown-outcome").await;
    assert_eq!(wrong.status, Status::Dead, "an outcome that there is not will not be there the next time");
    let batches = consumer.batches();
    let [batch] = &batches[..] else { panic!("one batch of all: {batches:?}") };
    assert_eq!(batch.body["queue"], "work");
    let message = batch.messages().iter().find(|message| message["submission"] == json!(ids[0])).unwrap();
    let body = json!({ "submissionId": ids[0], "jobType": "do", "payload": { "n": 0 } });
    assert_eq!((&message["body"], &message["attempts"]), (&body, &json!(1)));
    assert_eq!((&message["task"], &message["state"]), (&json!("jobs.do"), &json!("DOING")));
    assert!(!batch.body.to_string().contains("token"), "nobody else settles it: {}", batch.body);
    assert_eq!(header(&batch.request.headers, "content-type"), "application/json");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_a_retry_left_is_a_dead_letter_and_can_be_redriven() {
    let consumer = Consumer::start(Mood::Fails(503)).await;
    let queue = "max-retries = 2\nretry-delay = ['10ms', '20ms']\noutcomes = { 'jobs.do' = 'done' }";
    let pushing = Pushing::start(&consumer, queue, "max-batch-timeout = '0s'", true);
    let id = pushing.submit(1).await[0];
    let dead = pushing.seen(id, |view| view.status == Status::Dead).await;
    assert_eq!(consumer.batches().len(), 3, "once, and two retries");
    assert_eq!(&*dead.error.unwrap().code, "http-503");
    consumer.turn(Mood::Says(|_| ("acks", json!({}))));
    pushing.client.redrive(id, None).await.unwrap();
    pushing.state(id, "DONE").await;
    let ids: Vec<Value> = consumer.batches().iter().map(|batch| batch.messages()[0]["id"].clone()).collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "the same message at every try: {ids:?}");
    assert_ne!(ids[2], ids[3], "whoever redrives it wants it done again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_with_batches_under_way_loses_nothing() {
    let consumer = Consumer::start(Mood::Hangs).await;
    let own = "max-batch-size = 2\nmax-concurrency = 2\nmax-batch-timeout = '10ms'";
    let mut pushing = Pushing::start(&consumer, "", own, true);
    let ids = pushing.submit(7).await;
    consumer.until(|batches| batches.len() >= 2).await;
    let filter = Filter { pipeline: Some("jobs".to_owned()), ..Filter::default() };
    let page = pushing.client.submissions(&filter, &Page::default()).await.unwrap();
    let leased = page.submissions.iter().filter(|one| one.lease.is_some()).count();
    assert!((1..=4).contains(&leased), "no more than two batches of two are taken: {leased}");
    consumer.turn(DONE);
    pushing.server.restart();
    for id in &ids {
        let done = pushing.state(*id, "DONE").await;
        assert_eq!(done.attempt, 1, "a server that dies costs nobody an attempt: {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_told_to_stop_gives_back_what_is_under_way() {
    let consumer = Consumer::start(Mood::Hangs).await;
    let mut pushing = Pushing::start(&consumer, "", "max-batch-timeout = '0s'", true);
    let id = pushing.submit(1).await[0];
    consumer.until(|batches| !batches.is_empty()).await;
    assert!(pushing.server.signal("TERM").success());
    consumer.turn(DONE);
    pushing.server.restart();
    let done = pushing.state(id, "DONE").await;
    let events = pushing.client.events(id, 0).await.unwrap().events;
    assert_eq!((done.attempt, events.len()), (1, 2), "neither a crash nor a failure: {events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_of_this_machine_is_refused_unless_it_is_allowed() {
    let consumer = Consumer::start(DONE).await;
    let pushing = Pushing::start(&consumer, "", "max-batch-timeout = '0s'", false);
    let id = pushing.submit(1).await[0];
    let dead = pushing.seen(id, |view| view.status == Status::Dead).await;
    let error = dead.error.unwrap();
    assert_eq!((&*error.code, dead.attempt), ("refused-address", 1));
    assert!(error.message.contains("--allow-address 127.0.0.1/32"), "{}", error.message);
    assert!(consumer.batches().is_empty());
}
