use serde_json::{Value, json};

use crate::server::{Answer, Server};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const PACKS: &str = r#"
name = "packs"
version = 1
start = "OPENING"
[states.OPENING]
join = "notes"
task = "packs.open"
lease = "1h"
on.all_succeeded = "DONE"
on.some_failed = "DONE"
[states.DONE]
final = "success"
"#;

async fn submit(server: &Server, pipeline: &str, headers: &[(&str, &str)]) -> Value {
    let path = format!("/v1/pipelines/{pipeline}/submissions");
    let request = server.with_json("POST", &path, json!({ "payload": {} }));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let answer = Answer::of(request).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    server.get(&format!("/v1/submissions/{id}")).await.json()
}

#[tokio::test]
async fn a_trace_is_kept_and_handed_to_workers() {
    let server = Server::start().await;
    let submission = submit(&server, "notes", &[("traceparent", PARENT), ("tracestate", "a=1")]).await;
    assert_eq!((&submission["traceparent"], &submission["tracestate"]), (&json!(PARENT), &json!("a=1")));
    let task = server.claim("notes.read").await;
    assert_eq!((&task["traceparent"], &task["tracestate"]), (&json!(PARENT), &json!("a=1")));
    server.finish(&task["token"], "read", json!({})).await;
    let ended = server.get(&format!("/v1/submissions/{}", submission["id"].as_str().unwrap())).await.json();
    assert_eq!(ended["traceparent"], PARENT, "to the end");
}

#[tokio::test]
async fn what_is_malformed_is_ignored() {
    let server = Server::start().await;
    for headers in [
        &[][..],
        &[("tracestate", "a=1")],
        &[("traceparent", "nonsense"), ("tracestate", "a=1")],
        &[("traceparent", PARENT), ("traceparent", PARENT)],
    ] {
        let submission = submit(&server, "notes", headers).await;
        let told = (submission.get("traceparent"), submission.get("tracestate"));
        assert_eq!(told, (None, None), "{headers:?}");
        assert_eq!(server.claim("notes.read").await.get("traceparent"), None);
    }
    let submission = submit(&server, "notes", &[("traceparent", PARENT), ("tracestate", "nonsense")]).await;
    assert_eq!((&submission["traceparent"], submission.get("tracestate")), (&json!(PARENT), None));
}

#[tokio::test]
async fn children_are_part_of_their_parents_trace() {
    let server = Server::with_pipelines(&[PACKS]).await;
    submit(&server, "packs", &[("traceparent", PARENT)]).await;
    let token = server.claim("packs.open").await["token"].clone();
    let children = json!([{ "payload": {} }]);
    let body = json!({ "tasks": [{ "token": token, "outcome": "sealed", "children": children }] });
    let answer = server.post("/v1/tasks:finish", body).await;
    assert_eq!(answer.json()["results"][0]["status"], 200, "{}", answer.text);
    assert_eq!(server.claim("notes.read").await["traceparent"], PARENT);
}
