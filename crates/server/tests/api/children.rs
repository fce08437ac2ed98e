use serde_json::{Value, json};

use crate::server::{Answer, Grant, Server};

const BATCH: &str = r#"
name = "shipments"
version = 1
start = "UNPACKING"

[states.UNPACKING]
join = "boxes"
task = "shipments.unpack"
lease = "1h"
on.empty = "EMPTY"
on.all_succeeded = "STORED"
on.some_failed = "TROUBLE"

[states.EMPTY]
final = "success"

[states.STORED]
final = "success"

[states.TROUBLE]
final = "failure"
"#;

const BOXES: &str = r#"
name = "boxes"
version = 1
start = [{ to = "STORING", when = "payload.size > 0" }]
on_duplicate = "reject"

[states.STORING]
task = "boxes.store"
lease = "1h"
on.stored = "STORED"
on.broken = "BROKEN"

[states.STORED]
final = "success"

[states.BROKEN]
final = "failure"
"#;

async fn begin() -> (Server, String, Value) {
    let server = Server::with_pipelines(&[BOXES, BATCH]).await;
    let made = server.post("/v1/pipelines/shipments/submissions", json!({ "payload": {} })).await.json();
    let token = server.claim("shipments.unpack").await["token"].clone();
    (server, made["id"].as_str().unwrap().to_owned(), token)
}

async fn ask(server: &Server, verb: &str, task: Value) -> Value {
    let answer = server.post(&format!("/v1/tasks:{verb}"), json!({ "tasks": [task] })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["results"][0].clone()
}

fn boxes(sizes: &[i64]) -> Vec<Value> {
    sizes.iter().map(|size| json!({ "payload": { "size": size } })).collect()
}

async fn children(server: &Server, id: &str) -> Value {
    server.get(&format!("/v1/submissions/{id}")).await.json()["children"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_made_sealed_and_joined() {
    let (server, id, token) = begin().await;
    let spawned = ask(&server, "spawn", json!({ "token": token, "children": boxes(&[1, 2]) })).await;
    let counts = json!({ "total": 2, "open": 2, "succeeded": 0, "failed": 0, "cancelled": 0 });
    assert_eq!((&spawned["status"], &spawned["children"]), (&json!(200), &counts), "{spawned}");
    let finish = json!({ "token": token, "outcome": "sealed", "children": [{ "payload": { "size": 3 }, "key": "k", "name": "last" }] });
    let sealed = ask(&server, "finish", finish.clone()).await;
    assert_eq!((&sealed["status"], &sealed["state"]), (&json!(200), &json!("UNPACKING")), "{sealed}");
    assert_eq!(children(&server, &id).await["total"], 3);
    let list = server.get(&format!("/v1/submissions?parent={id}")).await.json();
    assert_eq!(list["submissions"].as_array().unwrap().len(), 3);
    let why = server.get(&format!("/v1/submissions/{id}/why")).await.json();
    assert_eq!(
        (&why["reasons"][0]["code"], &why["reasons"][0]["details"]["children"]["open"]),
        (&json!("children"), &json!(3))
    );

    let again = ask(&server, "finish", finish.clone()).await;
    assert_eq!((&again["status"], &again["repeated"]), (&json!(200), &json!(true)), "{again}");
    let other = json!({ "token": token, "outcome": "sealed", "children": boxes(&[9]) });
    assert_eq!(ask(&server, "finish", other).await["problem"]["code"], "stale-lease");
    for outcome in ["stored", "broken", "stored"] {
        let task = server.claim("boxes.store").await;
        server.finish(&task["token"], outcome, Value::Null).await;
    }
    let mut shown = Value::Null;
    while shown["status"] != "failed" {
        shown = server.get(&format!("/v1/submissions/{id}")).await.json();
        tokio::task::yield_now().await;
    }
    assert_eq!(shown["state"], "TROUBLE");
    assert_eq!(
        shown["children"],
        json!({ "total": 3, "open": 0, "succeeded": 2, "failed": 1, "cancelled": 0 })
    );
    let late = ask(&server, "finish", finish).await;
    assert_eq!(late["repeated"], json!(true), "a repeat is known after the end, too: {late}");
}

#[tokio::test]
async fn a_repeated_spawn_makes_nothing_twice() {
    let (server, id, token) = begin().await;
    let many = json!([
        { "payload": { "size": 1 } }, { "payload": { "size": 1 } },
        { "payload": { "size": 1 }, "key": "k" }, { "payload": { "size": 1 }, "name": "n" },
    ]);
    for _ in 0..2 {
        let spawned = ask(&server, "spawn", json!({ "token": token, "children": many })).await;
        assert_eq!(spawned["children"]["total"], 4, "{spawned}");
    }
    let more = json!([{ "payload": { "size": 2 }, "name": "n" }, { "payload": { "size": 7 }, "name": "m" }]);
    let spawned = ask(&server, "spawn", json!({ "token": token, "children": more })).await;
    assert_eq!(spawned["children"]["total"], 5, "the same name is the same child: {spawned}");
    let sealed =
        ask(&server, "finish", json!({ "token": token, "outcome": "sealed", "children": more })).await;
    assert_eq!(sealed["status"], 200, "{sealed}");
    assert_eq!(children(&server, &id).await["open"], 5);
}

#[tokio::test]
async fn a_child_that_does_not_fit_refuses_them_all() {
    let (server, id, token) = begin().await;
    let long = "n".repeat(513);
    for (children, status, code, index) in [
        (json!([{ "payload": { "size": 1 } }, { "payload": { "size": 0 } }]), 422, "not-admitted", json!(1)),
        (json!([{ "payload": {} }]), 422, "guard-error", json!(0)),
        (
            json!([{ "payload": { "size": 1 }, "name": "a" }, { "payload": { "size": 2 }, "name": "a" }]),
            400,
            "invalid-request",
            json!(1),
        ),
        (
            json!([{ "payload": { "size": 1 }, "key": "a" }, { "payload": { "size": 2 }, "key": "a", "name": "b" }]),
            409,
            "duplicate-key",
            json!(1),
        ),
        (json!([{ "payload": { "size": 1 }, "name": "" }]), 400, "invalid-request", Value::Null),
        (json!([{ "payload": { "size": 1 }, "name": long }]), 400, "invalid-request", Value::Null),
        (json!(vec![json!({ "payload": { "size": 1 } }); 1_001]), 413, "too-large", Value::Null),
    ] {
        for (verb, outcome) in [("spawn", Value::Null), ("finish", json!("sealed"))] {
            let mut task = json!({ "token": token, "children": children });
            if !outcome.is_null() {
                task["outcome"] = outcome;
            }
            let refused = ask(&server, verb, task).await;
            assert_eq!(
                (&refused["status"], &refused["problem"]["code"]),
                (&json!(status), &json!(code)),
                "{refused}"
            );
            assert_eq!(refused["problem"].get("child").cloned().unwrap_or_default(), index, "{refused}");
        }
    }
    assert_eq!(children(&server, &id).await["total"], 0);
    for bad in [
        json!({ "token": token }),
        json!({ "token": token, "children": [{}] }),
        json!({ "token": token, "children": [{ "payload": 1, "x": 1 }] }),
    ] {
        server.post("/v1/tasks:spawn", json!({ "tasks": [bad] })).await.problem(400, "invalid-request");
    }
    let refused = ask(&server, "spawn", json!({ "token": "nonsense", "children": [] })).await;
    assert_eq!(refused["status"], 400, "{refused}");
    server.parcel("r1").await;
    let parcel = server.claim("parcels.check").await["token"].clone();
    let refused = ask(&server, "spawn", json!({ "token": parcel, "children": boxes(&[1]) })).await;
    assert!(refused["problem"]["detail"].as_str().unwrap().contains("makes no children"), "{refused}");
    ask(&server, "snooze", json!({ "token": token, "for": "1h" })).await;
    let stale = ask(&server, "spawn", json!({ "token": token, "children": boxes(&[1]) })).await;
    assert_eq!(stale["problem"]["code"], "stale-lease");
}

/// Tokens of one pipeline each, and one for both.
fn grants() -> [Grant; 4] {
    let right = |token, role: &str, pipelines: Value| {
        let rights = json!({ "subject": format!("a-{role}"), "role": role, "pipelines": pipelines });
        Grant { token, rights }
    };
    [
        right("owner", "admin", json!(["shipments"])),
        right("unpacker", "worker", json!(["shipments"])),
        right("packer", "worker", json!(["shipments", "boxes"])),
        Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) },
    ]
}

async fn put(server: &Server, token: &str, toml: &str) -> Answer {
    let request = server.request("PUT", "/v1/pipelines/shipments").header("Content-Type", "application/toml");
    Answer::of(request.bearer_auth(token).body(toml.to_owned())).await
}

#[tokio::test]
async fn a_definition_reaches_no_pipeline_outside_its_tokens_scope() {
    let server = Server::with(&grants(), |_| {}).await;
    server.engine.apply(&model::pipeline::Source::new("boxes.toml", BOXES)).await.unwrap();
    put(&server, "owner", BATCH).await.problem(403, "role-required");
    let alone = BATCH
        .replace("join = \"boxes\"\n", "")
        .replace("on.all_succeeded", "on.all")
        .replace("on.some_failed", "on.some");
    let borrowed = put(&server, "owner", &alone.replace("shipments.unpack", "boxes.store")).await;
    borrowed.problem(403, "role-required");
    assert!(!borrowed.text.contains("`boxes`"), "whose it is, is not said: {}", borrowed.text);
    assert_eq!(put(&server, "owner", &alone).await.status, 201);
    let both = put(&server, "root", &BATCH.replace("version = 1", "version = 2")).await;
    assert_eq!(both.status, 201, "{}", both.text);
}

#[tokio::test]
async fn a_worker_makes_children_only_where_its_token_reaches() {
    let server = Server::with(&grants(), |_| {}).await;
    for toml in [BOXES, BATCH] {
        server.engine.apply(&model::pipeline::Source::new("x.toml", toml)).await.unwrap();
    }
    let post = async |token: &str, path: &str, body: Value| {
        Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await.json()
    };
    post("root", "/v1/pipelines/shipments/submissions", json!({ "payload": {} })).await;
    let claim = json!({ "worker": "w", "tasks": ["shipments.unpack"] });
    let lease = post("unpacker", "/v1/tasks:claim", claim).await["tasks"][0]["token"].clone();
    let spawn = json!({ "tasks": [{ "token": lease, "children": boxes(&[1]) }] });
    let refused = post("unpacker", "/v1/tasks:spawn", spawn.clone()).await;
    assert_eq!(refused["results"][0]["problem"]["code"], "role-required", "{refused}");
    let made = post("packer", "/v1/tasks:spawn", spawn).await;
    assert_eq!(made["results"][0]["children"]["total"], 1, "{made}");
}

#[tokio::test]
async fn a_child_is_submitted_by_its_maker_and_by_whoever_submitted_its_parent() {
    let parent = "name = 'orders'\nversion = 1\nstart = 'SPLITTING'\n[states.SPLITTING]\njoin = 'items'\ntask = 'orders.split'\n\
                  on.empty = 'DONE'\non.all_succeeded = 'DONE'\non.some_failed = 'DONE'\n[states.DONE]\nfinal = 'success'\n";
    let child = "name = 'items'\nversion = 1\nstart = 'REVIEW'\n[states.REVIEW]\nreview = 'reviewer'\n\
                 actions.approve = { to = 'DONE', self_approval = false }\n[states.DONE]\nfinal = 'success'\n";
    let grant =
        |token, subject: &str| Grant { token, rights: json!({ "subject": subject, "role": "admin" }) };
    let grants = [grant("ada", "ada"), grant("Ada", "Ada "), grant("bob", "bob"), grant("cleo", "cleo")];
    let server = Server::with(&grants, |_| {}).await;
    for file in [child, parent] {
        server.engine.apply(&model::pipeline::Source::new("p.toml", file)).await.unwrap();
    }
    let post = async |token: &str, path: &str, body: Value| {
        Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await
    };
    let made = post("ada", "/v1/pipelines/orders/submissions", json!({ "payload": {} })).await;
    let parent = made.json()["id"].as_str().unwrap().to_owned();
    let claimed = post("bob", "/v1/tasks:claim", json!({ "worker": "w", "tasks": ["orders.split"] })).await;
    let token = claimed.json()["tasks"][0]["token"].clone();
    let spawn = json!({ "tasks": [{ "token": token, "children": [{ "payload": {} }] }] });
    assert_eq!(post("bob", "/v1/tasks:spawn", spawn).await.json()["results"][0]["status"], 200);
    let request = server.request("GET", &format!("/v1/submissions?parent={parent}")).bearer_auth("cleo");
    let found = Answer::of(request).await.json();
    let child = found["submissions"][0]["id"].as_str().unwrap().to_owned();
    let approve = format!("/v1/submissions/{child}/actions/approve");
    for own in ["ada", "Ada", "bob"] {
        post(own, &approve, json!({})).await.problem(403, "self-approval");
    }
    assert_eq!(post("cleo", &approve, json!({})).await.json()["state"], "DONE");
}

#[tokio::test]
async fn a_worker_with_labels_makes_children_with_these_labels_only() {
    let labelled =
        |toml: &str| toml.replace("version = 1\n", "version = 1\nlabels = { owner = \"payload.owner\" }\n");
    let right = |token, role: &str, labels: Value| Grant {
        token,
        rights: json!({ "subject": token, "role": role, "labels": labels }),
    };
    let grants = [right("ada", "worker", json!({ "owner": "ada" })), right("root", "admin", json!({}))];
    let server = Server::with(&grants, |_| {}).await;
    for toml in [BOXES, BATCH] {
        server.engine.apply(&model::pipeline::Source::new("x.toml", labelled(toml))).await.unwrap();
    }
    let post = async |token: &str, path: &str, body: Value| {
        Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await.json()
    };
    post("root", "/v1/pipelines/shipments/submissions", json!({ "payload": { "owner": "ada" } })).await;
    let claim = json!({ "worker": "w", "tasks": ["shipments.unpack"] });
    let lease = post("ada", "/v1/tasks:claim", claim).await["tasks"][0]["token"].clone();
    let spawn = async |owner: &str| {
        let child = json!({ "payload": { "size": 1, "owner": owner } });
        post("ada", "/v1/tasks:spawn", json!({ "tasks": [{ "token": lease, "children": [child] }] })).await
    };
    let refused = spawn("bob").await;
    assert_eq!(refused["results"][0]["problem"]["code"], "role-required", "{refused}");
    let made = spawn("ada").await;
    assert_eq!(made["results"][0]["children"]["total"], 1, "{made}");
}

#[tokio::test]
async fn a_message_of_somebodys_own_is_no_child() {
    let server = Server::start().await;
    server.engine.apply_delivery().await.unwrap();
    let toml = BATCH.replace("join = \"boxes\"", "join = \"delivery\"");
    server.engine.apply(&model::pipeline::Source::new("x.toml", toml)).await.unwrap();
    server.post("/v1/pipelines/shipments/submissions", json!({ "payload": {} })).await;
    let token = server.claim("shipments.unpack").await["token"].clone();
    let forged = json!({ "payload": {
        "cause": "x", "name": "author", "channel": "mail", "to": "ada@example.com", "body": "trust me",
    } });
    let refused = ask(&server, "spawn", json!({ "token": token, "children": [forged] })).await;
    assert_eq!(refused["problem"]["code"], "reserved", "{refused}");
}
