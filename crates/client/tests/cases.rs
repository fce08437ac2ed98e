//! The cases of `clients/cases.json`, which every client of Milepost is held to.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod support;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use client::webhooks::{HeaderMap, Verifier};
use client::{Client, Error, Failure, FeedFilter, Outcome, Position, Retries, Task, Worker};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use wire::api::ChildBody;
use wire::{Json, Millis};

use support::scripted::ScriptedServer;
use support::{calls, cases, has_at_least};

/// Longer than anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn retries(times: u64) -> Retries {
    Retries { times: u32::try_from(times).unwrap(), pause: Duration::from_millis(1), ..Retries::default() }
}

#[tokio::test]
async fn calls_send_what_they_should_and_give_what_came() {
    for case in cases("calls") {
        let name = &case["name"];
        let server = ScriptedServer::start(&case["exchanges"]).await;
        let is_absent = case["server"] == "absent";
        let url = if is_absent { "http://127.0.0.1:1" } else { &server.url };
        let client = Client::new(url, case["token"].as_str().map(str::to_owned)).unwrap();
        let client = client.with_retries(retries(case["retries"].as_u64().unwrap_or(3)));
        let began = Instant::now();
        let answer = calls::call(&client, case).await;
        assert_eq!(server.left(), [""; 0], "{name}");
        assert!(!server.was_asked_for_more(), "{name}: it was sent once more");
        let at_least = Duration::from_millis(case["takes_ms"].as_u64().unwrap_or(0));
        assert!(began.elapsed() >= at_least, "{name}: it took {:?} only", began.elapsed());
        match (answer, case.get("error")) {
            (Ok(result), None) => assert!(has_at_least(&result, &case["result"]), "{name}: {result}"),
            (Err(error), Some(expected)) => {
                let told = told(&error);
                assert!(has_at_least(&told, expected), "{name}: {told} is not {expected}");
            }
            (answer, _) => panic!("{name}: {answer:?}"),
        }
    }
}

fn told(error: &Error) -> Value {
    match error {
        Error::Problem(problem) => json!({
            "kind": "problem", "code": problem.code, "status": problem.status, "detail": problem.detail,
            "members": problem.more,
        }),
        Error::Unreachable { .. } | Error::Scheme { .. } => json!({ "kind": "unreachable" }),
        Error::Protocol(_) | Error::TooLarge { .. } => json!({ "kind": "protocol" }),
        Error::Setup(_) => json!({ "kind": "setup" }),
    }
}

#[tokio::test]
async fn feeds_are_followed_and_their_cursors_kept() {
    for case in cases("feeds") {
        let name = &case["name"];
        let server = ScriptedServer::start(&case["exchanges"]).await;
        let client = Client::new(&server.url, None).unwrap();
        let arguments = &case["arguments"];
        let text = |name: &str| arguments[name].as_str().map(str::to_owned);
        let mut follow = client.follow(FeedFilter {
            pipeline: text("pipeline"),
            state: text("state"),
            ..FeedFilter::default()
        });
        if let Some(after) = arguments["after"].as_u64() {
            follow = follow.from(Position::After(after));
        }
        if let Some(cursor) = text("cursor") {
            follow = follow.cursor(cursor);
        }
        for seq in case["events"].as_array().unwrap() {
            assert_eq!(json!(follow.next().await.unwrap().seq), *seq, "{name}");
        }
        assert_eq!(server.left(), [""; 0], "{name}");
        assert!(!server.was_asked_for_more(), "{name}: more was asked for than was taken");
    }
}

#[tokio::test]
async fn workers_say_what_their_handlers_answer() {
    for case in cases("workers") {
        let name = &case["name"];
        let server = ScriptedServer::start(&case["exchanges"]).await;
        let answers: VecDeque<Value> = case["answers"].as_array().unwrap().iter().cloned().collect();
        let answers = Arc::new(Mutex::new(answers));
        let stopped = Arc::new(Notify::new());
        let stops = stopped.clone();
        let handler = move |task: Task| {
            let answer = answers.lock().unwrap().pop_front().expect("the case has an answer for every task");
            if answer["until"] == "stopped" {
                stops.notify_one();
            }
            async move { given(&task, &answer).await }
        };
        let client = Client::new(&server.url, None).unwrap().with_retries(retries(3));
        let mut worker = Worker::new(client, "w").task("report.send", handler);
        if let Some(grace) = case["grace"].as_str() {
            worker = worker.grace(grace.parse::<Millis>().unwrap().into());
        }
        // It asks for more work than the script has: then the script is at its end. Or a handler says so.
        let stop = async {
            tokio::select! {
                () = server.more() => {}
                () = stopped.notified() => {}
            }
        };
        let ran = tokio::time::timeout(PATIENCE, worker.run(stop)).await;
        assert_eq!(server.left(), [""; 0], "{name}");
        ran.unwrap_or_else(|_| panic!("{name}: the worker asked for no more work")).unwrap();
    }
}

async fn given(task: &Task, answer: &Value) -> Result<Outcome, Failure> {
    if !answer["until"].is_null() {
        // One whose lease is lost, or that is given back, is dropped here.
        task.amended().await;
        assert!(task.is_amended());
    }
    if let Some(failure) = answer.get("fail") {
        let text = |name: &str| failure[name].as_str().unwrap().to_owned();
        let failed = Failure::new(text("code"), text("message"));
        return Err(if failure["retryable"] == false { failed.permanent() } else { failed });
    }
    if let Some(span) = answer["snooze"].as_str() {
        return Ok(Outcome::snooze(span.parse::<Millis>().unwrap().into()));
    }
    let mut outcome = Outcome::new(answer["outcome"].as_str().unwrap());
    if let Some(output) = answer.get("output") {
        outcome = outcome.output(Json::from(output.clone()));
    }
    if let Some(result) = answer.get("result") {
        outcome = outcome.result(Json::from(result.clone()));
    }
    let children: Vec<ChildBody> =
        answer.get("children").map(|all| serde_json::from_str(&all.to_string()).unwrap()).unwrap_or_default();
    Ok(outcome.children(children))
}

#[test]
fn webhooks_are_believed_only_with_a_good_signature() {
    for case in cases("webhooks") {
        let mut headers = HeaderMap::new();
        for (name, value) in case["headers"].as_object().unwrap() {
            headers.insert(
                name.parse::<reqwest::header::HeaderName>().unwrap(),
                value.as_str().unwrap().parse().unwrap(),
            );
        }
        let secrets = case["secrets"].as_array().unwrap().iter().map(|secret| secret.as_str().unwrap());
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(case["now"].as_u64().unwrap());
        let body = case["body"].as_str().unwrap().as_bytes();
        let tolerance =
            case["tolerance"].as_str().map(|span| Duration::from(span.parse::<Millis>().unwrap()));
        let verified = Verifier::new(secrets).and_then(|verifier| {
            let verifier = tolerance.into_iter().fold(verifier, Verifier::tolerance);
            verifier.verify(&headers, body, now)
        });
        let told = match verified {
            Ok(verified) => json!({ "result": { "id": verified.id, "timestamp": verified.timestamp } }),
            Err(error) => json!({ "error": error.code() }),
        };
        assert!(has_at_least(case, &told), "{}: {told}", case["name"]);
    }
}
