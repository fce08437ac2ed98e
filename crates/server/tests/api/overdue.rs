use serde_json::{Value, json};

use crate::server::{Answer, Grant, Server};

/// A machine whose submissions are late as soon as they are there.
fn visits(name: &str) -> String {
    format!(
        r#"
name = "{name}"
version = 1
start = "WAITING"
[states.WAITING]
review = "reviewer"
sla = {{ target = "1ms" }}
actions.call = "DONE"
[states.DONE]
final = "success"
"#
    )
}

async fn visit(server: &Server, pipeline: &str) -> String {
    let answer =
        server.post(&format!("/v1/pipelines/{pipeline}/submissions"), json!({ "payload": {} })).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    let list = page["submissions"].as_array().unwrap();
    list.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// The whole list, once so many are late.
async fn overdue(server: &Server, count: usize) -> Value {
    loop {
        let page = server.get("/v1/overdue").await.json();
        if ids(&page).len() == count {
            return page;
        }
    }
}

#[tokio::test]
async fn what_is_late_is_listed_over_all_pipelines_in_the_order_it_was_missed() {
    let server = Server::with_pipelines(&[&visits("visits"), &visits("calls")]).await;
    let mut made = Vec::new();
    for pipeline in ["visits", "calls", "visits", "calls", "calls"] {
        made.push(visit(&server, pipeline).await);
    }
    server.parcel("r1").await;
    let page = overdue(&server, 5).await;
    let due = |row: &Value| {
        (row["sla"][0]["due_at"].as_str().unwrap().to_owned(), row["id"].as_str().unwrap().to_owned())
    };
    let rows: Vec<_> = page["submissions"].as_array().unwrap().iter().map(due).collect();
    assert!(rows.is_sorted(), "{rows:?}");
    let mut listed = ids(&page);
    assert_eq!((&page["submissions"][0]["sla"][0]["name"], &page["next"]), (&json!("WAITING"), &Value::Null));

    let mut paged = Vec::new();
    let mut after = String::new();
    loop {
        let page = server.get(&format!("/v1/overdue?limit=2{after}")).await.json();
        paged.extend(ids(&page));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(paged, listed, "pages have the same");
    let calls = ids(&server.get("/v1/overdue?pipeline=calls").await.json());
    assert_eq!(calls.len(), 3);

    let path = format!("/v1/submissions/{}/actions/call", listed[0]);
    assert_eq!(server.post(&path, "{}").await.status, 200);
    listed.remove(0);
    assert_eq!(ids(&overdue(&server, 4).await), listed, "one that is done is late no more");
}

#[tokio::test]
async fn bad_questions_are_refused() {
    let server = Server::with_pipelines(&[&visits("visits")]).await;
    server.get("/v1/overdue?pipeline=visit").await.problem(404, "unknown-pipeline");
    for query in ["after=x", "after=2026-01-01T00:00:00Z", "limit=0", "state=WAITING"] {
        server.get(&format!("/v1/overdue?{query}")).await.problem(400, "invalid-request");
    }
    assert_eq!(server.get("/v1/overdue").await.json(), json!({ "submissions": [], "next": null }));
}

#[tokio::test]
async fn a_token_for_some_pipelines_sees_what_is_late_there() {
    let rights = json!({ "subject": "n", "role": "viewer", "pipelines": ["calls"] });
    let root = Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) };
    let server = Server::with(&[root, Grant { token: "calls", rights }], |_| {}).await;
    for name in ["visits", "calls"] {
        server.engine.apply(&model::pipeline::Source::new("v.toml", visits(name))).await.unwrap();
        let submit =
            server.with_json("POST", &format!("/v1/pipelines/{name}/submissions"), json!({ "payload": {} }));
        assert_eq!(Answer::of(submit.bearer_auth("root")).await.status, 201);
    }
    let list = async |token: &str, query: &str| {
        Answer::of(server.request("GET", &format!("/v1/overdue{query}")).bearer_auth(token)).await
    };
    while ids(&list("root", "").await.json()).len() < 2 {}
    let seen = list("calls", "").await.json();
    assert_eq!((ids(&seen).len(), &seen["submissions"][0]["pipeline"]), (1, &json!("calls")));
    list("calls", "?pipeline=visits").await.problem(403, "role-required");
}
