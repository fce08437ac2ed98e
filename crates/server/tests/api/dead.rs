use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::why::{LOTS, lot};

async fn dead(server: &Server, reference: &str) -> String {
    let id = lot(server, reference, reference, true).await;
    let token = server.claim("lots.work").await["token"].clone();
    let error = json!({ "code": "jam", "message": "the belt stopped", "retryable": false });
    server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": token, "error": error }] })).await;
    id
}

#[tokio::test]
async fn the_dead_are_listed_and_redriven() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = dead(&server, "a").await;
    lot(&server, "b", "b", false).await;
    let list = server.get("/v1/dead?pipeline=lots&label.site=a&state=WORKING").await.json();
    let ids: Vec<_> = list["submissions"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, [&json!(id)]);
    assert_eq!((&list["submissions"][0]["status"], &list["next"]), (&json!("dead"), &Value::Null));

    let path = format!("/v1/submissions/{id}/redrive");
    let answer = server.post(&path, json!({ "reason": "the belt runs" })).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("open")), "{}", answer.text);
    assert_eq!(answer.header("etag"), format!("\"{}\"", answer.json()["revision"]));
    assert_eq!(server.claim("lots.work").await["submission"], json!(id));
    assert_eq!(server.get("/v1/dead").await.json()["submissions"], json!([]));
    let again = Answer::of(server.request("POST", &path)).await;
    again.problem(409, "not-dead");
}

#[tokio::test]
async fn bad_redrives_and_lists_are_refused() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = dead(&server, "a").await;
    let path = format!("/v1/submissions/{id}/redrive");
    server.post(&path, json!({ "reason": "r".repeat(4_001) })).await.problem(413, "too-large");
    server.post(&path, json!({ "why": "r" })).await.problem(400, "invalid-request");
    server.post(&path, "[").await.problem(400, "invalid-json");
    server.post("/v1/submissions/nonsense/redrive", "{}").await.problem(404, "unknown-submission");
    server.get("/v1/dead?status=open").await.problem(400, "invalid-request");
    server.get("/v1/dead?pipeline=lot").await.problem(404, "unknown-pipeline");
    assert_eq!(server.get(&format!("/v1/submissions/{id}")).await.json()["status"], "dead");
}
