use serde_json::{Value, json};

use crate::server::Server;

/// A machine in which one can wait for anything.
pub(crate) const LOTS: &str = r#"
name = "lots"
version = 1
key = "payload.ref"
on_duplicate = "queue"
labels = { site = "payload.site" }
lane = { key = "payload.site" }
amend = { fields = ["ready", "note"], role = "submitter" }
start = "GATE"

[params]
least = 10

[states.GATE]
next = [{ to = "WORKING", when = "payload.ready && payload.size >= params.least" }]

[states.WORKING]
task = "lots.work"
lease = "1h"
retry = { times = 2, delay = "1h" }
on.done = "COOLING"

[states.COOLING]
wait = "1h"
next = "DONE"

[states.DONE]
final = "success"
"#;

/// Submits a lot and gives its id.
pub(crate) async fn lot(server: &Server, reference: &str, site: &str, ready: bool) -> String {
    let body = json!({ "payload": { "ref": reference, "site": site, "ready": ready, "size": 12 } });
    let answer = server.post("/v1/pipelines/lots/submissions", body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_str().unwrap().to_owned()
}

async fn reasons(server: &Server, id: &str) -> Vec<Value> {
    let answer = server.get(&format!("/v1/submissions/{id}/why")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["reasons"].as_array().unwrap().clone()
}

/// The only reason, which has this code.
#[track_caller]
fn only(mut reasons: Vec<Value>, code: &str) -> Value {
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    let reason = reasons.remove(0);
    assert_eq!(reason["code"], code, "{reason}");
    assert!(!reason["sentence"].as_str().unwrap().is_empty());
    reason
}

async fn fail(server: &Server, token: &Value, retryable: bool) {
    let error = json!({ "code": "jam", "message": "the belt stopped", "retryable": retryable });
    let answer =
        server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": token, "error": error }] })).await;
    assert_eq!(answer.json()["results"][0]["status"], 200, "{}", answer.text);
}

#[tokio::test]
async fn a_guard_is_told_with_the_values_it_reads() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = lot(&server, "a", "north", false).await;
    let reason = only(reasons(&server, &id).await, "guard");
    assert_eq!(
        reason["details"]["edges"],
        json!([{
            "to": ["WORKING"], "when": "payload.ready && payload.size >= params.least", "holds": false,
            "values": { "payload.ready": false, "payload.size": 12, "params.least": 10 },
        }])
    );
    assert!(reason["sentence"].as_str().unwrap().contains("payload.ready is false"), "{reason}");
}

#[tokio::test]
async fn work_is_told_from_queue_to_end() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = lot(&server, "a", "north", true).await;
    let waits = only(reasons(&server, &id).await, "worker");
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!(
        (&waits["details"]["task"], &waits["details"]["since"]),
        (&json!("lots.work"), &shown["entered_at"])
    );
    assert!(waits["sentence"].as_str().unwrap().contains("no worker has asked"), "{waits}");

    let task = server.claim("lots.work").await;
    let leased = only(reasons(&server, &id).await, "leased");
    assert_eq!(
        (&leased["details"]["worker"], &leased["details"]["expires_at"]),
        (&json!("w"), &task["lease_expires_at"])
    );
    assert!(!leased.to_string().contains(task["token"].as_str().unwrap()));

    fail(&server, &task["token"], true).await;
    let retry = only(reasons(&server, &id).await, "retry");
    assert_eq!((&retry["details"]["retry"], &retry["details"]["retries"]), (&json!(1), &json!(2)));
    assert_eq!(retry["details"]["error"], json!({ "code": "jam", "message": "the belt stopped" }));
    assert!(retry["sentence"].as_str().unwrap().contains("retry 1 of 2"), "{retry}");

    let id = lot(&server, "b", "south", true).await;
    let task = server.claim("lots.work").await;
    server.finish(&task["token"], "done", Value::Null).await;
    assert!(only(reasons(&server, &id).await, "clock")["details"]["until"].is_string());
    assert_eq!(server.claim("lots.work").await, Value::Null);
    let polled = lot(&server, "c", "west", true).await;
    assert!(only(reasons(&server, &polled).await, "worker")["details"]["polled_ago"].is_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_wait_for_others_are_told_for_whom() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let first = lot(&server, "a", "north", true).await;
    let second = lot(&server, "b", "north", true).await;
    let third = lot(&server, "c", "north", true).await;
    let same_key = lot(&server, "a", "south", true).await;
    for (id, position) in [(&second, 1), (&third, 2)] {
        let line = only(reasons(&server, id).await, "line");
        let holder = json!({ "submission": first, "state": "WORKING", "status": "open" });
        assert_eq!(line["details"], json!({ "lane": "north", "position": position, "holder": holder }));
    }
    let key = only(reasons(&server, &same_key).await, "key");
    assert_eq!(key["details"], json!({ "key": "a", "submission": first }));
    let shown = server.get(&format!("/v1/submissions/{second}")).await.json();
    assert_eq!(shown["lane"], json!({ "key": "north", "holds": false, "waits": true }));
    let in_lane = server.get("/v1/submissions?pipeline=lots&lane=north").await.json();
    assert_eq!(in_lane["submissions"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_hold_comes_before_what_is_waited_for() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let id = lot(&server, "a", "north", true).await;
    let hold = server
        .post("/v1/holds", json!({ "lane": "north", "pipeline": "lots", "reason": "snow" }))
        .await
        .json();
    let told = reasons(&server, &id).await;
    let codes: Vec<_> = told.iter().map(|reason| reason["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["held", "worker"]);
    assert_eq!((&told[0]["details"]["hold"], &told[0]["details"]["reason"]), (&hold["id"], &json!("snow")));
    assert_eq!(told[0]["details"]["parked"], false);
    assert_eq!(server.claim("lots.work").await, Value::Null);
    assert_eq!(reasons(&server, &id).await[0]["details"]["parked"], true);
}

#[tokio::test]
async fn people_the_dead_and_the_ended_are_told_apart() {
    let server = Server::with_pipelines(&[LOTS]).await;
    let reviewed = server.reviewed("r1").await;
    let person = only(reasons(&server, &reviewed).await, "person");
    let action = |name: &str| json!({ "name": name, "roles": ["reviewer"], "approvals": 1, "agreed": [] });
    let actions = json!([action("approve"), action("refuse")]);
    assert_eq!(person["details"]["actions"], actions);
    server.post(&format!("/v1/submissions/{reviewed}/actions/approve"), "{}").await;
    assert_eq!(only(reasons(&server, &reviewed).await, "ended")["details"]["status"], "succeeded");

    let id = lot(&server, "a", "north", true).await;
    fail(&server, &server.claim("lots.work").await["token"], false).await;
    let dead = only(reasons(&server, &id).await, "dead");
    assert_eq!(dead["details"]["error"]["code"], "jam");
    assert!(dead["sentence"].as_str().unwrap().contains("a redrive queues task lots.work again"), "{dead}");

    for id in ["00000000-0000-7000-8000-000000000000", "nonsense"] {
        server.get(&format!("/v1/submissions/{id}/why")).await.problem(404, "unknown-submission");
    }
    server.get(&format!("/v1/submissions/{id}/why?x=1")).await.problem(400, "invalid-request");
}

#[tokio::test]
async fn times_and_granted_actions_are_told() {
    let server = Server::with_pipelines(&[LOTS, DOORS]).await;
    let later = "9999-01-01T00:00:00.000Z";
    let body =
        json!({ "payload": { "ref": "a", "site": "n", "ready": true, "size": 12 }, "not_before": later });
    let id = server.post("/v1/pipelines/lots/submissions", body).await.json()["id"].clone();
    let not_before = only(reasons(&server, id.as_str().unwrap()).await, "not-before");
    assert_eq!(not_before["details"], json!({ "until": later }));

    let id = lot(&server, "b", "south", true).await;
    let token = server.claim("lots.work").await["token"].clone();
    server.post("/v1/tasks:snooze", json!({ "tasks": [{ "token": token, "for": "1h" }] })).await;
    assert!(only(reasons(&server, &id).await, "snoozed")["details"]["until"].is_string());

    let door = server.post("/v1/pipelines/doors/submissions", json!({ "payload": {} })).await.json();
    let door = door["id"].as_str().unwrap();
    server.post("/v1/holds", json!({ "pipeline": "doors", "reason": "night" })).await;
    let guard = only(reasons(&server, door).await, "guard");
    assert_eq!(
        guard["details"]["edges"][0]["values"],
        json!({ "attempt": 1, "held": true }),
        "where holds route, guards see them"
    );
    server.post(&format!("/v1/submissions/{door}/actions/force"), "{}").await;
    let told = reasons(&server, door).await;
    let codes: Vec<_> = told.iter().map(|reason| reason["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["worker", "requested"], "{told:?}");
    assert_eq!(told[1]["details"], json!({ "action": "force", "to": "OPEN", "by": "local" }));
}

const DOORS: &str = r#"
name = "doors"
version = 1
holds = "route"
start = "SHUT"

[states.SHUT]
next = [{ to = "OPEN", when = "!held && attempt > 1" }]
actions.force = { to = "OPEN", task = "doors.force" }

[states.OPEN]
final = "success"
"#;
