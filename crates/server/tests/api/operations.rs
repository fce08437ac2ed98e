use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::server::{Answer, Grant, Server};

const CARDS: &str = r#"
name = "cards"
version = 1
key = "string(payload.n)"
labels = { box = "payload.box" }
start = "NEW"

[states.NEW]
review = "reviewer"
actions.file = { to = "FILED", reason = true }
actions.drop = { to = "DROPPED" }

[states.FILED]
final = "success"

[states.DROPPED]
final = "failure"
actions.resume = "NEW"
"#;

fn second() -> String {
    CARDS.replace("version = 1", "version = 2").replace("NEW", "FRESH")
}

async fn cards(server: &Server, numbers: std::ops::Range<u32>, label: &str) -> Vec<String> {
    let each: Vec<_> = numbers.map(|n| json!({ "payload": { "n": n, "box": label } })).collect();
    let answer = server.post("/v1/pipelines/cards/submissions", json!({ "submissions": each })).await;
    let results = answer.json()["results"].as_array().unwrap().clone();
    results.iter().map(|result| result["submission"]["id"].as_str().unwrap().to_owned()).collect()
}

/// Starts an operation and gives it as it is once it has ended.
pub(crate) async fn done(server: &Server, body: Value) -> Value {
    let started = server.post("/v1/operations", &body).await;
    assert_eq!(started.status, 201, "{}", started.text);
    let operation = started.json();
    assert_eq!(operation["status"], "running");
    let path = format!("/v1/operations/{}", operation["id"].as_str().unwrap());
    assert_eq!(started.header("location"), path);
    ended(server, &path, None).await
}

/// Gives an operation as it is once it has ended, as whoever has the token sees it.
pub(crate) async fn ended(server: &Server, path: &str, token: Option<&str>) -> Value {
    loop {
        let request = server.request("GET", path);
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let operation = Answer::of(request).await.json();
        if operation["status"] != "running" {
            return operation;
        }
    }
}

/// Every result of an operation, read in pages of this size.
async fn results(server: &Server, operation: &Value, limit: usize, code: &str) -> Vec<Value> {
    let path = format!("/v1/operations/{}/results?limit={limit}{code}", operation["id"].as_str().unwrap());
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("{path}{after}")).await.json();
        let results = page["results"].as_array().unwrap();
        assert!(results.len() <= limit);
        all.extend(results.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return all,
        }
    }
}

async fn states(server: &Server) -> BTreeMap<String, u64> {
    let stats = server.get("/v1/stats").await.json();
    let counts = stats["counts"].as_array().unwrap().iter().filter(|count| count["pipeline"] == "cards");
    counts
        .map(|count| (count["state"].as_str().unwrap().to_owned(), count["count"].as_u64().unwrap()))
        .collect()
}

#[tokio::test]
async fn an_action_is_done_to_everyone_a_filter_finds_and_told_one_by_one() {
    let server = Server::with_pipelines(&[CARDS]).await;
    let mut red = cards(&server, 0..230, "red").await;
    let blue = cards(&server, 300..310, "blue").await;
    let dropped = server.post(&format!("/v1/submissions/{}/actions/drop", red[0]), "{}").await;
    assert_eq!(dropped.status, 200);
    let body = json!({
        "filter": { "pipeline": "cards", "labels": { "box": "red" } }, "action": "file", "reason": "full",
    });
    let operation = done(&server, body).await;
    assert_eq!(
        (&operation["status"], &operation["found"], &operation["done"]),
        (&json!("done"), &json!(230), &json!(229))
    );
    assert_eq!(operation["refused"], json!({ "action-not-allowed": 1 }));
    assert_eq!(operation["by"], json!({ "name": "local", "role": "admin" }));
    assert_eq!(
        states(&server).await,
        BTreeMap::from([("FILED".into(), 229), ("DROPPED".into(), 1), ("NEW".into(), 10)])
    );

    let all = results(&server, &operation, 50, "").await;
    let ids: Vec<_> = all.iter().map(|result| result["submission"].as_str().unwrap().to_owned()).collect();
    let refused = red[0].clone();
    red.sort();
    assert_eq!(ids, red, "each once, in the order of their ids");
    let of_code = results(&server, &operation, 50, "&code=action-not-allowed").await;
    assert_eq!((of_code.len(), &of_code[0]["submission"]), (1, &json!(refused)));
    assert!(of_code[0]["message"].as_str().unwrap().contains("`file`"), "{of_code:?}");
    assert_eq!(results(&server, &operation, 50, "&code=not-dead").await, Vec::<Value>::new());
    let filed = all.iter().find(|result| result["submission"] != json!(refused)).unwrap();
    assert_eq!(filed["state"], "FILED");

    let id = filed["submission"].as_str().unwrap();
    let events = server.get(&format!("/v1/submissions/{id}/events")).await.json();
    assert_eq!(events["events"].as_array().unwrap().len(), 2, "{events}");
    assert_eq!(events["events"][1]["metadata"]["reason"], "full");
    let untouched = server.get(&format!("/v1/submissions/{}", blue[0])).await.json();
    assert_eq!(untouched["revision"], 1);
}

#[tokio::test]
async fn a_dry_run_tells_the_same_and_changes_nothing() {
    let server = Server::with_pipelines(&[CARDS]).await;
    cards(&server, 0..120, "red").await;
    let mut body = json!({ "filter": { "pipeline": "cards" }, "action": "file", "dry_run": true });
    let operation = done(&server, body.clone()).await;
    assert_eq!((&operation["found"], &operation["done"]), (&json!(120), &json!(0)));
    assert_eq!(operation["refused"], json!({ "reason-required": 120 }));
    body["reason"] = json!("full");
    let operation = done(&server, body).await;
    assert_eq!((&operation["done"], &operation["dry_run"]), (&json!(120), &json!(true)));
    assert_eq!(results(&server, &operation, 1000, "").await[7]["state"], "FILED");
    assert_eq!(states(&server).await, BTreeMap::from([("NEW".into(), 120)]));
    assert_eq!(
        server.get("/v1/feed?pipeline=cards&limit=1000").await.json()["next"],
        125,
        "no event but those, with three definitions and two starts of an operation on record"
    );
}

#[tokio::test]
async fn submissions_migrate_to_another_version_by_a_map() {
    let server = Server::with_pipelines(&[CARDS]).await;
    cards(&server, 0..3, "red").await;
    server.engine.apply(&model::pipeline::Source::new("cards.toml", second())).await.unwrap();
    let filter = json!({ "pipeline": "cards", "version": 1 });
    let without = json!({ "filter": filter, "action": "migrate", "version": 2, "dry_run": true });
    let operation = done(&server, without).await;
    assert_eq!(operation["refused"], json!({ "not-migratable": 3 }));
    let with = json!({ "filter": filter, "action": "migrate", "version": 2, "map": { "NEW": "FRESH" } });
    let operation = done(&server, with).await;
    assert_eq!(operation["done"], 3, "{operation}");
    assert_eq!(states(&server).await, BTreeMap::from([("FRESH".into(), 3)]));
    let resumed = done(&server, json!({ "filter": { "pipeline": "cards" }, "action": "resume" })).await;
    assert_eq!(resumed["refused"], json!({ "not-dead": 3 }));
}

#[tokio::test]
async fn operations_are_listed_newest_first_in_pages() {
    let server = Server::with_pipelines(&[CARDS]).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let body = json!({ "filter": { "pipeline": "cards" }, "action": "redrive" });
        ids.push(server.post("/v1/operations", body).await.json()["id"].clone());
    }
    // Two of one millisecond have no order but that of their ids.
    ids.sort_by(|one, other| other.as_str().cmp(&one.as_str()));
    let page = async |query: &str| {
        let page = server.get(&format!("/v1/operations{query}")).await.json();
        let ids: Vec<_> =
            page["operations"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        (ids, page["next"].clone())
    };
    assert_eq!(page("").await, (ids.clone(), Value::Null));
    let (first, next) = page("?limit=2").await;
    assert_eq!((&first[..], &next), (&ids[..2], &ids[1]));
    let after = |next: &Value| format!("?limit=2&after={}", next.as_str().unwrap());
    let (second, next) = page(&after(&next)).await;
    assert_eq!(second, ids[2..4]);
    assert_eq!(page(&after(&next)).await, (ids[4..].to_vec(), Value::Null));
}

#[tokio::test]
async fn one_that_has_ended_cannot_be_stopped() {
    let server = Server::with_pipelines(&[CARDS]).await;
    let operation = done(&server, json!({ "filter": { "pipeline": "cards" }, "action": "drop" })).await;
    let path = format!("/v1/operations/{}/stop", operation["id"].as_str().unwrap());
    server.post(&path, "{}").await.problem(409, "operation-over");
    server.post("/v1/operations/nonsense/stop", "{}").await.problem(404, "unknown-operation");
    server.get("/v1/operations/nonsense").await.problem(404, "unknown-operation");
    server.get("/v1/operations/nonsense/results").await.problem(404, "unknown-operation");
}

#[tokio::test]
async fn operations_that_cannot_be_meant_are_refused() {
    let server = Server::with_pipelines(&[CARDS]).await;
    let cards = |more: Value| {
        let mut body = json!({ "filter": { "pipeline": "cards" }, "action": "drop" });
        for (name, value) in more.as_object().unwrap() {
            match value.as_object().filter(|_| name == "filter") {
                Some(filter) => filter.iter().for_each(|(key, value)| body["filter"][key] = value.clone()),
                None => body[name] = value.clone(),
            }
        }
        body
    };
    for (body, status, code, says) in [
        (cards(json!({ "filter": { "pipeline": "card" } })), 404, "unknown-pipeline", "cards"),
        (cards(json!({ "filter": { "state": "NWE" } })), 400, "invalid-request", "DROPPED, FILED, NEW"),
        (cards(json!({ "filter": { "labels": { "bx": "red" } } })), 400, "invalid-request", "there is box"),
        (cards(json!({ "filter": { "lane": "x" } })), 400, "invalid-request", "no lanes"),
        (cards(json!({ "filter": { "version": 3 } })), 404, "unknown-version", "there is 1"),
        (cards(json!({ "filter": { "sate": "NEW" } })), 400, "invalid-request", "`sate`"),
        (cards(json!({ "action": "fill" })), 400, "invalid-request", "drop, file, migrate, redrive, resume"),
        (cards(json!({ "to": "NWE" })), 400, "invalid-request", "`NWE`"),
        (cards(json!({ "version": 2 })), 400, "invalid-request", "migrate"),
        (cards(json!({ "action": "migrate" })), 400, "invalid-request", "`version`"),
        (cards(json!({ "action": "migrate", "version": 2 })), 404, "unknown-version", "there is 1"),
        (
            cards(json!({ "action": "migrate", "version": 1, "map": { "NWE": "NEW" } })),
            400,
            "invalid-request",
            "`map` from",
        ),
        (
            cards(json!({ "action": "migrate", "version": 1, "map": { "NEW": "NWE" } })),
            400,
            "invalid-request",
            "`map` to",
        ),
        (cards(json!({ "reason": "r".repeat(4_001) })), 413, "too-large", "4000"),
        (cards(json!({ "data": "x".repeat(70_000) })), 413, "too-large", "65536"),
    ] {
        let problem = server.post("/v1/operations", &body).await.problem(status, code);
        assert!(problem["detail"].as_str().unwrap().contains(says), "{body}: {problem}");
    }
    assert_eq!(server.get("/v1/operations").await.json(), json!({ "operations": [], "next": null }));
    let known = server.post("/v1/operations", cards(json!({ "filter": { "state": "X" } }))).await.json();
    assert_eq!(known["known"], json!(["DROPPED", "FILED", "NEW"]));
}

#[tokio::test]
async fn a_key_that_would_promise_once_is_refused_where_it_is_not_kept() {
    let server = Server::with_pipelines(&[CARDS]).await;
    let id = &cards(&server, 0..1, "red").await[0];
    let hold = server.post("/v1/holds", json!({ "pipeline": "cards", "reason": "r" })).await.json();
    for (method, path, body) in [
        ("POST", "/v1/operations".to_owned(), json!({ "filter": { "pipeline": "cards" }, "action": "drop" })),
        ("POST", "/v1/operations/x/stop".to_owned(), json!({})),
        ("POST", "/v1/holds".to_owned(), json!({ "pipeline": "cards", "reason": "r" })),
        ("DELETE", format!("/v1/holds/{}", hold["id"].as_str().unwrap()), json!({})),
        ("POST", format!("/v1/submissions/{id}/redrive"), json!({})),
    ] {
        let request = server.with_json(method, &path, body).header("idempotency-key", "k");
        let problem = Answer::of(request).await.problem(400, "invalid-request");
        assert!(problem["detail"].as_str().unwrap().contains("Idempotency-Key"), "{path}: {problem}");
    }
    assert_eq!(server.get("/v1/holds").await.json()["holds"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_token_for_some_pipelines_has_operations_of_those_only() {
    let grant = |token, rights| Grant { token, rights };
    let server = Server::with(
        &[
            grant("root", json!({ "subject": "root", "role": "admin" })),
            grant("notes", json!({ "subject": "n", "role": "admin", "pipelines": ["notes"] })),
        ],
        |_| {},
    )
    .await;
    let ask = async |token: &str, method: &str, path: &str, body: Value| {
        Answer::of(server.with_json(method, path, body).bearer_auth(token)).await
    };
    let of = |pipeline: &str| json!({ "filter": { "pipeline": pipeline }, "action": "redrive" });
    ask("notes", "POST", "/v1/operations", of("parcels")).await.problem(403, "role-required");
    let parcels = ask("root", "POST", "/v1/operations", of("parcels")).await.json();
    let own = ask("notes", "POST", "/v1/operations", of("notes")).await.json();
    let list = ask("notes", "GET", "/v1/operations", json!({})).await.json();
    let ids: Vec<_> = list["operations"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&own["id"]]);
    let path = format!("/v1/operations/{}", parcels["id"].as_str().unwrap());
    for (method, path) in
        [("GET", path.clone()), ("GET", format!("{path}/results")), ("POST", format!("{path}/stop"))]
    {
        ask("notes", method, &path, json!({})).await.problem(404, "unknown-operation");
    }
}
