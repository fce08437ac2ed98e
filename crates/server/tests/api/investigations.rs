use serde_json::{Value, json};

use crate::metrics::{scrape, scrape_until};
use crate::operations::done;
use crate::server::{Answer, Server};

const LETTERS: &str = r#"
name = "letters"
version = 1
labels = { city = "payload.city" }
start = "SEND"
[states.SEND]
task = "letters.send"
lease = "1h"
on.lost = "LOST"
on.burnt = "BURNT"
[states.LOST]
final = "failure"
investigate = true
actions.again = "SEND"
[states.BURNT]
final = "failure"
investigate = "reviewer"
"#;

async fn ended(server: &Server, city: &str, outcome: &str) -> String {
    let made = server.post("/v1/pipelines/letters/submissions", json!({ "payload": { "city": city } })).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let token = server.claim("letters.send").await["token"].clone();
    let tasks = json!({ "tasks": [{ "token": token, "outcome": outcome }] });
    server.post("/v1/tasks:finish", tasks).await;
    id
}

/// The ids on a page, one after the other.
async fn listed(server: &Server, path: &str) -> String {
    let list = server.get(path).await.json();
    let rows = list["submissions"].as_array().unwrap_or_else(|| panic!("{path}: {list}")).clone();
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

async fn counted(server: &Server) -> Value {
    server.get("/v1/stats").await.json()["investigations"].clone()
}

#[tokio::test]
async fn ends_are_listed_until_somebody_acknowledges_them() {
    let server = Server::with_pipelines(&[LETTERS]).await;
    let (one, two) = (ended(&server, "rome", "lost").await, ended(&server, "oslo", "burnt").await);
    assert_eq!(listed(&server, "/v1/investigations").await, format!("{two} {one}"));
    assert_eq!(listed(&server, "/v1/investigations?state=LOST&label.city=rome").await, one);
    assert_eq!(
        counted(&server).await,
        json!([
            { "pipeline": "letters", "state": "BURNT", "open": 1, "acknowledged": 0 },
            { "pipeline": "letters", "state": "LOST", "open": 1, "acknowledged": 0 }
        ])
    );
    let view = server.get(&format!("/v1/submissions/{one}")).await.json();
    assert_eq!(view["investigation"], json!({ "status": "open" }));
    let why = server.get(&format!("/v1/submissions/{one}/why")).await.json();
    let wanted = why["reasons"].as_array().unwrap().iter().find(|reason| reason["code"] == "investigate");
    assert_eq!(wanted.unwrap()["details"], json!({ "role": "admin" }));

    let path = format!("/v1/submissions/{one}/acknowledge");
    let answer = server.post(&path, json!({ "note": "the bag was found" })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("etag"), format!("\"{}\"", answer.json()["revision"]));
    let investigation = answer.json()["investigation"].clone();
    assert_eq!((&investigation["status"], &investigation["by"]), (&json!("acknowledged"), &json!("local")));
    assert_eq!(investigation["note"], "the bag was found");
    assert_eq!(listed(&server, "/v1/investigations").await, two);
    assert_eq!(listed(&server, "/v1/submissions?investigation=acknowledged").await, one);
    assert_eq!(listed(&server, "/v1/submissions?investigation=open").await, two);
    assert_eq!(counted(&server).await[1]["acknowledged"], 1);
    let events = server.get(&format!("/v1/submissions/{one}/events")).await.json();
    let last = events["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["kind"], &last["actor"]["name"]), (&json!("acknowledged"), &json!("local")));
    assert_eq!(last["metadata"], json!({ "note": "the bag was found" }));

    let counts = server.get("/v1/stats").await.json()["counts"].clone();
    let lost = json!({ "pipeline": "letters", "state": "LOST", "status": "failed", "count": 1 });
    assert!(counts.as_array().unwrap().contains(&lost), "counts are by status alone: {counts}");
    Answer::of(server.request("POST", &path)).await.problem(409, "nothing-to-acknowledge");
    server.post(&format!("/v1/submissions/{one}/actions/again"), json!({})).await;
    assert_eq!(listed(&server, "/v1/submissions?investigation=acknowledged").await, "");
    let view = server.get(&format!("/v1/submissions/{one}")).await.json();
    assert_eq!(view.get("investigation"), None, "it goes on");
}

#[tokio::test]
async fn an_alert_has_something_to_go_by() {
    let server = Server::with_pipelines(&[LETTERS]).await;
    let open = |state| vec![("pipeline", "letters"), ("state", state)];
    let name = "milepost_investigations_open";
    assert_eq!(scrape(&server).await.value(name, &open("LOST")), 0.0, "before the first");
    let id = ended(&server, "rome", "lost").await;
    server.post(&format!("/v1/submissions/{id}/acknowledge"), json!({})).await;
    ended(&server, "rome", "lost").await;
    let scrape = scrape_until(&server, |scrape| scrape.value(name, &open("LOST")) > 0.0).await;
    assert_eq!(scrape.value(name, &open("LOST")), 1.0);
    assert_eq!(scrape.value(name, &open("BURNT")), 0.0);
    let mut failed = open("LOST");
    failed.push(("status", "failed"));
    assert_eq!(scrape.value("milepost_submissions", &failed), 2.0, "acknowledged or not");
}

#[tokio::test]
async fn the_state_says_who_may_acknowledge() {
    let server = Server::with_roles().await;
    server.engine.apply(&model::pipeline::Source::new("letters.toml", LETTERS)).await.unwrap();
    let ask = async |role: &str, path: &str, body: Value| {
        Answer::of(server.with_json("POST", path, body).bearer_auth(role)).await
    };
    for (outcome, status) in [("lost", 403), ("burnt", 200)] {
        let payload = json!({ "payload": { "city": "rome" } });
        let made = ask("submitter", "/v1/pipelines/letters/submissions", payload).await.json();
        let claim = json!({ "worker": "w", "tasks": ["letters.send"] });
        let claimed = ask("worker", "/v1/tasks:claim", claim).await.json();
        let finish = json!({ "tasks": [{ "token": claimed["tasks"][0]["token"], "outcome": outcome }] });
        ask("worker", "/v1/tasks:finish", finish).await;
        let path = format!("/v1/submissions/{}/acknowledge", made["id"].as_str().unwrap());
        let answer = ask("reviewer", &path, json!({})).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
}

#[tokio::test]
async fn many_are_acknowledged_by_an_operation() {
    let server = Server::with_pipelines(&[LETTERS]).await;
    for city in ["rome", "oslo", "rome"] {
        ended(&server, city, "lost").await;
    }
    let filter = json!({ "pipeline": "letters", "investigation": "open", "labels": { "city": "rome" } });
    let body = json!({ "filter": filter, "action": "acknowledge", "reason": "the same bag" });
    let done = done(&server, body).await;
    assert_eq!((&done["found"], &done["done"]), (&json!(2), &json!(2)), "{done}");
    assert_eq!(listed(&server, "/v1/investigations").await.split(' ').count(), 1);
    let acknowledged = server.get("/v1/submissions?investigation=acknowledged&limit=1").await.json();
    assert_eq!(acknowledged["submissions"][0]["investigation"]["note"], "the same bag");
}

#[tokio::test]
async fn bad_acknowledgements_and_lists_are_refused() {
    let server = Server::with_pipelines(&[LETTERS]).await;
    let id = ended(&server, "rome", "lost").await;
    let path = format!("/v1/submissions/{id}/acknowledge");
    server.post(&path, json!({ "note": "n".repeat(4_001) })).await.problem(413, "too-large");
    server.post(&path, json!({ "reason": "r" })).await.problem(400, "invalid-request");
    server.post("/v1/submissions/nonsense/acknowledge", "{}").await.problem(404, "unknown-submission");
    server.get("/v1/investigations?investigation=open").await.problem(400, "invalid-request");
    let refused = server.get("/v1/submissions?investigation=closed").await;
    refused.problem(400, "invalid-request");
    assert!(refused.text.contains("open or acknowledged"), "{}", refused.text);
    assert_eq!(listed(&server, "/v1/investigations").await, id);
}
