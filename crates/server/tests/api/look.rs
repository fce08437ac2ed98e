use serde_json::{Value, json};

use crate::server::Server;

fn ids(page: &Value) -> Vec<String> {
    page["submissions"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_submission_is_shown_whole() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let answer = server.get(&format!("/v1/submissions/{id}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.json();
    assert_eq!(answer.header("etag"), format!("\"{}\"", body["revision"]));
    assert_eq!(
        (&body["id"], &body["state"], &body["status"]),
        (&json!(id), &json!("REVIEW"), &json!("open"))
    );
    assert_eq!((&body["key"], &body["labels"]), (&json!("r1"), &json!({ "owner": "ada" })));
    assert_eq!(body["actions"], json!(["approve", "refuse"]));
    assert_eq!(body["payload"], json!({ "ref": "r1", "owner": "ada", "weight": 5 }));
    assert_eq!(body["outputs"], json!({ "CHECKING": { "score": 1 } }));
    assert!(body["lease"].is_null());
}

#[tokio::test]
async fn a_lease_is_shown_without_its_token() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let task = server.claim("parcels.check").await;
    let answer = server.get(&format!("/v1/submissions/{id}")).await;
    assert_eq!(answer.json()["lease"]["worker"], "w");
    assert_eq!(answer.json()["phase"], "inside");
    assert!(!answer.text.contains(task["token"].as_str().unwrap()));
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let server = Server::start().await;
    for id in ["00000000-0000-7000-8000-000000000000", "nonsense", "%20"] {
        server.get(&format!("/v1/submissions/{id}")).await.problem(404, "unknown-submission");
        server.get(&format!("/v1/submissions/{id}/events")).await.problem(404, "unknown-submission");
        server
            .post(&format!("/v1/submissions/{id}/actions/approve"), "{}")
            .await
            .problem(404, "unknown-submission");
    }
    server.get("/v1/submissions/%FF").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn pages_follow_one_another_newest_first() {
    let server = Server::start().await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(server.parcel(&format!("r{number}")).await);
    }
    let all = server.get("/v1/submissions").await.json();
    assert!(all["next"].is_null() && all["submissions"][0].get("payload").is_none());
    let all = ids(&all);
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>(), made.iter().collect());
    let mut seen = Vec::new();
    let mut path = "/v1/submissions?limit=2".to_owned();
    loop {
        let page = server.get(&path).await.json();
        seen.extend(ids(&page));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/submissions?limit=2&after={next}");
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn every_filter_filters() {
    let server = Server::start().await;
    let first = server.reviewed("r1").await;
    let second = server.parcel("r2").await;
    let note = server.post("/v1/pipelines/notes/submissions", json!({ "payload": {} })).await.json();
    let note = note["id"].as_str().unwrap().to_owned();
    let created = server.get(&format!("/v1/submissions/{first}")).await.json()["created_at"].clone();
    let created = created.as_str().unwrap();
    for (query, expected) in [
        ("pipeline=parcels", vec![&second, &first]),
        ("pipeline=notes", vec![&note]),
        ("state=REVIEW", vec![&first]),
        ("pipeline=parcels&state=CHECKING", vec![&second]),
        ("status=open&pipeline=notes", vec![&note]),
        ("status=dead", vec![]),
        ("key=r2", vec![&second]),
        ("label.owner=ada&state=REVIEW", vec![&first]),
        ("label.owner=bob", vec![]),
        (&format!("parent={first}"), vec![]),
        (&format!("created_before={created}&pipeline=parcels&key=r1"), vec![]),
        ("created_before=9999-01-01T00:00:00Z&key=r1", vec![&first]),
        (&format!("created_after={created}&key=r1"), vec![&first]),
        ("created_after=9999-01-01T00:00:00Z", vec![]),
        ("entered_before=9999-01-01T00:00:00Z&key=r2", vec![&second]),
        ("entered_before=2001-01-01T00:00:00Z", vec![]),
        ("error=timeout", vec![]),
        ("worker=nobody", vec![]),
        (&format!("id={}&pipeline=notes", &note[..20]), vec![&note]),
    ] {
        let answer = server.get(&format!("/v1/submissions?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text);
        let found: std::collections::BTreeSet<_> = ids(&answer.json()).into_iter().collect();
        assert_eq!(found, expected.into_iter().cloned().collect(), "{query}");
    }
}

#[tokio::test]
async fn filters_that_cannot_be_meant_are_refused() {
    let server = Server::start().await;
    server.get("/v1/submissions?pipeline=parcel").await.problem(404, "unknown-pipeline");
    let unknown = server.get("/v1/submissions?stat=A").await.problem(400, "invalid-request");
    assert!(unknown["known"].as_array().unwrap().contains(&json!("label.K")), "{unknown}");
    for query in [
        "state=REVUE",
        "pipeline=notes&state=REVIEW",
        "status=closed",
        "parent=x",
        "after=x",
        "created_before=yesterday",
        "limit=0",
        "limit=1001",
        "key=a&key=b",
        "key=",
        "id=xyz",
        "entered_before=2d",
        "label.=a",
    ] {
        server.get(&format!("/v1/submissions?{query}")).await.problem(400, "invalid-request");
    }
    server.get("/v1/pipelines?limit=1").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn a_history_is_read_in_pages() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let path = format!("/v1/submissions/{id}/events");
    let all = server.get(&path).await.json();
    let events = all["events"].as_array().unwrap();
    assert_eq!(events.len(), 2, "{all}");
    assert!(all["next"].is_null() && events[0]["from"].is_null());
    assert_eq!((&events[0]["to"], &events[0]["trigger"]), (&json!("CHECKING"), &json!("web-form")));
    assert_eq!(events[0]["actor"]["name"], "local");
    assert_eq!((&events[1]["from"], &events[1]["to"]), (&json!("CHECKING"), &json!("REVIEW")));
    assert_eq!(events[1]["actor"], json!({ "type": "worker", "name": "w" }));
    assert_eq!(events[1]["metadata"], json!({ "score": 1 }));
    let first = server.get(&format!("{path}?limit=1")).await.json();
    assert_eq!((&first["events"][0], &first["next"]), (&events[0], &events[0]["revision"]));
    let rest = server.get(&format!("{path}?after={}", first["next"])).await.json();
    assert_eq!((&rest["events"], &rest["next"]), (&json!([events[1]]), &Value::Null));
    assert_eq!(server.get(&format!("{path}?after=99")).await.json()["events"], json!([]));
    server.get(&format!("{path}?after=-1")).await.problem(400, "invalid-request");
}

#[tokio::test]
async fn a_submission_is_found_by_what_somebody_has_at_hand() {
    let server = Server::start().await;
    let first = server.parcel("r1").await;
    let found = async |text: &str| server.get(&format!("/v1/find?text={text}")).await.json();
    for text in [&*first, &first.replace('-', ""), &first[..23].to_uppercase(), "r1", "parcels/r1"] {
        let found = found(text).await;
        assert_eq!((&found["meant"], ids(&found)), (&json!(first), vec![first.clone()]), "{text}");
    }
    let task = server.claim("parcels.check").await;
    server.finish(&task["token"], "bad", json!(null)).await;
    let ended = server.get(&format!("/v1/submissions/{first}")).await.json();
    assert_eq!(ended["status"], "failed", "{ended}");
    assert_eq!(found("r1").await["meant"], json!(first), "one that has ended is found by its key");
    let second = server.parcel("r1").await;
    let both = found("r1").await;
    assert_eq!(both["meant"], json!(second), "the holder of the key is meant");
    assert_eq!(both["submissions"].as_array().unwrap().len(), 2);
    let begun = found(&first[..6]).await;
    assert!(begun["submissions"].as_array().unwrap().len() == 2 && begun["meant"].is_null(), "{begun}");
    let nothing = json!({ "meant": null, "submissions": [], "more": false });
    for text in ["r2", "notes/r1", "nonsense/", "ffffffff"] {
        assert_eq!(found(text).await, nothing, "{text}");
    }
    server.get("/v1/find").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn everything_a_filter_finds_is_exported_as_lines() {
    let server = Server::start().await;
    for number in 0..450 {
        server.parcel(&format!("r{number}")).await;
    }
    let lines = server.get("/v1/export/submissions?pipeline=parcels&status=open").await;
    assert_eq!((lines.status, lines.header("content-type")), (200, "application/x-ndjson"));
    let keys: Vec<Value> =
        lines.text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["key"].clone()).collect();
    let newest: Vec<Value> = (0..450).rev().map(|number| json!(format!("r{number}"))).collect();
    assert_eq!(keys, newest);
    server.post("/v1/pipelines/notes/submissions", json!({ "payload": {}, "key": "=1+1" })).await;
    let csv = server.get("/v1/export/submissions?pipeline=notes&format=csv").await;
    let rows: Vec<&str> = csv.text.split("\r\n").collect();
    assert!(rows[0].starts_with("id,pipeline,version,state,status,key,"), "{}", csv.text);
    assert!(rows.len() == 3 && rows[1].contains(",\"'=1+1\","), "{}", csv.text);
    for wrong in ["format=xlsx", "limit=3", "pipeline=nothing", "id=xyz"] {
        assert!(server.get(&format!("/v1/export/submissions?{wrong}")).await.status >= 400, "{wrong}");
    }
}

#[tokio::test]
async fn every_try_is_kept_with_its_submission() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let task = server.claim("parcels.check").await;
    let failed = json!({ "tasks": [{ "token": task["token"], "error": {
        "code": "no-scale", "message": "m".repeat(1_000), "retryable": false } }] });
    assert_eq!(server.post("/v1/tasks:fail", failed).await.status, 200);
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    let attempt = &shown["attempts"][0];
    assert_eq!(
        (&attempt["state"], &attempt["worker"], &attempt["end"], &attempt["attempt"]),
        (&json!("CHECKING"), &json!("w"), &json!("failed"), &json!(1)),
        "{shown}"
    );
    assert_eq!(attempt["error"]["code"], "no-scale");
    assert_eq!(attempt["error"]["message"].as_str().unwrap().len(), 300);
    assert!(attempt["started_at"].as_str() <= attempt["ended_at"].as_str());
    let listed = server.get("/v1/submissions").await.json();
    assert!(listed["submissions"][0].get("attempts").is_none(), "{listed}");
}
