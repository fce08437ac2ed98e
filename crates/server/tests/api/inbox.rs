//! Submissions made in a transaction of an application's own, looked for by the id that was promised.

use std::collections::BTreeSet;

use model::pipeline::Source;
use model::{SubmissionId, Time};
use serde_json::json;
use store::{Changes, Received, Store, Take};

use crate::server::{Answer, Grant, Server};

fn id(n: u8) -> SubmissionId {
    SubmissionId::new(Time::from_millis(i64::from(n)), [n; 10])
}

fn entry(n: u8, pipeline: &str, payload: &str) -> Received {
    Received {
        id: id(n),
        submitter: "sql:shop".into(),
        pipeline: pipeline.into(),
        payload: payload.to_owned(),
        key: None,
        priority: None,
        not_before: None,
        reason: None,
    }
}

async fn receive(server: &Server, n: u8, pipeline: &str, payload: &str) {
    let received = entry(n, pipeline, payload);
    let before = server.engine.received();
    let mut changes = Some(Changes { received: vec![received], ..Changes::default() });
    server.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    while server.engine.received() == before {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_promised_id_answers_with_the_submission_or_with_why_there_is_none() {
    let server = Server::start().await;
    receive(&server, 1, "parcels", r#"{"ref":"r1","owner":"ada","weight":2}"#).await;
    receive(&server, 2, "parcels", r#"{"ref":"r2"}"#).await;
    receive(&server, 3, "parcels", r#"{"ref":"r1","owner":"ada","weight":2}"#).await;
    let shown = server.get(&format!("/v1/submissions/{}", id(1))).await.json();
    assert_eq!((&shown["state"], shown.get("stands_for")), (&json!("CHECKING"), None));

    let path = format!("/v1/submissions/{}", id(2));
    let problem = server.get(&path).await.problem(410, "refused");
    assert_eq!(
        (&problem["error"]["code"], &problem["pipeline"]),
        (&json!("schema-violation"), &json!("parcels"))
    );
    assert!(problem["error"]["message"].as_str().unwrap().contains("owner"), "{problem}");
    let events = server.get(&format!("{path}/events")).await.json();
    assert_eq!(events["events"][0]["kind"], json!("refused"));
    assert_eq!(events["events"].as_array().unwrap().len(), 1);

    let merged = server.get(&format!("/v1/submissions/{}", id(3))).await.json();
    assert_eq!((&merged["id"], &merged["stands_for"]), (&json!(id(1)), &json!(id(3))));

    server.get(&format!("/v1/submissions/{}", id(4))).await.problem(404, "unknown-submission");
    let stats = server.get("/v1/stats").await.json();
    let expected = json!({ "submitted": 1, "merged": 1, "refused": { "schema-violation": 1 } });
    assert_eq!(stats["received"], expected);
    let feed = server.get("/v1/feed?pipeline=parcels").await.json();
    let kinds: Vec<_> = feed["events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["submitted", "refused", "merged"]);
}

#[tokio::test]
async fn a_refusal_is_seen_by_those_who_may_see_the_pipeline() {
    let rights = json!({ "subject": "n", "role": "viewer", "pipelines": ["notes"] });
    let root = Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) };
    let server = Server::with(&[root, Grant { token: "notes", rights }], |_| {}).await;
    receive(&server, 1, "parcels", "no json").await;
    let path = format!("/v1/submissions/{}", id(1));
    Answer::of(server.request("GET", &path).bearer_auth("root")).await.problem(410, "refused");
    for path in [path.clone(), format!("{path}/events")] {
        Answer::of(server.request("GET", &path).bearer_auth("notes"))
            .await
            .problem(404, "unknown-submission");
    }
}

#[tokio::test]
async fn payloads_that_take_long_are_received_in_several_steps() {
    const COUNT: u8 = 40;
    let server = Server::start().await;
    let files = [("knot.json".to_owned(), crate::bombs::levels(40))].into();
    let source = Source { files, ..Source::new("knots.toml", crate::bombs::KNOTS) };
    server.engine.apply(&source).await.unwrap();
    let received: Vec<_> = (1..=COUNT).map(|n| entry(n, "knots", "{}")).collect();
    let mut changes = Some(Changes { received, ..Changes::default() });
    server.store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
    let refused = || server.engine.received().refused.values().sum::<u64>();
    while refused() < u64::from(COUNT) {
        tokio::task::yield_now().await;
    }
    let feed = server.get("/v1/feed?pipeline=knots&limit=100").await.json();
    let events = feed["events"].as_array().unwrap();
    assert_eq!(events.len(), usize::from(COUNT));
    let steps: BTreeSet<_> = events.iter().map(|event| event["at"].as_str().unwrap()).collect();
    assert!(steps.len() >= 3, "sixteen cost as much as one step may: {steps:?}");
}

#[tokio::test]
async fn a_message_of_somebodys_own_is_not_received() {
    let server = Server::start().await;
    server.engine.apply_delivery().await.unwrap();
    let forged = r#"{"cause":"x","name":"author","channel":"mail","to":"ada@example.com","body":"trust me"}"#;
    receive(&server, 1, "delivery", forged).await;
    let problem = server.get(&format!("/v1/submissions/{}", id(1))).await.problem(410, "refused");
    assert_eq!(problem["error"]["code"], "reserved", "{problem}");
}
