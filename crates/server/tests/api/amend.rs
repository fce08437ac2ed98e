use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::why::{LOTS, lot};

#[tokio::test]
async fn an_amendment_merges_and_moves_what_rested_for_it() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = lot(&server, "a", "north", false).await;
    let path = format!("/v1/submissions/{id}/amend");
    let patch = json!({ "ready": true, "note": "go" });
    let answer = Answer::of(
        server
            .request("POST", &path)
            .header("content-type", "application/merge-patch+json")
            .body(patch.to_string()),
    )
    .await;
    assert_eq!((answer.status, &answer.json()["state"]), (200, &json!("WORKING")), "{}", answer.text);
    assert_eq!(answer.header("etag"), format!("\"{}\"", answer.json()["revision"]));
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!(
        shown["payload"],
        json!({ "ref": "a", "site": "north", "ready": true, "size": 12, "note": "go" })
    );
    server.post(&path, json!({ "note": null })).await;
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!(shown["payload"].get("note"), None);
}

#[tokio::test]
async fn amendments_that_are_not_allowed_are_refused() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = lot(&server, "a", "north", false).await;
    let path = format!("/v1/submissions/{id}/amend");
    let fields = server.post(&path, json!({ "site": "south" })).await.problem(409, "not-amendable");
    assert_eq!(fields["fields"], json!(["ready", "note"]));
    for (body, code) in
        [("[]", "invalid-request"), ("null", "invalid-request"), ("{", "invalid-json"), ("", "invalid-json")]
    {
        server.post(&path, body).await.problem(400, code);
    }
    server.post(&path, r#"{"note":1,"note":2}"#).await.problem(400, "invalid-json");
    server.post(&path, json!({ "note": "x".repeat(1 << 20) })).await.problem(413, "too-large");
    Answer::of(server.request("POST", &path).body("{}")).await.problem(415, "unsupported-media-type");
    let parcel = server.parcel("r1").await;
    server
        .post(&format!("/v1/submissions/{parcel}/amend"), json!({ "ref": "x" }))
        .await
        .problem(409, "not-amendable");
    server.post("/v1/submissions/nonsense/amend", "{}").await.problem(404, "unknown-submission");
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!(shown["revision"], 1);
}

#[tokio::test]
async fn an_amendment_has_conditions_and_is_made_once() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = lot(&server, "a", "north", false).await;
    let path = format!("/v1/submissions/{id}/amend");
    let amend = |name: &'static str, value: &'static str, body: Value| {
        Answer::of(server.with_json("POST", &path, body).header(name, value))
    };
    amend("if-match", "\"7\"", json!({ "note": "a" })).await.problem(412, "revision-mismatch");
    assert_eq!(amend("if-match", "\"1\"", json!({ "note": "a" })).await.status, 200);
    let first = amend("idempotency-key", "k", json!({ "note": "b" })).await;
    let again = amend("idempotency-key", "k", json!({ "note": "b" })).await;
    assert_eq!((first.status, &first.text), (200, &again.text));
    amend("idempotency-key", "k", json!({ "note": "c" })).await.problem(422, "idempotency-mismatch");
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!((&shown["revision"], &shown["payload"]["note"]), (&json!(3), &json!("b")));
}
