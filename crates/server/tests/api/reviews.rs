//! Lists of submissions that wait for a person, and of workers that ask for work.

use serde_json::{Value, json};

use crate::server::{Answer, Server};

async fn ids(server: &Server, path: &str) -> Vec<String> {
    let page = server.get(path).await.json();
    let listed = page["submissions"].as_array().unwrap_or_else(|| panic!("{page}"));
    listed.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_waits_for_a_person_is_listed_over_all_states_newest_first() {
    let server = Server::start().await;
    let first = server.reviewed("one").await;
    let heavy = json!({ "payload": { "ref": "two", "owner": "bob", "weight": 2000 } });
    let second = server.post("/v1/pipelines/parcels/submissions", heavy).await.json();
    let second = second["id"].as_str().unwrap().to_owned();
    server.parcel("three").await;
    assert_eq!(ids(&server, "/v1/reviews").await, [second.clone(), first.clone()]);
    assert_eq!(ids(&server, "/v1/reviews?pipeline=parcels&role=reviewer").await.len(), 2);
    assert!(ids(&server, "/v1/reviews?role=admin").await.is_empty());
    assert!(ids(&server, "/v1/reviews?pipeline=notes").await.is_empty());

    let page = server.get("/v1/reviews?limit=1").await.json();
    assert_eq!((&page["submissions"][0]["id"], &page["next"]), (&json!(second), &json!(second)));
    assert_eq!(page["submissions"][0]["state"], "HEAVY");
    let rest = server.get(&format!("/v1/reviews?limit=1&after={second}")).await.json();
    assert_eq!((&rest["submissions"][0]["id"], &rest["next"]), (&json!(first), &Value::Null));

    server.post(&format!("/v1/submissions/{first}/actions/approve"), "{}").await;
    assert_eq!(ids(&server, "/v1/reviews").await, [second]);
    server.get("/v1/reviews?pipeline=none").await.problem(404, "unknown-pipeline");
    server.get("/v1/reviews?role=king").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn workers_are_those_who_asked_for_work_some_pipeline_has() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/workers").await.json(), json!({ "workers": [] }));
    for (worker, task) in
        [("press-2", "parcels.check"), ("press-1", "parcels.check"), ("lost", "no.such-task")]
    {
        let body = json!({ "worker": worker, "tasks": [task, "other.thing"] });
        assert_eq!(server.post("/v1/tasks:claim", body).await.status, 200);
    }
    let listed = server.get("/v1/workers").await.json();
    let workers: Vec<_> = listed["workers"].as_array().unwrap().iter().map(|one| &one["worker"]).collect();
    assert_eq!(workers, ["press-1", "press-2"], "{listed}");
    assert_eq!(listed["workers"][0]["tasks"], json!(["parcels.check"]));
    assert!(listed["workers"][0]["last_seen_at"].is_string());
    Answer::of(server.request("GET", "/v1/workers?x=1")).await.problem(400, "invalid-request");
}
