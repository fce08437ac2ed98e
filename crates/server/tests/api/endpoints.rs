use serde_json::{Value, json};
use wire::webhook::Key;

use crate::server::{Answer, Server};

async fn ask(server: &Server, method: &str, path: &str, body: Value) -> Answer {
    let request =
        if body.is_null() { server.request(method, path) } else { server.with_json(method, path, body) };
    Answer::of(request).await
}

/// Makes an endpoint and gives its id and secret.
async fn create(server: &Server, url: &str) -> (String, String) {
    let answer = ask(server, "POST", "/v1/endpoints", json!({ "url": url, "name": "reviews" })).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let given = answer.json();
    let text = |name: &str| given[name].as_str().unwrap().to_owned();
    assert_eq!(answer.header("location"), format!("/v1/endpoints/{}", text("id")));
    (text("id"), text("secret"))
}

#[tokio::test]
async fn an_endpoint_is_made_once_and_its_secret_shown_once() {
    let server = Server::start().await;
    let (id, secret) = create(&server, "https://Hooks.example:443/1#top").await;
    assert!(secret.starts_with("whsec_") && Key::read(&secret).is_some(), "{secret}");
    let listed = server.get("/v1/endpoints").await;
    assert!(!listed.text.contains("whsec_") && !listed.text.contains(&secret[6..]), "{}", listed.text);
    let listed = &listed.json()["endpoints"][0];
    assert_eq!((&listed["id"], &listed["secrets"]), (&json!(id), &json!(1)));
    assert_eq!((&listed["url"], &listed["name"]), (&json!("https://hooks.example/1"), &json!("reviews")));
    assert_eq!(listed["disabled_at"], Value::Null);
    let again = ask(&server, "POST", "/v1/endpoints", json!({ "url": "https://hooks.example/1" })).await;
    assert_eq!(again.problem(409, "endpoint-exists")["endpoint"], json!(id));
    assert_eq!(ask(&server, "DELETE", &format!("/v1/endpoints/{id}"), Value::Null).await.status, 200);
    ask(&server, "DELETE", &format!("/v1/endpoints/{id}"), Value::Null)
        .await
        .problem(404, "unknown-endpoint");
    assert_eq!(server.get("/v1/endpoints").await.json()["endpoints"], json!([]));
}

#[tokio::test]
async fn two_secrets_sign_after_a_rotation_until_the_old_one_is_retired() {
    let server = Server::start().await;
    let (id, first) = create(&server, "https://hooks.example/1").await;
    let signing = async || {
        let posting = server.engine.posting_to("https://hooks.example/1").await.unwrap();
        posting.secrets.into_iter().map(|secret| secret.0).collect::<Vec<_>>()
    };
    let rotate = async || {
        let rotated = ask(&server, "POST", &format!("/v1/endpoints/{id}/rotate"), json!({})).await;
        assert_eq!(rotated.status, 200, "{}", rotated.text);
        assert_eq!(rotated.json()["secrets"], 2);
        rotated.json()["secret"].as_str().unwrap().to_owned()
    };
    assert_eq!(signing().await, std::slice::from_ref(&first));
    let second = rotate().await;
    assert_eq!(signing().await, [second.clone(), first]);
    let third = rotate().await;
    assert_eq!(signing().await, [third.clone(), second]);
    let retired = ask(&server, "POST", &format!("/v1/endpoints/{id}/retire"), Value::Null).await;
    assert_eq!(retired.json()["secrets"], 1);
    assert!(!retired.text.contains("whsec_"), "{}", retired.text);
    assert_eq!(signing().await, [third]);
}

#[tokio::test]
async fn addresses_without_an_endpoint_share_the_default_one() {
    let server = Server::start().await;
    let secrets = async |url: &str| server.engine.posting_to(url).await.unwrap().secrets;
    let shared = secrets("https://a.example/").await;
    assert_eq!(shared.len(), 1);
    assert_eq!(secrets("https://b.example/").await, shared);
    let listed = server.get("/v1/endpoints").await.json()["endpoints"].clone();
    assert_eq!((&listed[0]["url"], &listed[0]["name"]), (&Value::Null, &json!("default")));
    let rotated = ask(&server, "POST", "/v1/endpoints/default/rotate", Value::Null).await.json();
    assert_eq!(secrets("https://a.example/").await[0].0, rotated["secret"].as_str().unwrap());
    let (_, own) = create(&server, "https://a.example/").await;
    assert_eq!(secrets("https://a.example/").await[0].0, own);
    assert_eq!(secrets("https://b.example/").await.len(), 2);
}

#[tokio::test]
async fn an_endpoint_that_asked_to_be_left_alone_is_listed_and_can_be_enabled() {
    let server = Server::start().await;
    let (url, shared) =
        ("https://gone.example/", server.engine.posting_to("https://x.example/").await.unwrap());
    server.engine.disable_endpoint(url, "it answered 410".to_owned()).await.unwrap();
    let first = server.engine.posting_to(url).await.unwrap().disabled.unwrap();
    server.engine.disable_endpoint(url, "again".to_owned()).await.unwrap();
    assert_eq!(server.engine.posting_to(url).await.unwrap().disabled.unwrap(), first, "since the first time");
    let listed = server.get("/v1/endpoints").await.json()["endpoints"][1].clone();
    assert_eq!((&listed["url"], &listed["disabled_reason"]), (&json!(url), &json!("it answered 410")));
    assert!(listed["disabled_at"].is_string(), "{listed}");
    let id = listed["id"].as_str().unwrap();
    let enabled = ask(&server, "POST", &format!("/v1/endpoints/{id}/enable"), Value::Null).await;
    assert_eq!(enabled.json()["disabled_at"], Value::Null);
    let posting = server.engine.posting_to(url).await.unwrap();
    assert!(posting.disabled.is_none());
    assert_eq!(posting.secrets, shared.secrets);
    let rotated = ask(&server, "POST", &format!("/v1/endpoints/{id}/rotate"), Value::Null).await.json();
    assert_eq!(rotated["secrets"], 2, "the default's stays good beside the first of its own");
}

#[tokio::test]
async fn what_cannot_be_an_endpoint_is_refused_without_repeating_it() {
    let server = Server::start().await;
    for body in [
        json!({ "url": "" }),
        json!({ "url": "hooks.example" }),
        json!({ "url": "ftp://hooks.example/" }),
        json!({ "url": "https://user:hunter2@hooks.example/" }),
        json!({ "url": format!("https://hooks.example/{}", "a".repeat(3_000)) }),
        json!({ "url": "https://hooks.example/", "name": "" }),
        json!({ "url": "https://hooks.example/", "secret": "hunter2" }),
    ] {
        let answer = ask(&server, "POST", "/v1/endpoints", body).await;
        answer.problem(400, "invalid-request");
        assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    }
    let given = ask(&server, "POST", "/v1/endpoints/whsec_hunter2/rotate", Value::Null).await;
    given.problem(404, "unknown-endpoint");
    assert!(!given.text.contains("hunter2"), "{}", given.text);
}
