use std::collections::BTreeMap;

use engine::core::ClaimMany;
use model::pipeline::Source;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::server::{Answer, Grant, Server};

#[tokio::test]
async fn a_claimed_task_has_all_its_worker_needs() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let task = server.claim("parcels.check").await;
    assert_eq!(task["submission"], json!(id));
    assert_eq!(
        (&task["pipeline"], &task["state"], &task["task"]),
        (&json!("parcels"), &json!("CHECKING"), &json!("parcels.check"))
    );
    assert_eq!((&task["with"], &task["params"]), (&json!({ "depth": 2 }), &json!({ "strict": true })));
    assert_eq!(task["payload"], json!({ "ref": "r1", "owner": "ada", "weight": 5 }));
    assert_eq!((&task["attempt"], &task["labels"]), (&json!(1), &json!({ "owner": "ada" })));
    assert!(
        task["token"].is_string()
            && task["lease_expires_at"].is_string()
            && task["payload_revision"].is_u64()
    );
    assert_eq!(server.claim("parcels.check").await, Value::Null, "a task is claimed once");
}

#[tokio::test]
async fn claims_are_narrowed_by_pipeline_label_and_number() {
    let server = Server::start().await;
    for reference in ["r1", "r2", "r3"] {
        server.parcel(reference).await;
    }
    let claim = async |more: Value| {
        let mut body = json!({ "worker": "w", "tasks": ["parcels.check", "notes.read"], "max": 2 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/tasks:claim", body).await.json()["tasks"].as_array().unwrap().len()
    };
    assert_eq!(claim(json!({ "pipelines": ["notes"] })).await, 0);
    assert_eq!(claim(json!({ "labels": { "owner": "bob" } })).await, 0);
    assert_eq!(claim(json!({ "labels": { "owner": "ada" }, "pipelines": ["parcels", "notes"] })).await, 2);
    assert_eq!(claim(json!({ "max": 1_000 })).await, 1);
}

#[tokio::test]
async fn a_claim_that_asks_for_too_much_is_refused() {
    let server = Server::start().await;
    let (long, ok) = ("w".repeat(129), "ä".repeat(128));
    let (name, name_ok) = ("n".repeat(513), "n".repeat(512));
    for body in [
        json!({ "worker": "", "tasks": ["t"] }),
        json!({ "worker": long, "tasks": ["t"] }),
        json!({ "worker": "w", "tasks": [] }),
        json!({ "worker": "w", "tasks": vec!["t"; 101] }),
        json!({ "worker": "w", "tasks": ["t"], "max": 0 }),
        json!({ "worker": "w", "tasks": ["t"], "max": 1001 }),
        json!({ "worker": "w", "tasks": ["t"], "max": -1 }),
        json!({ "worker": "w", "tasks": ["t"], "wait": "61s" }),
        json!({ "worker": "w", "tasks": ["t"], "wait": 1 }),
        json!({ "worker": "w", "tasks": ["t"], "wait": "soon" }),
        json!({ "worker": "w", "tasks": ["t"], "lease": "999ms" }),
        json!({ "worker": "w", "tasks": ["t"], "lease": "13h" }),
        json!({ "tasks": ["t"] }),
        json!({ "worker": "w", "tasks": ["t", name] }),
        json!({ "worker": "w", "tasks": ["t"], "pipelines": [name] }),
        json!({ "worker": "w", "tasks": ["t"], "labels": { &name: "v" } }),
        json!({ "worker": "w", "tasks": ["t"], "labels": { "l": name } }),
    ] {
        server.post("/v1/tasks:claim", &body).await.problem(400, "invalid-request");
    }
    let body = json!({ "worker": ok, "tasks": [name_ok], "labels": { &name_ok: name_ok } });
    let fine = server.post("/v1/tasks:claim", body).await;
    assert_eq!(fine.json(), json!({ "tasks": [], "unknown_tasks": [name_ok] }));
}

#[tokio::test]
async fn a_worker_is_told_of_tasks_that_no_pipeline_has_where_it_looks() {
    let right = |token, pipelines: Value| Grant {
        token,
        rights: json!({ "subject": token, "role": "worker", "pipelines": pipelines }),
    };
    let server =
        Server::with(&[right("parcels", json!(["parcels"])), right("notes", json!(["notes"]))], |_| {}).await;
    let unknown = async |token: &str, more: Value| {
        let mut body = json!({ "worker": "w", "tasks": ["parcels.chekc", "parcels.check"] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let request = server.with_json("POST", "/v1/tasks:claim", body).bearer_auth(token);
        Answer::of(request).await.json()["unknown_tasks"].clone()
    };
    assert_eq!(unknown("parcels", json!({})).await, json!(["parcels.chekc"]));
    assert_eq!(unknown("parcels", json!({ "tasks": ["parcels.check"] })).await, Value::Null);
    // What is outside a token's scope is not there.
    assert_eq!(unknown("notes", json!({})).await, json!(["parcels.chekc", "parcels.check"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_claim_wakes_when_work_arrives() {
    let server = Server::with(&[], |options| options.waits_max = 1).await;
    let waiting = waiting_claim(&server, "parcels.check").await;
    let id = server.parcel("r1").await;
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!((answer.status, &answer.json()["tasks"][0]["submission"]), (200, &json!(id)));
}

/// A long poll that has begun, on a server with room for one. Whatever else asks then is refused, which tells that it
/// is there; it asks for another task, so that it cannot take what is waited for.
pub(crate) async fn waiting_claim(server: &Server, task: &str) -> JoinHandle<reqwest::Result<Answer>> {
    let body = |task: &str, wait: &str| json!({ "worker": "w", "tasks": [task], "wait": wait });
    let request = server.with_json("POST", "/v1/tasks:claim", body(task, "60s"));
    let waiting = tokio::spawn(async move {
        loop {
            let answer = Answer::of_try(request.try_clone().unwrap()).await?;
            if answer.status != 503 {
                return Ok(answer);
            }
        }
    });
    while server.post("/v1/tasks:claim", body("nothing", "0s")).await.status != 503 {
        tokio::task::yield_now().await;
    }
    waiting
}

#[tokio::test]
async fn a_finish_moves_once_however_often_it_is_sent() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let token = server.claim("parcels.check").await["token"].clone();
    let first = server.finish(&token, "good", json!({ "score": 7 })).await;
    assert_eq!(
        first,
        json!({ "token": token, "status": 200, "state": "REVIEW", "submission_status": "open" })
    );
    let again = server.finish(&token, "good", json!({ "score": 7 })).await;
    assert_eq!(
        (&again["status"], &again["repeated"], &again["state"]),
        (&json!(200), &json!(true), &json!("REVIEW"))
    );
    let other = server.finish(&token, "bad", Value::Null).await;
    assert_eq!((&other["status"], &other["problem"]["code"]), (&json!(409), &json!("stale-lease")));
    let events = server.get(&format!("/v1/submissions/{id}/events")).await.json();
    assert_eq!(events["events"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn every_task_of_a_call_has_its_own_result() {
    let server = Server::start().await;
    server.parcel("r1").await;
    server.parcel("r2").await;
    let first = server.claim("parcels.check").await["token"].clone();
    let second = server.claim("parcels.check").await["token"].clone();
    let stranger = model::LeaseToken {
        submission: "00000000-0000-7000-8000-000000000000".parse().unwrap(),
        lease_no: 1,
        bits: model::token::Bits([0; 16]),
    };
    let finish = |token: &Value, outcome: &str| json!({ "token": token, "outcome": outcome, "output": { "score": 1 } });
    let tasks = [
        finish(&first, "excellent"),
        finish(&json!("nonsense"), "good"),
        finish(&json!(stranger.to_string()), "good"),
        finish(&second, "bad"),
        finish(&first, "good"),
    ];
    let answer = server.post("/v1/tasks:finish", json!({ "tasks": tasks })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let results = answer.json()["results"].as_array().unwrap().clone();
    let statuses: Vec<_> = results.iter().map(|result| result["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [422, 400, 404, 200, 200]);
    assert_eq!(results[0]["problem"]["code"], "unknown-outcome");
    assert_eq!(results[0]["problem"]["outcomes"], json!(["bad", "good"]));
    assert_eq!(results[1]["token"], "nonsense");
    assert_eq!(
        (&results[3]["state"], &results[3]["submission_status"]),
        (&json!("REFUSED"), &json!("failed"))
    );
    let empty = server.post("/v1/tasks:finish", json!({ "tasks": [] })).await;
    assert_eq!(empty.json(), json!({ "results": [] }));
}

#[tokio::test]
async fn more_than_a_thousand_tasks_are_too_many() {
    let server = Server::start().await;
    for (verb, rest) in [
        ("finish", json!({ "token": "t", "outcome": "o" })),
        ("fail", json!({ "token": "t", "error": { "code": "c", "message": "m" } })),
        ("snooze", json!({ "token": "t", "for": "1s" })),
        ("give-back", json!({ "token": "t" })),
        ("renew", json!({ "token": "t" })),
        ("spawn", json!({ "token": "t", "children": [] })),
    ] {
        let path = format!("/v1/tasks:{verb}");
        let body = |count: usize| json!({ "tasks": vec![&rest; count] });
        assert_eq!(server.post(&path, body(1_001)).await.problem(413, "too-large")["max"], 1_000);
        let most = server.post(&path, body(1_000)).await;
        assert_eq!((most.status, most.json()["results"].as_array().unwrap().len()), (200, 1_000));
        server.post(&path, json!({ "tasks": [{}] })).await.problem(400, "invalid-request");
        server.post(&path, json!({ "tasks": {} })).await.problem(400, "invalid-request");
    }
}

#[tokio::test]
async fn a_worker_may_choose_its_lease_and_the_pause_after_a_failure() {
    let server = Server::start().await;
    let tries = "name = 'tries'\nversion = 1\nstart = 'TRYING'\n[states.TRYING]\ntask = 'tries.try'\n\
        retry = { times = 3, delay = '1s' }\non.done = 'DONE'\n[states.DONE]\nfinal = 'success'\n";
    server.engine.apply(&Source::new("tries.toml", tries)).await.unwrap();
    let id =
        server.post("/v1/pipelines/tries/submissions", json!({ "payload": {} })).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    let claim = json!({ "worker": "w", "tasks": ["tries.try"], "lease": "7m" });
    let task = server.post("/v1/tasks:claim", claim).await.json()["tasks"][0].clone();
    assert_eq!(task["lease"], "7m", "{task}");
    let fail = async |after: &str| {
        let error = json!({ "code": "busy", "message": "later", "retry_after": after });
        let body = json!({ "tasks": [{ "token": task["token"], "error": error }] });
        server.post("/v1/tasks:fail", body).await.json()["results"][0].clone()
    };
    assert_eq!(fail("8d").await["problem"]["code"], "invalid-request");
    assert_eq!(fail("3h").await["status"], 200);
    assert_eq!(fail("3h").await["repeated"], true);
    assert_eq!(fail("4h").await["problem"]["code"], "stale-lease", "another pause is another word");
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    let at = |member: &str| shown[member].as_str().unwrap().parse::<model::Time>().unwrap().millis();
    let hours = (at("wake_at") - at("created_at")) / 3_600_000;
    assert_eq!(hours, 3, "{shown}");
}

#[tokio::test]
async fn a_failure_is_kept_with_its_message_cut() {
    let server = Server::start().await;
    let note = server.post("/v1/pipelines/notes/submissions", json!({ "payload": {} })).await.json();
    let token = server.claim("notes.read").await["token"].clone();
    let fail = async |code: &str, message: &str| {
        let error = json!({ "code": code, "message": message });
        let answer =
            server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": token, "error": error }] })).await;
        answer.json()["results"][0].clone()
    };
    for code in ["", "Bad", "-x", "a b", &"x".repeat(65)] {
        let refused = fail(code, "m").await;
        assert_eq!(
            (&refused["status"], &refused["problem"]["code"]),
            (&json!(400), &json!("invalid-request")),
            "{code}"
        );
    }
    let failed = fail("git-clone", &"é".repeat(3_000)).await;
    assert_eq!((&failed["status"], &failed["state"]), (&json!(200), &json!("LOST")), "{failed}");
    let shown = server.get(&format!("/v1/submissions/{}", note["id"].as_str().unwrap())).await.json();
    assert_eq!(shown["error"], json!({ "code": "git-clone", "message": "é".repeat(2_000) }));
}

#[tokio::test]
async fn a_lease_that_is_given_back_is_there_for_the_next_worker_and_counts_no_attempt() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let token = server.claim("parcels.check").await["token"].clone();
    let give_back = async || {
        let answer = server.post("/v1/tasks:give-back", json!({ "tasks": [{ "token": token }] })).await;
        answer.json()["results"][0].clone()
    };
    let first = give_back().await;
    let state = &server.get(&format!("/v1/submissions/{id}")).await.json()["state"];
    let settled = json!({ "token": token, "status": 200, "state": state, "submission_status": "open" });
    assert_eq!(first, settled);
    let task = server.claim("parcels.check").await;
    assert_eq!((&task["submission"], &task["attempt"]), (&json!(id), &json!(1)));
    assert_eq!(give_back().await["repeated"], true, "a repeat is told what the first was told");
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert_eq!((&shown["waits_for"], &shown["revision"]), (&json!("lease"), &json!(1)), "{shown}");
    let late = server.post("/v1/tasks:renew", json!({ "tasks": [{ "token": token }] })).await.json();
    assert_eq!(late["results"][0]["problem"]["code"], "stale-lease", "{late}");
}

#[tokio::test]
async fn a_lease_is_renewed_and_put_off() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let token = server.claim("parcels.check").await["token"].clone();
    let renewed = server.post("/v1/tasks:renew", json!({ "tasks": [{ "token": token }] })).await.json();
    assert_eq!(renewed["results"][0]["status"], 200, "{renewed}");
    assert!(renewed["results"][0]["lease_expires_at"].is_string(), "{renewed}");
    assert!(renewed["results"][0]["payload_revision"].is_u64(), "{renewed}");
    let snoozed =
        server.post("/v1/tasks:snooze", json!({ "tasks": [{ "token": token, "for": "1h" }] })).await.json();
    assert_eq!(snoozed["results"][0]["status"], 200, "{snoozed}");
    let shown = server.get(&format!("/v1/submissions/{id}")).await.json();
    assert!(shown["lease"].is_null() && shown["wake_at"].is_string(), "{shown}");
    let late = server.post("/v1/tasks:renew", json!({ "tasks": [{ "token": token }] })).await.json();
    assert_eq!(late["results"][0]["problem"]["code"], "stale-lease", "{late}");
}

#[tokio::test]
async fn a_task_says_how_far_it_has_come() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let task = server.claim("parcels.check").await;
    assert_eq!((&task["requeues"], &task["priority"]), (&json!(0), &json!(0)), "{task}");
    let renew = async |progress: Value| {
        let body = json!({ "tasks": [{ "token": task["token"], "progress": progress }] });
        server.post("/v1/tasks:renew", body).await
    };
    let shown = async || server.get(&format!("/v1/submissions/{id}")).await.json();
    renew(json!({ "done": 3, "total": 9, "line": "weighing\nit" })).await;
    let lease = shown().await["lease"].clone();
    let (progress, at) = (&lease["progress"], &lease["progress"]["at"]);
    assert_eq!(progress, &json!({ "done": 3, "total": 9, "line": "weighing it", "at": at }), "{lease}");
    let why = server.get(&format!("/v1/submissions/{id}/why")).await.json();
    assert!(why["reasons"][0]["sentence"].as_str().is_some_and(|why| why.contains("3 of 9")), "{why}");
    renew(Value::Null).await;
    assert_eq!(&shown().await["lease"]["progress"], progress, "a renewal that says nothing leaves it");
    for wrong in [json!({}), json!({ "done": -1 }), json!({ "done": 1, "of": 2 })] {
        assert_eq!(renew(wrong.clone()).await.status, 400, "{wrong}");
    }
    let back = json!({ "tasks": [{ "token": task["token"] }] });
    server.post("/v1/tasks:give-back", back).await;
    assert!(server.claim("parcels.check").await["token"].is_string());
    let shown = shown().await;
    assert!(shown["lease"].is_object() && shown["lease"]["progress"].is_null(), "{shown}");
    let events = server.get(&format!("/v1/submissions/{id}/events")).await.json();
    assert_eq!(events["events"].as_array().map(Vec::len), Some(1), "submitted, and no more: {events}");
}

/// Fails, is put right by a person, and fails where it began.
const PATCHES: &str = "name = \"patches\"\nversion = 1\nkey = \"payload.id\"\nstart = \"READING\"\n\
    [states.READING]\ntask = \"patches.read\"\non.read = \"APPLYING\"\n\
    [states.APPLYING]\ntask = \"patches.apply\"\ntimeout = \"1h\"\non.applied = \"DONE\"\non.error = \"BROKEN\"\n\
    [states.BROKEN]\nactions.again = { to = \"APPLYING\" }\n[states.DONE]\nfinal = \"success\"\n";

#[tokio::test]
async fn a_worker_is_told_where_its_task_comes_from() {
    let server = Server::with_pipelines(&[PATCHES]).await;
    let body = json!({ "payload": { "id": "p-1" } });
    let id = server.post("/v1/pipelines/patches/submissions", body).await.json()["id"].clone();
    let read = server.claim("patches.read").await;
    assert_eq!((&read["key"], &read["timeout"]), (&json!("p-1"), &Value::Null), "{read}");
    server.finish(&read["token"], "read", json!({})).await;
    let first = server.claim("patches.apply").await;
    assert_eq!((&first["last_good"], &first["timeout"]), (&json!("READING"), &json!("1h")), "{first}");
    assert_eq!(first["failed_from"], Value::Null, "{first}");
    let error = json!({ "code": "conflict", "message": "it does not apply", "retryable": false });
    server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": first["token"], "error": error }] })).await;
    let again = format!("/v1/submissions/{}/actions/again", id.as_str().unwrap());
    assert_eq!(server.post(&again, "").await.status, 200);
    let second = server.claim("patches.apply").await;
    assert_eq!(
        (&second["failed_from"], &second["last_good"]),
        (&json!("APPLYING"), &json!("READING")),
        "{second}"
    );
}

#[tokio::test]
async fn a_lease_is_settled_by_the_subject_that_claimed_it() {
    let right = |token, subject: &str, role: &str| Grant {
        token,
        rights: json!({ "subject": subject, "role": role }),
    };
    let grants = [
        right("one", "ada", "worker"),
        right("two", "ada", "worker"),
        right("other", "bob", "worker"),
        right("root", "root", "admin"),
    ];
    let server = Server::with(&grants, |_| {}).await;
    let post = async |token: &str, path: &str, body: Value| {
        Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await.json()
    };
    let parcel = json!({ "payload": { "ref": "a", "owner": "ada", "weight": 5 } });
    let first = post("root", "/v1/pipelines/parcels/submissions", parcel).await;
    let claim = json!({ "worker": "w", "tasks": ["parcels.check"] });
    let lease = post("one", "/v1/tasks:claim", claim).await["tasks"][0]["token"].clone();
    let finish = json!({ "tasks": [{ "token": lease, "outcome": "good", "output": { "grams": 1 } }] });
    for token in ["other", "root"] {
        for (verb, body) in [("finish", finish.clone()), ("renew", json!({ "tasks": [{ "token": lease }] }))]
        {
            let answer = post(token, &format!("/v1/tasks:{verb}"), body).await;
            assert_eq!(answer["results"][0]["problem"]["code"], "role-required", "{verb}: {answer}");
        }
    }
    let settled = post("two", "/v1/tasks:finish", finish.clone()).await;
    assert_eq!(settled["results"][0]["status"], 200, "another token of the same subject: {settled}");
    let actor = async |id: &str| {
        let request = server.request("GET", &format!("/v1/submissions/{id}/events")).bearer_auth("root");
        Answer::of(request).await.json()["events"].as_array().unwrap().last().unwrap()["actor"].clone()
    };
    assert_eq!(actor(first["id"].as_str().unwrap()).await["name"], "ada/w");

    // Claimed while the server was open to everybody: on record is who settles it.
    let parcel = json!({ "payload": { "ref": "b", "owner": "ada", "weight": 5 } });
    let second = post("root", "/v1/pipelines/parcels/submissions", parcel).await;
    let claim = ClaimMany {
        worker: "early".into(),
        tasks: vec!["parcels.check".into()],
        pipelines: Vec::new(),
        labels: BTreeMap::new(),
        max: 1,
        arriving: false,
        only: None,
        lease: None,
    };
    let granted = server.engine.claim(claim, std::time::Duration::ZERO).await.unwrap();
    let task = json!({ "token": granted[0].token.to_string(), "outcome": "good", "output": { "grams": 1 } });
    let settled = post("other", "/v1/tasks:finish", json!({ "tasks": [task] })).await;
    assert_eq!(settled["results"][0]["status"], 200, "{settled}");
    assert_eq!(actor(second["id"].as_str().unwrap()).await["name"], "bob/early");
}
