//! Requests no caller should send, and what they are told.

use serde_json::json;

use crate::server::{Answer, Server};

const PARCELS: &str = "/v1/pipelines/parcels/submissions";
const NOTES: &str = "/v1/pipelines/notes/submissions";
const CLAIM: &str = "/v1/tasks:claim";
const FINISH: &str = "/v1/tasks:finish";

fn deep(levels: usize) -> String {
    format!("{{\"payload\":{}{}}}", "[".repeat(levels), "]".repeat(levels))
}

#[tokio::test]
async fn bad_bodies_are_refused_with_a_code_and_a_reason() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let refuse = format!("/v1/submissions/{id}/actions/refuse");
    let long_key = json!({ "payload": {}, "key": "k".repeat(513) }).to_string();
    let long_reason = json!({ "payload": {}, "reason": "r".repeat(4_001) }).to_string();
    let too_deep = deep(70);
    let cases: &[(&str, &str, u16, &str, &str)] = &[
        // Not JSON.
        (NOTES, "", 400, "invalid-json", "the text ends"),
        (NOTES, "{", 400, "invalid-json", "line 1 column 2"),
        (NOTES, "{\"payload\":01}", 400, "invalid-json", "zero"),
        (NOTES, "{\"payload\":{}} x", 400, "invalid-json", "after the end"),
        (NOTES, "{\"payload\":NaN}", 400, "invalid-json", "expected a value"),
        (NOTES, &too_deep, 400, "invalid-json", "deep"),
        // Twice the same key, wherever.
        (NOTES, r#"{"payload":1,"payload":2}"#, 400, "invalid-json", "duplicate key \"payload\""),
        (NOTES, r#"{"payload":{"a":[{"b":1,"b":2}]}}"#, 400, "invalid-json", "duplicate key \"b\""),
        (
            NOTES,
            r#"{"submissions":[{"payload":{"x":1,"\u0078":2}}]}"#,
            400,
            "invalid-json",
            "duplicate key \"x\"",
        ),
        (
            CLAIM,
            r#"{"worker":"w","tasks":["t"],"labels":{"a":"1","a":"2"}}"#,
            400,
            "invalid-json",
            "duplicate key",
        ),
        (
            FINISH,
            r#"{"tasks":[{"token":"t","token":"u","outcome":"o"}]}"#,
            400,
            "invalid-json",
            "duplicate key",
        ),
        (&refuse, r#"{"reason":"a","reason":"b"}"#, 400, "invalid-json", "duplicate key"),
        // Another shape.
        (NOTES, "[]", 400, "invalid-request", "shape"),
        (NOTES, "{}", 400, "invalid-request", "`payload`"),
        (NOTES, r#"{"payload":1,"prio":2}"#, 400, "invalid-request", "`prio`"),
        (NOTES, r#"{"payload":1,"priority":"high"}"#, 400, "invalid-request", "high"),
        (NOTES, r#"{"payload":1,"priority":1.5}"#, 400, "invalid-request", "1.5"),
        (NOTES, r#"{"payload":1,"priority":2000000}"#, 400, "invalid-request", "priority"),
        (NOTES, r#"{"payload":1,"not_before":"soon"}"#, 400, "invalid-request", "RFC 3339"),
        (NOTES, r#"{"payload":1,"key":5}"#, 400, "invalid-request", "5"),
        (NOTES, r#"{"payload":1,"key":""}"#, 400, "invalid-request", "key"),
        (NOTES, r#"{"submissions":[],"payload":1}"#, 400, "invalid-request", "`payload`"),
        (NOTES, r#"{"submissions":{}}"#, 400, "invalid-request", "shape"),
        (NOTES, r#"{"submissions":[{"payload":1,"x":1}]}"#, 400, "invalid-request", "`x`"),
        (CLAIM, r#"{"worker":"w","tasks":"t"}"#, 400, "invalid-request", "shape"),
        (CLAIM, r#"{"worker":"w","tasks":["t"],"Max":1}"#, 400, "invalid-request", "`Max`"),
        (FINISH, r#"{"tasks":[{"token":"t","outcome":"o","child":[]}]}"#, 400, "invalid-request", "`child`"),
        (FINISH, r#"{"tasks":[{"token":"t","outcome":7}]}"#, 400, "invalid-request", "7"),
        (&refuse, r#"{"reasons":"a"}"#, 400, "invalid-request", "`reasons`"),
        (&refuse, "null", 400, "invalid-request", "shape"),
        // Over a bound.
        (NOTES, &long_key, 413, "too-large", "key"),
        (NOTES, &long_reason, 413, "too-large", "reason"),
        // Well formed, but not acceptable.
        (PARCELS, r#"{"payload":{"ref":5,"owner":"ada","weight":5}}"#, 422, "schema-violation", "ref"),
        (PARCELS, r#"{"payload":{"owner":"ada","weight":5}}"#, 422, "schema-violation", "ref"),
        (PARCELS, r#"{"payload":{"ref":"r","owner":"ada"}}"#, 422, "guard-error", "weight"),
        (
            PARCELS,
            r#"{"payload":{"ref":"r","owner":"ada","weight":5},"key":"x"}"#,
            422,
            "key-mismatch",
            "key",
        ),
        ("/v1/pipelines/parcel/submissions", r#"{"payload":1}"#, 404, "unknown-pipeline", "parcels"),
        (&format!("/v1/submissions/{id}/actions/destroy"), "{}", 409, "action-not-allowed", "approve"),
    ];
    for (path, body, status, code, says) in cases {
        let problem = server.post(path, body).await.problem(*status, code);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(says), "{body}: {detail}");
        if *code == "invalid-json" {
            assert!(problem["line"].is_u64() && problem["column"].is_u64(), "{problem}");
        }
    }
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!(shown["revision"], 2, "nothing of this changed anything");
    assert_eq!(server.get("/v1/submissions").await.json()["submissions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn deep_is_fine_up_to_a_bound() {
    let server = Server::start().await;
    assert_eq!(server.post(NOTES, deep(60)).await.status, 201);
    server.post(NOTES, deep(100_000)).await.problem(400, "invalid-json");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let server = Server::start().await;
    let request = server.request("POST", NOTES).header("content-type", "application/json");
    let problem =
        Answer::of(request.body(b"{\"payload\":\"\xff\"}".to_vec())).await.problem(400, "invalid-json");
    assert_eq!((&problem["line"], &problem["column"]), (&json!(1), &json!(13)));
}

#[tokio::test]
async fn a_body_over_its_bound_is_too_large() {
    let server = Server::start().await;
    let of = |bytes: usize| format!("{{\"payload\":\"{}\"}}", "x".repeat(bytes - 14));
    assert_eq!(server.post(NOTES, of(1 << 20)).await.status, 201);
    let over = server.post(NOTES, of((1 << 20) + 1)).await.problem(413, "too-large");
    assert_eq!(over["max_bytes"], 1 << 20);
    server.post(NOTES, of((4 << 20) + 1)).await.problem(413, "too-large");
    server.post(CLAIM, of((1 << 20) + 1)).await.problem(413, "too-large");
    server.post(FINISH, of((4 << 20) + 1)).await.problem(413, "too-large");
    let id = server.reviewed("r1").await;
    let act = format!("/v1/submissions/{id}/actions/approve");
    server.post(&act, of((1 << 20) + 1)).await.problem(413, "too-large");
    let put = server.with_json("PUT", "/v1/pipelines/notes", of((1 << 20) + 1));
    Answer::of(put).await.problem(413, "too-large");
    let parts = vec![json!({ "payload": "x".repeat(1 << 18) }); 12];
    let many = server.post(NOTES, json!({ "submissions": parts })).await;
    assert_eq!(many.status, 200, "many may be larger than one");
}

#[tokio::test]
async fn a_body_must_say_what_it_is() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let act = format!("/v1/submissions/{id}/actions/approve");
    for (method, path) in
        [("POST", NOTES), ("POST", CLAIM), ("POST", FINISH), ("POST", &act), ("PUT", "/v1/pipelines/notes")]
    {
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("application/json; charset=latin1"),
        ] {
            let request = server.request(method, path).body("{}");
            let request = match kind {
                Some(kind) => request.header("content-type", kind),
                None => request,
            };
            Answer::of(request).await.problem(415, "unsupported-media-type");
        }
    }
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_named() {
    let server = Server::start().await;
    for path in ["/v2", "/v1", "/v1/", "/v1/tasks", "/v1/tasks:steal", "/v1/submissions/", "/favicon.ico"] {
        server.get(path).await.problem(404, "unknown-route");
    }
    for (method, path, allow) in [
        ("DELETE", "/v1/pipelines/notes", "GET,HEAD,PUT"),
        ("GET", CLAIM, "POST"),
        ("PUT", "/v1/submissions", "GET,HEAD"),
        ("POST", "/", "GET,HEAD"),
        ("BREW", NOTES, "POST"),
    ] {
        let answer = Answer::of(server.request(method, path)).await;
        answer.problem(405, "method-not-allowed");
        assert_eq!(answer.header("allow"), allow, "{method} {path}");
    }
}
