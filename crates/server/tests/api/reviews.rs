//! Lists of submissions that wait for a person, and of workers that ask for work.

use serde_json::{Value, json};

use crate::operations::ended;
use crate::server::{Answer, Grant, Server};

async fn ids(server: &Server, path: &str) -> Vec<String> {
    let page = server.get(path).await.json();
    let listed = page["submissions"].as_array().unwrap_or_else(|| panic!("{page}"));
    listed.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_waits_for_a_person_is_listed_over_all_states_the_first_due_first() {
    let server = Server::start().await;
    let first = server.reviewed("one").await;
    let heavy = json!({ "payload": { "ref": "two", "owner": "bob", "weight": 2000 } });
    let second = server.post("/v1/pipelines/parcels/submissions", heavy).await.json();
    let second = second["id"].as_str().unwrap().to_owned();
    server.parcel("three").await;
    assert_eq!(ids(&server, "/v1/reviews").await, [first.clone(), second.clone()]);
    assert_eq!(ids(&server, "/v1/reviews?pipeline=parcels&role=reviewer").await.len(), 2);
    assert!(ids(&server, "/v1/reviews?role=admin").await.is_empty());
    assert!(ids(&server, "/v1/reviews?pipeline=notes").await.is_empty());

    let page = server.get("/v1/reviews?limit=1").await.json();
    assert_eq!(page["submissions"][0]["id"], json!(first));
    let next = page["next"].as_str().expect("there is more");
    let rest = server.get(&format!("/v1/reviews?limit=1&after={next}")).await.json();
    assert_eq!((&rest["submissions"][0]["id"], &rest["next"]), (&json!(second), &Value::Null));
    assert_eq!(rest["submissions"][0]["state"], "HEAVY");

    server.post(&format!("/v1/submissions/{first}/actions/approve"), "{}").await;
    assert_eq!(ids(&server, "/v1/reviews").await, [second]);
    server.get("/v1/reviews?pipeline=none").await.problem(404, "unknown-pipeline");
    server.get("/v1/reviews?role=king").await.problem(400, "invalid-request");
    server.get("/v1/reviews?whose=hers").await.problem(400, "invalid-request");
    server.get("/v1/reviews?after=there").await.problem(400, "invalid-request");
}

/// A server on which two reviewers, an admin and a viewer have tokens.
async fn office() -> Server {
    let grant =
        |token: &'static str, role: &str| Grant { token, rights: json!({ "subject": token, "role": role }) };
    let grants = [
        grant("root", "admin"),
        grant("rita", "reviewer"),
        grant("ravi", "reviewer"),
        grant("vera", "viewer"),
    ];
    Server::with(&grants, |_| {}).await
}

async fn ask(server: &Server, token: &str, path: &str, body: Value) -> Answer {
    Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await
}

async fn listed(server: &Server, token: &str, whose: &str) -> Vec<String> {
    let path = format!("/v1/reviews?whose={whose}");
    let page = Answer::of(server.request("GET", &path).bearer_auth(token)).await.json();
    page["submissions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// A parcel that waits for a reviewer.
async fn waiting(server: &Server, reference: &str) -> String {
    let heavy = json!({ "payload": { "ref": reference, "owner": "bob", "weight": 2000 } });
    let made = ask(server, "root", "/v1/pipelines/parcels/submissions", heavy).await;
    assert_eq!(made.status, 201, "{}", made.text);
    made.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_review_is_one_persons_at_a_time_and_the_lists_know_whose() {
    let server = office().await;
    let id = waiting(&server, "one").await;
    let at = |step: &str| format!("/v1/submissions/{id}/review/{step}");
    assert_eq!(listed(&server, "rita", "unassigned").await, std::slice::from_ref(&id));
    ask(&server, "vera", &at("claim"), json!({})).await.problem(403, "role-required");
    let claimed = ask(&server, "rita", &at("claim"), json!({ "for": "1h" })).await;
    assert_eq!(
        (claimed.status, &claimed.json()["assigned"]["to"]),
        (200, &json!("rita")),
        "{}",
        claimed.text
    );
    assert_eq!(listed(&server, "rita", "mine").await, std::slice::from_ref(&id));
    assert!(listed(&server, "ravi", "mine").await.is_empty());
    assert!(listed(&server, "ravi", "unassigned").await.is_empty());
    assert_eq!(listed(&server, "ravi", "all").await, std::slice::from_ref(&id));

    let taken = ask(&server, "ravi", &at("claim"), json!({})).await.problem(409, "review-taken");
    assert_eq!(taken["assigned_to"], "rita");
    let weigh = format!("/v1/submissions/{id}/actions/weigh");
    ask(&server, "ravi", &weigh, json!({ "data": { "grams": 7 } })).await.problem(409, "review-taken");
    ask(&server, "rita", &at("hand-over"), json!({ "to": "ravi" })).await;
    assert_eq!(listed(&server, "ravi", "mine").await, std::slice::from_ref(&id));
    ask(&server, "rita", &at("release"), json!({})).await.problem(409, "review-taken");
    assert_eq!(ask(&server, "ravi", &weigh, json!({ "data": { "grams": 7 } })).await.status, 200);
    ask(&server, "ravi", &at("claim"), json!({})).await.problem(409, "not-in-review");
    assert!(listed(&server, "ravi", "mine").await.is_empty());
}

#[tokio::test]
async fn notes_and_decisions_are_told_to_whoever_comes_next() {
    let server = office().await;
    let id = waiting(&server, "one").await;
    let notes = format!("/v1/submissions/{id}/notes");
    let noted = ask(&server, "rita", &notes, json!({ "text": "asked the owner" })).await;
    assert_eq!((noted.status, &noted.json()["notes"]), (200, &json!(1)), "{}", noted.text);
    ask(&server, "vera", &notes, json!({ "text": "x" })).await.problem(403, "role-required");
    ask(&server, "rita", &notes, json!({ "text": " " })).await.problem(400, "invalid-request");
    ask(&server, "rita", &notes, json!({})).await.problem(400, "invalid-request");
    let weigh = format!("/v1/submissions/{id}/actions/weigh");
    ask(&server, "rita", &weigh, json!({ "data": { "grams": 7 } })).await;
    let told = server.request("GET", &format!("/v1/submissions/{id}/events?by=people")).bearer_auth("root");
    let told = Answer::of(told).await.json();
    let kinds: Vec<_> = told["events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["submitted", "noted", "moved"]);
    assert_eq!(told["events"][1]["metadata"]["note"], "asked the owner");
}

#[tokio::test]
async fn reviewers_act_on_many_within_their_right_and_stop_their_own() {
    let server = office().await;
    for reference in ["one", "two"] {
        waiting(&server, reference).await;
    }
    let filter = json!({ "pipeline": "parcels", "state": "HEAVY" });
    let wish = |action: &str| json!({ "filter": filter, "action": action, "data": { "grams": 7 } });
    ask(&server, "vera", "/v1/operations", wish("weigh")).await.problem(403, "role-required");
    let redrive = json!({ "filter": filter, "action": "redrive" });
    ask(&server, "rita", "/v1/operations", redrive).await.problem(403, "role-required");
    let started = ask(&server, "rita", "/v1/operations", wish("weigh")).await;
    assert_eq!(started.status, 201, "{}", started.text);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let stop = format!("/v1/operations/{id}/stop");
    ask(&server, "ravi", &stop, json!({})).await.problem(403, "role-required");
    let done = ended(&server, &format!("/v1/operations/{id}"), Some("root")).await;
    assert_eq!((&done["found"], &done["done"]), (&json!(2), &json!(2)), "{done}");
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
