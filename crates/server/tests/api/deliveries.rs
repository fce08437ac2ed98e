use serde_json::{Value, json};
use store::Store as _;

use crate::server::{Answer, Grant, Server};

const LOUD: &str = r#"
name = "loud"
version = 1
start = "DOING"
[notify.author]
mail = "payload.mail"
[notify.hook]
webhook = "payload.hook"
[states.DOING]
task = "loud.work"
on.done = "DONE"
on.error = { notify = "author" }
[states.DONE]
final = "success"
notify = ["author", "hook"]
"#;

const PAYLOAD: &str = r#"{"mail": "ada@example.com", "hook": "https://hooks.example/1"}"#;

/// A submission that has ended and told two people.
async fn loud() -> (Server, String) {
    let server = Server::with_pipelines(&[]).await;
    assert!(server.engine.apply_delivery().await.unwrap());
    assert!(!server.engine.apply_delivery().await.unwrap(), "it is there");
    server.engine.apply(&model::pipeline::Source::new("loud.toml", LOUD)).await.unwrap();
    let id = done(&server, PAYLOAD).await;
    (server, id)
}

async fn done(server: &Server, payload: &str) -> String {
    let body = json!({ "payload": serde_json::from_str::<Value>(payload).unwrap() });
    let id = server.post("/v1/pipelines/loud/submissions", body).await.json()["id"].clone();
    let token = server.claim("loud.work").await["token"].clone();
    let finish = json!({ "tasks": [{ "token": token, "outcome": "done" }] });
    server.post("/v1/tasks:finish", finish).await;
    id.as_str().unwrap().to_owned()
}

/// Waits until so many deliveries fit.
async fn listed(server: &Server, query: &str, count: usize) -> Vec<Value> {
    let mut seen = Vec::new();
    for _ in 0..1_000 {
        let page = server.get(&format!("/v1/deliveries{query}")).await.json();
        seen = page["deliveries"].as_array().unwrap().clone();
        if seen.len() == count {
            break;
        }
    }
    assert_eq!(seen.len(), count, "{seen:?}");
    seen
}

async fn refuse(server: &Server, task: &str) {
    let token = server.claim(task).await["token"].clone();
    let error = json!({ "code": "smtp-550", "message": "no such mailbox", "retryable": false });
    server.post("/v1/tasks:fail", json!({ "tasks": [{ "token": token, "error": error }] })).await;
}

#[tokio::test]
async fn deliveries_are_listed_newest_first_and_by_what_they_are_about() {
    let (server, id) = loud().await;
    let other = done(&server, r#"{"mail": "bob@example.com", "hook": null}"#).await;
    assert_eq!(listed(&server, "", 3).await.len(), 3);
    let about = listed(&server, &format!("?submission={id}"), 2).await;
    let mut told: Vec<_> = about.iter().map(|one| (&one["channel"], &one["to"], &one["name"])).collect();
    told.sort_by_key(|(channel, ..)| channel.to_string());
    assert_eq!(
        told,
        [
            (&json!("mail"), &json!("ada@example.com"), &json!("author")),
            (&json!("webhook"), &json!("https://hooks.example/1"), &json!("hook")),
        ]
    );
    let events = server.get(&format!("/v1/submissions/{id}/events")).await.json();
    let moved = events["events"].as_array().unwrap().last().unwrap();
    assert_eq!(about[0]["cause"], moved["id"]);
    assert_eq!((&about[0]["submission"], &about[0]["pipeline"]), (&json!(id), &json!("loud")));
    assert_eq!(moved["notified"].as_array().unwrap().len(), 2);

    let events = server.get(&format!("/v1/submissions/{other}/events")).await.json();
    let moved = events["events"].as_array().unwrap().last().unwrap();
    assert_eq!(
        moved["notified"][1],
        json!({ "name": "hook", "channel": "webhook", "problem": "no address" })
    );

    let posts = listed(&server, "?channel=webhook&status=open", 1).await;
    assert_eq!(posts[0]["state"], "POSTING");
    let first = server.get("/v1/deliveries?limit=2").await.json();
    let rest = server.get(&format!("/v1/deliveries?limit=2&after={}", first["next"].as_str().unwrap())).await;
    assert_eq!(
        (rest.json()["deliveries"].as_array().unwrap().len(), &rest.json()["next"]),
        (1, &Value::Null)
    );
    server.get("/v1/deliveries?submission=x").await.problem(400, "invalid-request");
    server.get("/v1/deliveries?to=x").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn a_message_that_does_not_get_out_is_said_where_it_is_about() {
    let (server, id) = loud().await;
    listed(&server, "", 2).await;
    let why = async || server.get(&format!("/v1/submissions/{id}/why")).await.json()["reasons"].clone();
    assert_eq!(why().await.as_array().unwrap().len(), 1, "it has ended, and that is all");
    refuse(&server, "delivery.mail").await;
    let dead = listed(&server, "?status=dead", 1).await.remove(0);
    assert_eq!((&dead["error"]["code"], &dead["next_try_at"]), (&json!("smtp-550"), &Value::Null));
    let reasons = why().await;
    let unsent = reasons.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&unsent["code"], &unsent["details"]["deliveries"][0]["delivery"]),
        (&json!("unsent"), &dead["id"])
    );
    assert!(!reasons.to_string().contains("ada@example.com"), "{reasons}");
}

#[tokio::test]
async fn a_delivery_is_replayed_once_it_has_stopped_or_ended() {
    let (server, _) = loud().await;
    let mail = listed(&server, "?channel=mail", 1).await.remove(0);
    let path = format!("/v1/deliveries/{}/replay", mail["id"].as_str().unwrap());
    server.post(&path, json!({})).await.problem(409, "duplicate-key");

    refuse(&server, "delivery.mail").await;
    let again = server.post(&path, json!({ "reason": "the mailbox is back" })).await.json();
    assert_eq!((&again["id"], &again["status"]), (&mail["id"], &json!("open")), "a dead one goes on");

    let token = server.claim("delivery.mail").await["token"].clone();
    server.post("/v1/tasks:finish", json!({ "tasks": [{ "token": token, "outcome": "sent" }] })).await;
    let again = server.post(&path, json!({})).await.json();
    assert_ne!(again["id"], mail["id"], "one that has ended is made anew");
    for same in ["cause", "name", "channel", "to", "submission"] {
        assert_eq!(again[same], mail[same], "{same}");
    }
    let twice = server.post(&path, json!({})).await.json();
    assert_eq!(twice["id"], again["id"], "once, while that is on its way");
    server.post("/v1/deliveries/nonsense/replay", json!({})).await.problem(404, "unknown-submission");
    let id = done(&server, r#"{"mail": null, "hook": null}"#).await;
    server.post(&format!("/v1/deliveries/{id}/replay"), json!({})).await.problem(404, "unknown-submission");
}

#[tokio::test]
async fn a_pipeline_that_notifies_is_refused_where_nothing_carries_it() {
    let server = Server::with_pipelines(&[]).await;
    let body = json!({ "toml": LOUD });
    let answer = crate::server::Answer::of(server.with_json("PUT", "/v1/pipelines/loud", body)).await;
    let problem = answer.problem(422, "invalid-definition");
    assert!(problem["detail"].as_str().unwrap().contains("apply it first"), "{problem}");
}

fn grants() -> [Grant; 6] {
    let right = |token, role: &str, pipelines: Option<&str>| {
        let mut rights = json!({ "subject": format!("a-{token}"), "role": role });
        if let Some(pipeline) = pipelines {
            rights["pipelines"] = json!([pipeline]);
        }
        Grant { token, rights }
    };
    [
        right("admin", "admin", None),
        right("submitter", "submitter", None),
        right("worker", "worker", None),
        right("sender", "worker", Some("delivery")),
        right("viewer", "viewer", None),
        right("onlooker", "viewer", Some("delivery")),
    ]
}

async fn post_as(server: &Server, token: &str, path: &str, body: Value) -> Answer {
    Answer::of(server.with_json("POST", path, body).bearer_auth(token)).await
}

#[tokio::test]
async fn nobody_makes_a_message_of_their_own() {
    let server = Server::with(&grants(), |_| {}).await;
    server.engine.apply_delivery().await.unwrap();
    let forged = json!({ "payload": {
        "cause": "x", "name": "author", "channel": "mail", "to": "ada@example.com", "body": "trust me",
    } });
    for token in ["submitter", "admin"] {
        let answer = post_as(&server, token, "/v1/pipelines/delivery/submissions", forged.clone()).await;
        answer.problem(403, "reserved");
        let many = json!({ "submissions": [forged] });
        let answer = post_as(&server, token, "/v1/pipelines/delivery/submissions", many).await;
        assert_eq!(answer.json()["results"][0]["problem"]["code"], "reserved", "{}", answer.text);
    }
    assert_eq!(server.store.counts().unwrap().len(), 0, "nothing was made");
}

#[tokio::test]
async fn messages_are_sent_by_whoever_has_a_token_for_that() {
    let server = Server::with(&grants(), |_| {}).await;
    server.engine.apply_delivery().await.unwrap();
    let claim = |token: &'static str, task: &str| {
        let body = json!({ "worker": "w", "tasks": ["loud.work", task] });
        post_as(&server, token, "/v1/tasks:claim", body)
    };
    claim("worker", "delivery.mail").await.problem(403, "role-required");
    claim("worker", "delivery.pigeon").await.problem(403, "role-required");
    for (token, task) in [("worker", "loud.other"), ("sender", "delivery.mail"), ("admin", "delivery.post")] {
        let answer = claim(token, task).await;
        assert_eq!(answer.status, 200, "{token}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_secrets_of_an_address_are_shown_to_those_who_send_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::server::memory(&grants());
    let server = Server::over(store, &crate::server::log_options(folder.path()), |_| {}).await;
    server.engine.apply_delivery().await.unwrap();
    server.engine.apply(&model::pipeline::Source::new("loud.toml", LOUD)).await.unwrap();
    let get = async |token: &str, path: &str| {
        let answer = Answer::of(server.request("GET", path).bearer_auth(token)).await;
        assert_eq!(answer.status, 200, "{token} {path}: {}", answer.text);
        answer.text
    };
    let hook = "https://hooks.example/1?token=hunter2";
    let payload = json!({ "payload": { "mail": null, "hook": hook } });
    post_as(&server, "submitter", "/v1/pipelines/loud/submissions", payload).await;
    let claim = json!({ "worker": "w", "tasks": ["loud.work"] });
    let granted = post_as(&server, "worker", "/v1/tasks:claim", claim).await.json();
    let finish = json!({ "tasks": [{ "token": granted["tasks"][0]["token"], "outcome": "done" }] });
    post_as(&server, "worker", "/v1/tasks:finish", finish).await;
    let id = async {
        loop {
            let page: Value = serde_json::from_str(&get("admin", "/v1/deliveries").await).unwrap();
            if let Some(id) = page["deliveries"][0]["id"].as_str() {
                return id.to_owned();
            }
        }
    }
    .await;
    let (one, events) = (format!("/v1/submissions/{id}"), format!("/v1/submissions/{id}/events"));
    let evidence = format!("/v1/submissions/{id}/evidence");
    for token in ["viewer", "submitter", "worker", "onlooker"] {
        let feed = if token == "onlooker" { "/v1/feed?pipeline=delivery" } else { "/v1/feed" };
        for path in ["/v1/deliveries", &*one, &*events, &*evidence, feed] {
            let text = get(token, path).await;
            assert!(!text.contains("hunter2"), "{token} {path}: {text}");
        }
        for path in ["/v1/deliveries", &*one] {
            let text = get(token, path).await;
            assert!(text.contains("https://hooks.example/1?***"), "{token} {path}: {text}");
        }
    }
    for token in ["admin", "sender"] {
        for path in ["/v1/deliveries", &*one, &*evidence] {
            let text = get(token, path).await;
            assert!(text.contains("hunter2"), "{token} {path}: {text}");
        }
    }
    let claim = json!({ "worker": "w", "tasks": ["delivery.post"] });
    let granted = post_as(&server, "sender", "/v1/tasks:claim", claim).await.json();
    assert_eq!(granted["tasks"][0]["payload"]["to"], hook);
}
