use std::time::Duration;

use model::Millis;
use serde_json::{Value, json};

use crate::server::{Answer, Server};

/// Asks with a token, or without one where it is empty.
async fn ask(server: &Server, token: &str, method: &str, path: &str, body: Value) -> Answer {
    let request =
        if body.is_null() { server.request(method, path) } else { server.with_json(method, path, body) };
    Answer::of(if token.is_empty() { request } else { request.bearer_auth(token) }).await
}

/// Makes a token and gives it with its id.
pub(crate) async fn create(server: &Server, by: &str, body: Value) -> (String, String) {
    let answer = ask(server, by, "POST", "/v1/tokens", body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let given = answer.json();
    let text = |name: &str| given[name].as_str().unwrap().to_owned();
    assert_eq!(answer.header("location"), format!("/v1/tokens/{}", text("id")));
    (text("token"), text("id"))
}

async fn root(server: &Server) -> (String, String) {
    create(server, "", json!({ "subject": "root", "role": "admin" })).await
}

#[tokio::test]
async fn the_first_token_closes_the_door_and_must_be_an_admins() {
    let server = Server::start().await;
    for first in [
        json!({ "subject": "v", "role": "viewer" }),
        json!({ "subject": "a", "role": "admin", "pipelines": ["notes"] }),
        json!({ "subject": "a", "role": "admin", "labels": { "owner": "ada" } }),
        json!({ "subject": "a", "role": "admin", "expires_at": "2999-01-01T00:00:00Z" }),
    ] {
        ask(&server, "", "POST", "/v1/tokens", first).await.problem(409, "admin-first");
    }
    assert_eq!(server.get("/v1/submissions").await.status, 200, "still open");
    let (token, _) = root(&server).await;
    assert!(token.len() > 64 && token.starts_with("mp_"), "32 bytes and a mark");
    server.get("/v1/submissions").await.problem(401, "unauthorized");
    assert_eq!(ask(&server, &token, "GET", "/v1/submissions", Value::Null).await.status, 200);
    let (viewer, _) = create(&server, &token, json!({ "subject": "v", "role": "viewer" })).await;
    ask(&server, &viewer, "GET", "/v1/tokens", Value::Null).await.problem(403, "role-required");
}

#[tokio::test]
async fn a_list_has_everything_but_the_tokens() {
    let server = Server::start().await;
    let (token, id) = root(&server).await;
    let wanted = json!({
        "subject": "desk", "role": "reviewer", "pipelines": ["notes"], "labels": { "owner": "ada" },
        "expires_at": "2999-01-01T00:00:00Z",
    });
    let (other, _) = create(&server, &token, wanted.clone()).await;
    let listed = ask(&server, &token, "GET", "/v1/tokens", Value::Null).await;
    assert!(!listed.text.contains(&token) && !listed.text.contains(&other));
    let tokens = listed.json()["tokens"].clone();
    assert_eq!((&tokens[0]["id"], &tokens[0]["pipelines"]), (&json!(id), &Value::Null));
    for (name, value) in wanted.as_object().unwrap().iter().filter(|(name, _)| *name != "expires_at") {
        assert_eq!(&tokens[1][name], value, "{name}");
    }
    assert!(tokens[1]["expires_at"].as_str().unwrap().starts_with("2999-01-01T00:00:00"));
    assert_eq!(tokens[1]["last_used_at"], Value::Null);
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_the_last_admins_stays() {
    let server = Server::start().await;
    let (token, id) = root(&server).await;
    let (viewer, viewer_id) = create(&server, &token, json!({ "subject": "v", "role": "viewer" })).await;
    assert_eq!(ask(&server, &viewer, "GET", "/v1/submissions", Value::Null).await.status, 200);
    let path = format!("/v1/tokens/{viewer_id}");
    assert_eq!(ask(&server, &token, "DELETE", &path, Value::Null).await.json()["subject"], "v");
    ask(&server, &viewer, "GET", "/v1/submissions", Value::Null).await.problem(401, "unauthorized");
    ask(&server, &token, "DELETE", &path, Value::Null).await.problem(404, "unknown-token");
    let own = format!("/v1/tokens/{id}");
    ask(&server, &token, "DELETE", &own, Value::Null).await.problem(409, "last-admin");
    let (second, _) = create(&server, &token, json!({ "subject": "b", "role": "admin" })).await;
    assert_eq!(ask(&server, &second, "DELETE", &own, Value::Null).await.status, 200);
    ask(&server, &token, "GET", "/v1/tokens", Value::Null).await.problem(401, "unauthorized");
}

#[tokio::test]
async fn a_token_sent_in_place_of_its_id_does_not_come_back() {
    let server = Server::start().await;
    let (token, _) = root(&server).await;
    let answer = ask(&server, &token, "DELETE", &format!("/v1/tokens/{token}"), Value::Null).await;
    answer.problem(404, "unknown-token");
    assert!(!answer.text.contains(&token));
}

#[tokio::test]
async fn a_rotated_token_stays_good_for_its_grace() {
    let server = Server::start().await;
    let (old, id) = root(&server).await;
    let rotate = async |token: &str, id: &str, body: Value| {
        let answer = ask(&server, token, "POST", &format!("/v1/tokens/{id}/rotate"), body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        let given = answer.json();
        (given["token"].as_str().unwrap().to_owned(), given["id"].as_str().unwrap().to_owned())
    };
    let (new, new_id) = rotate(&old, &id, Value::Null).await;
    assert_ne!((&new, &new_id), (&old, &id));
    for token in [&old, &new] {
        assert_eq!(ask(&server, token, "GET", "/v1/tokens", Value::Null).await.status, 200);
    }
    ask(&server, &new, "DELETE", &format!("/v1/tokens/{new_id}"), Value::Null)
        .await
        .problem(409, "last-admin");
    let (newest, _) = rotate(&new, &new_id, json!({ "grace": "0s" })).await;
    ask(&server, &new, "GET", "/v1/tokens", Value::Null).await.problem(401, "unauthorized");
    assert_eq!(ask(&server, &newest, "GET", "/v1/tokens", Value::Null).await.status, 200);
    let again = ask(&server, &newest, "POST", &format!("/v1/tokens/{new_id}/rotate"), Value::Null).await;
    again.problem(404, "unknown-token");
    let long = json!({ "grace": "31d" });
    let long = ask(&server, &newest, "POST", &format!("/v1/tokens/{id}/rotate"), long).await;
    long.problem(400, "invalid-request");
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused() {
    let server = Server::start().await;
    for body in [
        json!({ "subject": "", "role": "admin" }),
        json!({ "subject": "a\u{7}b", "role": "admin" }),
        json!({ "subject": "a\u{200b}b", "role": "admin" }),
        json!({ "subject": "a".repeat(129), "role": "admin" }),
        json!({ "subject": "a", "role": "king" }),
        json!({ "subject": "a", "role": "admin", "pipelines": [] }),
        json!({ "subject": "a", "role": "admin", "labels": { "owner": "" } }),
        json!({ "subject": "a", "role": "admin", "expires_at": "2001-01-01T00:00:00Z" }),
        json!({ "subject": "a", "role": "admin", "pipeline": "notes" }),
    ] {
        ask(&server, "", "POST", "/v1/tokens", body).await.problem(400, "invalid-request");
    }
}

#[tokio::test]
async fn nobody_is_called_like_the_server_itself_or_another_subjects_worker() {
    let server = Server::start().await;
    for subject in [
        "system",
        "Notify",
        "schedule",
        "local",
        "sql:app",
        "system:skills",
        "SQL:app",
        "ada/scanner",
        "/",
        " System",
        "\u{ff53}ystem",
    ] {
        let body = json!({ "subject": subject, "role": "admin" });
        ask(&server, "", "POST", "/v1/tokens", body).await.problem(403, "reserved");
    }
    create(&server, "", json!({ "subject": "ada@example.com", "role": "admin" })).await;
}

#[tokio::test]
async fn the_last_use_is_kept() {
    let server = Server::start().await;
    let (token, _) = root(&server).await;
    for _ in 0..3 {
        ask(&server, &token, "GET", "/v1/submissions", Value::Null).await;
    }
    let seen = async {
        loop {
            let listed = ask(&server, &token, "GET", "/v1/tokens", Value::Null).await.json();
            if listed["tokens"][0]["last_used_at"].is_string() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), seen).await.unwrap();
    let used = server.engine.tokens().await.unwrap()[0].last_used_at;
    ask(&server, &token, "GET", "/v1/submissions", Value::Null).await;
    assert_eq!(server.engine.tokens().await.unwrap()[0].last_used_at, used, "once a minute");
}

/// Has a viewer read along and wait, and a worker wait; ends their tokens, and sees both sent away.
async fn are_sent_away(viewer: Value, worker: Value, end: impl AsyncFn(&Server, &str, &str)) {
    let server = Server::start().await;
    let (by, _) = root(&server).await;
    let ((viewer, viewer_id), (worker, worker_id)) =
        (create(&server, &by, viewer).await, create(&server, &by, worker).await);
    let feed = |accept: &str, path: &str| {
        server.request("GET", path).header("accept", accept).bearer_auth(&viewer).send()
    };
    let mut stream = feed("text/event-stream", "/v1/feed").await.unwrap();
    let poll = tokio::spawn(feed("application/json", "/v1/feed?after=end&wait=60s"));
    let claim = json!({ "worker": "w", "tasks": ["parcels.check"], "wait": "60s" });
    let claim = tokio::spawn(server.with_json("POST", "/v1/tasks:claim", claim).bearer_auth(&worker).send());
    while server.engine.waiting() == 0 && !claim.is_finished() {
        tokio::task::yield_now().await;
    }
    for id in [viewer_id, worker_id] {
        end(&server, &by, &id).await;
    }
    let gone = async {
        while stream.chunk().await.unwrap().is_some() {}
        (poll.await.unwrap().unwrap().status().as_u16(), claim.await.unwrap().unwrap().status().as_u16())
    };
    let answered = tokio::time::timeout(Duration::from_secs(30), gone).await;
    assert_eq!(answered.expect("long before their time is over"), (401, 401));
}

fn a(role: &str) -> Value {
    json!({ "subject": role, "role": role })
}

#[tokio::test]
async fn whoever_waits_or_reads_along_is_sent_away_with_their_token() {
    are_sent_away(a("viewer"), a("worker"), async |server, by, id| {
        ask(server, by, "DELETE", &format!("/v1/tokens/{id}"), Value::Null).await;
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_or_reads_along_is_sent_away_when_their_token_is_replaced() {
    are_sent_away(a("viewer"), a("worker"), async |server, by, id| {
        let path = format!("/v1/tokens/{id}/rotate");
        let answer = ask(server, by, "POST", &path, json!({ "grace": "0s" })).await;
        assert!(answer.status < 300, "{}", answer.text);
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_or_reads_along_is_sent_away_when_their_token_ends() {
    let soon = engine::clock::wall().plus(Millis::from_secs(3)).to_string();
    let until = |role: &str| json!({ "subject": role, "role": role, "expires_at": soon });
    are_sent_away(until("viewer"), until("worker"), async |_, _, _| {}).await;
}
