//! Documents and schemas made to keep a server busy.

use std::sync::Arc;
use std::thread::available_parallelism;

use model::pipeline::Source;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::server::Server;

const SUBMIT: &str = "/v1/pipelines/knots/submissions";

pub(crate) const KNOTS: &str = r#"
name = "knots"
version = 1
title = "Knots"
payload = "knot.json"
start = "TYING"

[states.TYING]
task = "knots.tie"
on.tied = "DONE"

[states.DONE]
final = "success"
"#;

async fn server(schema: &str) -> Server {
    let server = Server::start().await;
    let source = Source {
        files: [("knot.json".to_owned(), schema.to_owned())].into(),
        ..Source::new("knots.toml", KNOTS)
    };
    server.engine.apply(&source).await.unwrap();
    server
}

/// Makes this many levels of `anyOf`, each of them two times the next.
pub(crate) fn levels(count: usize) -> String {
    let level = |n: usize| {
        let part = json!({ "$ref": format!("#/$defs/l{}", n + 1) });
        (format!("l{n}"), json!({ "anyOf": [part, part] }))
    };
    let mut defs: serde_json::Map<_, _> = (0..count).map(level).collect();
    defs.insert(format!("l{count}"), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/l0", "$defs": defs }).to_string()
}

#[tokio::test]
async fn a_payload_that_takes_too_long_to_check_is_refused() {
    // Of the smaller one there is time to find out that it does not fit, and none to say how.
    for (count, code) in [(22, "schema-violation"), (40, "too-complex")] {
        let server = server(&levels(count)).await;
        let answer = server.post(SUBMIT, json!({ "payload": { "a": 1 } })).await;
        answer.problem(422, code);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payloads_that_take_long_keep_nobody_else_waiting() {
    let server = Arc::new(server(&levels(40)).await);
    // Others have taken all places for such work, so what comes now waits.
    let (begun, end) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let places = (available_parallelism().unwrap().get() / 2).max(1);
    for number in 0..places {
        let (engine, begun, end) = (server.engine.clone(), begun.clone(), end.clone());
        tokio::spawn(async move {
            let runtime = tokio::runtime::Handle::current();
            let work = move || {
                begun.add_permits(1);
                runtime.block_on(end.notified());
            };
            engine.aside(&format!("other {number}").into(), work).await
        });
    }
    let _all = begun.acquire_many(places.try_into().unwrap()).await.unwrap();
    let mut submits = JoinSet::new();
    for _ in 0..129 {
        let server = server.clone();
        submits.spawn(async move { server.post(SUBMIT, json!({ "payload": { "a": 1 } })).await });
    }
    // One more than may wait: the others do, and nothing of theirs was answered.
    let first = submits.join_next().await.unwrap().unwrap();
    first.problem(503, "overloaded");
    for path in ["/livez", "/readyz"] {
        assert_eq!(server.get(path).await.status, 200);
    }
    let answer = server.post("/v1/pipelines/notes/submissions", json!({ "payload": { "n": 1 } })).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert!(submits.try_join_next().is_none(), "the others wait");
    end.notify_waiters();
    let next = submits.join_next().await.unwrap().unwrap();
    next.problem(422, "too-complex");
}

#[tokio::test]
async fn bombs_are_answered_with_a_refusal() {
    let server = server(r#"{"type":"array","uniqueItems":true}"#).await;
    let submit = |body: String| server.post(SUBMIT, body);
    for bomb in ["[".repeat(4_000_000), "{\"a\":".repeat(800_000)] {
        submit(bomb).await.problem(400, "invalid-json");
    }
    let same = vec!["1"; 500_000].join(",");
    submit(format!("{{\"payload\":[{same}]}}")).await.problem(422, "schema-violation");
    let numbers: Vec<String> = (0..150_000).map(|number| number.to_string()).collect();
    let answer = submit(format!("{{\"payload\":[{}]}}", numbers.join(","))).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outputs_that_take_long_share_the_fuel_of_one_commit() {
    const COUNT: usize = 16;
    let server = Server::start().await;
    let toml =
        KNOTS.replace("payload = \"knot.json\"\n", "").replace("on.tied", "output = \"knot.json\"\non.tied");
    let source =
        Source { files: [("knot.json".to_owned(), levels(40))].into(), ..Source::new("knots.toml", toml) };
    server.engine.apply(&source).await.unwrap();
    for _ in 0..COUNT {
        assert_eq!(server.post(SUBMIT, json!({ "payload": {} })).await.status, 201);
    }
    let claim = json!({ "worker": "w", "tasks": ["knots.tie"], "max": COUNT });
    let claimed = server.post("/v1/tasks:claim", claim).await.json();
    let finish = |token: &Value| json!({ "token": token, "outcome": "tied", "output": { "a": 1 } });
    let mut left: Vec<_> =
        claimed["tasks"].as_array().unwrap().iter().map(|task| task["token"].clone()).collect();
    assert_eq!(left.len(), COUNT);
    let mut rounds = 0;
    while !left.is_empty() {
        let tasks: Vec<_> = left.iter().map(finish).collect();
        let answer = server.post("/v1/tasks:finish", json!({ "tasks": tasks })).await.json();
        let results = answer["results"].as_array().unwrap();
        let is_refused = |result: &&Value| result["problem"]["code"] == "overloaded";
        assert!(results.iter().all(|result| result["status"] == 200 || is_refused(&result)), "{answer}");
        let refused: Vec<_> =
            results.iter().filter(is_refused).map(|result| result["token"].clone()).collect();
        assert!(left.len() - refused.len() >= left.len().min(4), "each step checks some: {answer}");
        left = refused;
        rounds += 1;
    }
    assert!(rounds > 1, "all were checked before anybody else was answered");
}
