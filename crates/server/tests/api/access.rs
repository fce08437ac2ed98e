use std::sync::Arc;

use engine::{Engine, SystemClock};
use model::Role;
use serde_json::json;
use server::{Doors, Need, TABLE};
use store::MemoryStore;

use crate::server::{Answer, Grant, Server};

fn address(path: &str) -> String {
    path.replace("{pipeline}", "parcels")
        .replace("{id}", "00000000-0000-7000-8000-000000000000")
        .replace("{action}", "approve")
        .replace("{hold}", "00000000-0000-7000-8000-000000000000")
        .replace("{operation}", "00000000-0000-7000-8000-000000000000")
        .replace("{token}", "00000000-0000-7000-8000-000000000000")
        .replace("{endpoint}", "00000000-0000-7000-8000-000000000000")
        .replace("{cursor}", "reports")
}

#[tokio::test]
async fn every_route_asks_for_what_the_table_says() {
    let server = Server::with_roles().await;
    for route in TABLE {
        let path = address(route.path);
        let ask = async |token: Option<&str>| {
            let request = server.request(route.method.as_str(), &path);
            let request = match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            Answer::of(request).await
        };
        if route.need == Need::Nothing {
            let answer = ask(None).await;
            // A server without a log has none to show, whoever asks.
            assert!(answer.status == 200 || answer.json()["code"] == "no-log", "{path}");
            continue;
        }
        for token in [None, Some("nonsense"), Some("")] {
            let answer = ask(token).await;
            answer.problem(401, "unauthorized");
            assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"milepost\"");
        }
        for role in Role::ALL {
            let answer = ask(Some(role.as_str())).await;
            let may = match route.need {
                Need::Role(wanted) => role == wanted || role == Role::Admin,
                Need::Owner => role == Role::Admin,
                _ => true,
            };
            if may {
                assert!(![401, 403].contains(&answer.status), "{role} at {path}: {}", answer.text);
            } else {
                answer.problem(403, "role-required");
            }
        }
    }
}

#[tokio::test]
async fn the_table_has_no_public_route_but_the_known_ones() {
    let public: Vec<_> =
        TABLE.iter().filter(|route| route.need == Need::Nothing).map(|route| route.path).collect();
    assert_eq!(public, ["/", "/livez", "/readyz", "/openapi.json", "/checkpoint", "/v1/audit/key"]);
    let changing = TABLE.iter().filter(|route| !route.method.is_safe());
    let any_role: Vec<_> =
        changing.filter(|route| route.need == Need::AnyRole).map(|route| route.path).collect();
    let known = [
        "/v1/submissions/{id}/actions/{action}",
        "/v1/submissions/{id}/amend",
        "/v1/submissions/{id}/acknowledge",
        "/v1/submissions/{id}/review/claim",
        "/v1/submissions/{id}/review/hand-over",
        "/v1/submissions/{id}/review/release",
        "/v1/submissions/{id}/notes",
    ];
    assert_eq!(any_role, known, "there the pipeline says which role");
}

#[tokio::test]
async fn an_event_names_the_subject_of_the_token() {
    let server = Server::with_roles().await;
    let body = json!({ "payload": { "ref": "r", "owner": "ada", "weight": 2000 } });
    let submit = server.with_json("POST", "/v1/pipelines/parcels/submissions", body).bearer_auth("submitter");
    let id = Answer::of(submit).await.json()["id"].as_str().unwrap().to_owned();
    let events =
        Answer::of(server.request("GET", &format!("/v1/submissions/{id}/events")).bearer_auth("viewer"))
            .await;
    assert_eq!(events.json()["events"][0]["actor"], json!({ "type": "submitter", "name": "a-submitter" }));
    let accept = server.with_json(
        "POST",
        &format!("/v1/submissions/{id}/actions/accept"),
        json!({ "to": "CHECKING" }),
    );
    let refused = Answer::of(accept.bearer_auth("reviewer")).await;
    assert_eq!(refused.problem(403, "role-required")["role"], "admin");
}

#[tokio::test]
async fn a_token_for_some_pipelines_sees_no_others() {
    let grant = |token, rights| Grant { token, rights };
    let server = Server::with(
        &[
            grant("root", json!({ "subject": "root", "role": "admin" })),
            grant("notes", json!({ "subject": "n", "role": "admin", "pipelines": ["notes"] })),
            grant("none", json!({ "subject": "x", "role": "admin", "pipelines": [] })),
        ],
        |_| {},
    )
    .await;
    let ask = async |token: &str, method: &str, path: &str, body: serde_json::Value| {
        Answer::of(server.with_json(method, path, body).bearer_auth(token)).await
    };
    let parcel = json!({ "payload": { "ref": "r", "owner": "ada", "weight": 2000 } });
    let id =
        ask("root", "POST", "/v1/pipelines/parcels/submissions", parcel.clone()).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    ask("root", "POST", "/v1/pipelines/notes/submissions", json!({ "payload": 1 })).await;

    ask("notes", "POST", "/v1/pipelines/parcels/submissions", parcel).await.problem(403, "role-required");
    ask("notes", "GET", "/v1/pipelines/parcels", json!({})).await.problem(403, "role-required");
    ask("notes", "PUT", "/v1/pipelines/parcels", json!({})).await.problem(403, "role-required");
    for path in ["", "/events"] {
        ask("notes", "GET", &format!("/v1/submissions/{id}{path}"), json!({}))
            .await
            .problem(404, "unknown-submission");
    }
    let act = format!("/v1/submissions/{id}/actions/accept");
    ask("notes", "POST", &act, json!({ "to": "CHECKING" })).await.problem(404, "unknown-submission");
    ask("notes", "GET", "/v1/submissions?pipeline=parcels", json!({})).await.problem(403, "role-required");
    let listed = ask("notes", "GET", "/v1/submissions", json!({})).await.json();
    assert_eq!(listed["submissions"].as_array().unwrap().len(), 1);
    let pipelines = ask("notes", "GET", "/v1/pipelines", json!({})).await.json();
    assert_eq!(pipelines["pipelines"].as_array().unwrap().len(), 1);

    assert_eq!(ask("root", "POST", &act, json!({ "to": "CHECKING" })).await.status, 200);
    let both = json!({ "worker": "w", "tasks": ["parcels.check", "notes.read"], "max": 10 });
    ask("none", "POST", "/v1/tasks:claim", both.clone()).await.problem(403, "role-required");
    let mut parcels = both.clone();
    parcels["pipelines"] = json!(["parcels"]);
    ask("notes", "POST", "/v1/tasks:claim", parcels).await.problem(403, "role-required");
    let claimed = ask("notes", "POST", "/v1/tasks:claim", both).await.json();
    let tasks = claimed["tasks"].as_array().unwrap();
    assert_eq!((tasks.len(), &tasks[0]["pipeline"]), (1, &json!("notes")));
}

#[tokio::test]
async fn an_entry_that_is_not_understood_opens_nothing() {
    let rights = json!({ "subject": "x", "role": "admin", "only_on_sundays": true });
    let server = Server::with(&[Grant { token: "odd", rights }], |_| {}).await;
    let odd = Answer::of(server.request("GET", "/v1/submissions").bearer_auth("odd")).await;
    odd.problem(401, "unauthorized");
    server.get("/v1/submissions").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn an_open_server_answers_only_to_this_machine() {
    let server = Server::start().await;
    let host =
        async |host: &str| Answer::of(server.request("GET", "/v1/submissions").header("host", host)).await;
    for name in ["localhost:1", "127.0.0.1", "[::1]:80"] {
        assert_eq!(host(name).await.status, 200, "{name}");
    }
    host("evil.example").await.problem(403, "forbidden-host");
    let origin = async |origin: &str| {
        let request = server.with_json("POST", "/v1/pipelines/notes/submissions", json!({ "payload": 1 }));
        Answer::of(request.header("origin", origin)).await
    };
    origin("http://evil.example").await.problem(403, "forbidden-host");
    origin("null").await.problem(403, "forbidden-host");
    assert_eq!(origin(&server.url).await.status, 201);
}

#[tokio::test]
async fn with_tokens_any_host_may_be_asked_for() {
    let server = Server::with_roles().await;
    let request = server.request("GET", "/v1/submissions").header("host", "milepost.example");
    assert_eq!(Answer::of(request.bearer_auth("viewer")).await.status, 200);
}

#[tokio::test]
async fn without_tokens_only_loopback_may_be_listened_on() {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
    let engine = Engine::start(store, &engine::Options::default()).unwrap();
    for address in ["127.0.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
        assert_eq!(server::doors(&engine, address.parse().unwrap()).await, Ok(Doors::Open), "{address}");
    }
    for address in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80"] {
        assert!(server::doors(&engine, address.parse().unwrap()).await.is_err(), "{address}");
    }
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let options = server::Options::new(([127, 0, 0, 1], 0).into());
    let refused = server::serve(engine, listener, options, std::future::pending::<()>()).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    let guarded = Server::with_roles().await;
    assert_eq!(server::doors(&guarded.engine, ([0, 0, 0, 0], 80).into()).await, Ok(Doors::Tokens));
}
