use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::machine::{ada, site};
use crate::support::World;
use crate::support::running::{Running, Setup};

const API: &str = "/compat/site-list";

async fn ask(running: &Running, method: Method, path: &str, body: Option<&str>) -> (StatusCode, Value) {
    let response = request(running, method, path, body).send().await.expect("the server answers");
    let origin = response.headers().get("access-control-allow-origin").cloned();
    assert_eq!(origin.as_ref().map(|origin| origin.as_bytes()), Some(&b"*"[..]), "{path}");
    (response.status(), response.json().await.expect("it answers JSON"))
}

fn request(running: &Running, method: Method, path: &str, body: Option<&str>) -> reqwest::RequestBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let client = client.build().expect("a client can be made");
    let url = if path.starts_with("http:") { path.to_owned() } else { format!("{}{path}", running.url) };
    let request = client.request(method, url);
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
    for body in &bad {
        let (status, body) = ask(&running, Method::POST, "/compat/site-list/submission", Some(body)).await;
        assert_eq!((status, &body["status"]), (StatusCode::BAD_REQUEST, &json!("KO")), "{body}");
        assert!(body["message"].is_string());
    }
    let plain =
        request(&running, Method::POST, "/compat/site-list/submission", None).body("x").send().await.unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_the_list_server_find_it_at_the_root_of_a_listener_of_its_own() {
    let world = World::start().await;
    let settings = "listen = '127.0.0.1:0'\n".to_owned();
    let folder = tempfile::tempdir().unwrap();
    let running = Running::with(&world, Setup { settings, ..Setup::default() }, folder).await;
    let own = running.own.clone().expect("it listens");
    let at = |method, path: &str, body: Option<&str>| {
        let (url, body) = (format!("{own}{path}"), body.map(str::to_owned));
        let running = &running;
        async move { ask(running, method, &url, body.as_deref()).await }
    };
    assert_eq!(at(Method::GET, "/", None).await, (StatusCode::OK, json!({ "status": "OK" })));
    let wishes = ["one.example", "two.example", "three.example"]
        .map(|name| json!({ "fqdn": name, "action": "Add" }).to_string());
    for (number, wish) in (1..).zip(&wishes) {
        let made = at(Method::POST, "/submission", Some(wish)).await;
        assert_eq!(made, (StatusCode::OK, json!({ "status": "OK", "id": number })));
    }
    assert_eq!(at(Method::GET, "/submission", None).await.1["total_submissions"], 3);
    assert_eq!(at(Method::GET, "/submission/3", None).await.1["submission"]["fqdn"], "three.example");
    let refused = [
        (Method::GET, "/submission/4", None, StatusCode::NOT_FOUND),
        (Method::GET, "/v1/submissions", None, StatusCode::NOT_FOUND),
        (Method::DELETE, "/submission", None, StatusCode::METHOD_NOT_ALLOWED),
        (Method::POST, "/submission", None, StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (Method::POST, "/submission", Some("[]"), StatusCode::BAD_REQUEST),
    ];
    for (method, path, body, status) in refused {
        let (found, body) = at(method, path, body).await;
        assert_eq!((found, &body["status"]), (status, &json!("KO")), "{path}: {body}");
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    }
    // Until this address has asked for as much as a person would.
    loop {
        let (status, body) = at(Method::POST, "/submission", Some("{}")).await;
        assert_eq!(body["status"], "KO");
        if status == StatusCode::TOO_MANY_REQUESTS {
            break;
        }
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_asks_by_the_form_and_follows_the_change_to_its_proofs() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    let get = |path: &str| request(&running, Method::GET, path, None);
    let post =
        |body: &'static str| request(&running, Method::POST, "/site-list/submit", None).body(body).send();
    let form = get("/site-list/").send().await.unwrap();
    let policy = form.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("form-action 'self'") && policy.starts_with("default-src 'none'"), "{policy}");
    assert!(form.text().await.unwrap().contains("0 sites are on the list"));

    let refused = post("fqdn=%3Cscript%3E&action=ADD").await.unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let text = refused.text().await.unwrap();
    assert!(text.contains("&#60;script&#62;") && !text.contains("<script"), "{text}");
    let refused = post("fqdn=site.example&action=SERVICE_MODIFIED").await.unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);

    let taken = post("fqdn=Site.Example&action=ADD").await.unwrap();
    assert_eq!(taken.status(), StatusCode::SEE_OTHER);
    let to = taken.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(to, "/site-list/changes/1");
    let id = running.list().await.submission(1).unwrap();
    assert_eq!(&*running.end(id).await.state, "COMPLETED");
    let page = get(&to).send().await.unwrap().text().await.unwrap();
    for part in [
        "ADD of site.example",
        "COMPLETED",
        "WAITING_DELAY",
        "preliminary",
        "confirmation",
        "list.example/log",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        get("/site-list/").send().await.unwrap().text().await.unwrap().contains("One site is on the list")
    );
    assert_eq!(get("/site-list/changes/2").send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let again = post("fqdn=site.example&action=MODIFY").await.unwrap();
    assert_eq!(again.status(), StatusCode::TOO_MANY_REQUESTS, "the host has to wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_shows_the_list_its_log_and_the_history_of_a_host() {
    let world = World::start().await;
    let running = Running::start(&world).await;
    site(&world, ada("ADD"));
    assert_eq!(&*running.change("site.example", "ADD").await.state, "COMPLETED");
    let refused = running.change("site.example", "DELETE").await;
    assert_eq!(&*refused.state, "PRELIMINARY_VALIDATION_ERROR");
    let get = |path: &str| {
        let request = request(&running, Method::GET, path, None);
        async move { request.send().await.unwrap().text().await.unwrap() }
    };
    let page = get("/console/site-list/").await;
    for part in ["site.example", "ada@example.com", "2 leaves", "list.example/log", "not done yet"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(get("/console/site-list/?name=other").await.contains("No site like that"));
    assert!(get("/console/site-list/?marked=1").await.contains("No site like that"));
    let site = get("/console/site-list/sites/site.example").await;
    for part in ["COMPLETED", "DELETE", "PRELIMINARY_VALIDATION_ERROR", "signers-present"] {
        assert!(site.contains(part), "{part}: {site}");
    }
    assert!(get("/console/site-list/sites/never.example").await.contains("No change of this site"));
    assert!(get("/console").await.contains("href=\"/console/site-list/\""), "it stands in the navigation");
}
