use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::machine::{ada, site};
use crate::support::World;
use crate::support::running::Running;

const API: &str = "/compat/site-list";

async fn ask(running: &Running, method: Method, path: &str, body: Option<&str>) -> (StatusCode, Value) {
    let response = request(running, method, path, body).send().await.expect("the server answers");
    let origin = response.headers().get("access-control-allow-origin").cloned();
    assert_eq!(origin.as_ref().map(|origin| origin.as_bytes()), Some(&b"*"[..]), "{path}");
    (response.status(), response.json().await.expect("it answers JSON"))
}

fn request(running: &Running, method: Method, path: &str, body: Option<&str>) -> reqwest::RequestBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let request = client.request(method, format!("{}{path}", running.url));
    match body {
        Some(body) => request.header("content-type", "application/json").body(body.to_owned()),
        None => request,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_the_list_server_find_what_they_know() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    let get = |path: &str| {
        let path = format!("{API}{path}");
        let running = &running;
        async move { ask(running, Method::GET, &path, None).await }
    };
    let post = |body: &'static str| ask(&running, Method::POST, "/compat/site-list/submission", Some(body));
    assert_eq!(get("/").await, (StatusCode::OK, json!({ "status": "OK" })));
    assert_eq!(get("/submission").await.1, json!({ "status": "OK", "total_submissions": 0 }));
    let made = post(r#"{"fqdn":" Site.Example ","action":"add"}"#).await;
    assert_eq!(made, (StatusCode::OK, json!({ "status": "OK", "id": 1 })));
    assert_eq!(get("/submission").await.1["total_submissions"], 1);
    let id = running.list().await.submission(1).unwrap();
    assert_eq!(&*running.end(id).await.state, "COMPLETED");
    let (status, shown) = get("/submission/1").await;
    assert_eq!((status, &shown["status"]), (StatusCode::OK, &json!("OK")));
    let submission = &shown["submission"];
    assert_eq!((&submission["id"], &submission["fqdn"]), (&json!(1), &json!("site.example")));
    assert_eq!((&submission["type"], &submission["status"]), (&json!("ADD"), &json!("COMPLETED")));
    let log = submission["log"].as_array().unwrap();
    assert_eq!((log.len(), &log[0]["status"]), (13, &json!("SUBMITTED")));
    assert!(log[0]["timestamp"].is_string());
    for path in ["/submission/2", "/submission/0", "/submission/x", "/submission/-1"] {
        let (status, body) = get(path).await;
        assert_eq!((status, &body["status"]), (StatusCode::NOT_FOUND, &json!("KO")), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_wishes_are_answered_in_the_apis_own_words() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    let bad = [
        "{}",
        r#"{"fqdn":"a.example"}"#,
        r#"{"action":"ADD"}"#,
        r#"{"fqdn":"a.example","action":"ENROL"}"#,
        r#"{"fqdn":"a.example","action":"SERVICE_MODIFIED"}"#,
        r#"{"fqdn":"a.example","action":"DOMAIN_DELETED"}"#,
    ];
    // An address has five requests at once: these are two rounds of them.
    for body in bad.iter().take(3) {
        let (status, body) = ask(&running, Method::POST, "/compat/site-list/submission", Some(body)).await;
        assert_eq!((status, &body["status"]), (StatusCode::BAD_REQUEST, &json!("KO")), "{body}");
        assert!(body["message"].is_string());
    }
    let other = Running::start(&world).await;
    for body in bad.iter().skip(3) {
        let (status, body) = ask(&other, Method::POST, "/compat/site-list/submission", Some(body)).await;
        assert_eq!((status, &body["status"]), (StatusCode::BAD_REQUEST, &json!("KO")), "{body}");
    }
    let plain =
        request(&other, Method::POST, "/compat/site-list/submission", None).body("x").send().await.unwrap();
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(running.list().await.submissions(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_submitted_again_at_once_has_to_wait() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    let body = Some(r#"{"fqdn":"nowhere.example","action":"ADD"}"#);
    let first = ask(&running, Method::POST, "/compat/site-list/submission", body).await;
    assert_eq!(first.0, StatusCode::OK, "{}", first.1);
    let again = ask(&running, Method::POST, "/compat/site-list/submission", body).await;
    assert_eq!(again.0, StatusCode::TOO_MANY_REQUESTS, "{}", again.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_read_the_list_and_ask_again_for_nothing() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
    let get = |path: &str| request(&running, Method::GET, path, None);
    let update = loop {
        let response = get("/site-list/list/update.json").send().await.unwrap();
        let etag = response.headers()["etag"].clone();
        let latest: Value = response.json().await.unwrap();
        // The follower builds in its own time.
        if latest["entries"] == 1 {
            break (etag, latest);
        }
        tokio::task::yield_now().await;
    };
    let (etag, latest) = update;
    let again = get("/site-list/list/update.json").header("if-none-match", etag).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    let name = latest["latest"].as_str().unwrap();
    let bin = get(&format!("/site-list/list/{name}.bin")).send().await.unwrap();
    assert!(bin.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    assert_eq!(bin.bytes().await.unwrap().len(), 64);
    let looked_up: Value = get("/site-list/sites/site.example").send().await.unwrap().json().await.unwrap();
    assert_eq!(
        (&looked_up["domain"], &looked_up["marked_for_removal"]),
        (&json!("site.example"), &json!(false))
    );
    let checkpoint = get("/site-list/log/checkpoint").send().await.unwrap().text().await.unwrap();
    assert!(checkpoint.starts_with("list.example/log\n2\n"), "{checkpoint}");
    for path in ["/site-list/log/tile/0/000.p/2", "/site-list/log/tile/entries/000.p/2"] {
        assert_eq!(get(path).send().await.unwrap().status(), StatusCode::OK, "{path}");
    }
    let absent = [
        "/site-list/list/other.json",
        "/site-list/list/..%2Flist.json",
        "/site-list/log/write.lock",
        "/site-list/log/..%2Fkey",
        "/site-list/sites/other.example",
    ];
    for path in absent {
        assert_eq!(get(path).send().await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
}
