//! Answers end by their bytes, and go on where they ended.

use serde_json::{Value, json};

use crate::server::Server;

const LARGE: usize = 900_000;
const COUNT: usize = 7;
/// The bound, and one event that reaches past it.
const PAGE_BYTES_MAX: usize = (4 << 20) + LARGE + 100_000;

/// Makes a server with events whose metadata is large.
async fn server() -> Server {
    let server = Server::start().await;
    for number in 0..COUNT {
        server.parcel(&format!("p-{number}")).await;
        let task = server.claim("parcels.check").await;
        server.finish(&task["token"], "good", json!({ "score": "s".repeat(LARGE) })).await;
    }
    server
}

#[tokio::test]
async fn feeds_are_read_in_pages_of_so_many_bytes() {
    let server = server().await;
    let (mut after, mut large, mut pages) = (0, 0, 0);
    loop {
        let page = server.get(&format!("/v1/feed?after={after}&limit=1000")).await;
        assert_eq!(page.status, 200, "{}", &page.text[..200]);
        assert!(page.text.len() < PAGE_BYTES_MAX, "{}", page.text.len());
        let page = page.json();
        let events = page["events"].as_array().unwrap();
        large += events.iter().filter(|event| event["metadata"]["score"].is_string()).count();
        if page["next"] == after {
            break;
        }
        after = page["next"].as_u64().unwrap();
        pages += 1;
    }
    assert_eq!(large, COUNT, "nothing is lost");
    assert!(pages > 1);
}

#[tokio::test]
async fn events_of_one_are_read_in_pages_of_so_many_bytes() {
    let server = Server::with_pipelines(&[ROUNDS]).await;
    let answer = server.post("/v1/pipelines/rounds/submissions", json!({ "payload": {} })).await;
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    for _ in 0..COUNT {
        let task = server.claim("rounds.go").await;
        server.finish(&task["token"], "again", json!({ "note": "n".repeat(LARGE) })).await;
    }
    let (mut after, mut revisions) = (json!(0), Vec::new());
    while !after.is_null() {
        let page = server.get(&format!("/v1/submissions/{id}/events?after={after}&limit=1000")).await;
        assert!(page.text.len() < PAGE_BYTES_MAX, "{}", page.text.len());
        let page = page.json();
        let events = page["events"].as_array().unwrap();
        revisions.extend(events.iter().map(|event| event["revision"].as_u64().unwrap()));
        after = page["next"].clone();
    }
    assert_eq!(revisions, (1..=COUNT as u64 + 1).collect::<Vec<_>>());
    let last: Value = server.get(&format!("/v1/submissions/{id}/events?limit=1000&after=6")).await.json();
    assert_eq!(last["next"], Value::Null);
}

#[tokio::test]
async fn holds_with_long_reasons_make_no_page_long() {
    let server = Server::start().await;
    for number in 0..COUNT {
        server.parcel(&format!("p-{number}")).await;
    }
    let reason = "ö".repeat(2_000);
    for _ in 0..50 {
        let body = json!({ "pipeline": "parcels", "reason": reason });
        assert_eq!(server.post("/v1/holds", body).await.status, 201);
    }
    // Parks one, for one of the fifty.
    assert_eq!(server.claim("parcels.check").await, Value::Null);
    let page = server.get("/v1/submissions").await.json();
    let listed = page["submissions"].as_array().unwrap();
    assert_eq!(listed.len(), COUNT);
    for submission in listed {
        let holds = submission["holds"].as_array().unwrap();
        assert_eq!(holds.len(), 3);
        assert!(holds.iter().all(|hold| hold["reason"] == format!("{}…", "ö".repeat(200))));
    }
    let parked = listed.iter().find(|submission| submission["parked"].is_string()).unwrap();
    assert_eq!(parked["holds"][0]["id"], parked["parked"]);
    let path = format!("/v1/submissions/{}", parked["id"].as_str().unwrap());
    let shown = server.get(&path).await.json();
    let holds = shown["holds"].as_array().unwrap();
    assert_eq!((holds.len(), &holds[0]["id"]), (20, &parked["parked"]));
    assert_eq!(holds[0]["reason"], reason);
    let why = server.get(&format!("{path}/why")).await;
    assert_eq!(why.status, 200);
    assert!(why.text.len() < 50 * reason.len(), "{}", why.text.len());
}

const ROUNDS: &str = r#"
name = "rounds"
version = 1
title = "Rounds"
start = "GOING"

[states.GOING]
task = "rounds.go"
on.again = { to = "GOING", metadata = { note = "output.note" } }
on.done = "DONE"

[states.DONE]
final = "success"
"#;
