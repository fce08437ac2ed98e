use serde_json::{Value, json};

use crate::server::{Answer, Server};

const PARCELS: &str = "/v1/pipelines/parcels/submissions";
const NOTES: &str = "/v1/pipelines/notes/submissions";

fn parcel(reference: &str) -> Value {
    json!({ "payload": { "ref": reference, "owner": "ada", "weight": 5 } })
}

#[tokio::test]
async fn a_submission_is_created_and_says_where_it_is() {
    let server = Server::start().await;
    let answer = server.post(PARCELS, parcel("r1")).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let body = answer.json();
    let id = body["id"].as_str().unwrap();
    assert_eq!(answer.header("location"), format!("/v1/submissions/{id}"));
    assert_eq!(answer.header("etag"), format!("\"{}\"", body["revision"]));
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(
        (&body["pipeline"], &body["version"], &body["state"]),
        (&json!("parcels"), &json!(1), &json!("CHECKING"))
    );
    assert!(body["created_at"].is_string() && body.get("duplicate").is_none());
}

#[tokio::test]
async fn an_open_duplicate_is_returned() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let again = server.post(PARCELS, parcel("r1")).await;
    assert_eq!(again.status, 200);
    assert_eq!((&again.json()["id"], &again.json()["duplicate"]), (&json!(id), &json!(true)));
}

#[tokio::test]
async fn another_payload_under_the_key_of_an_open_one_is_a_conflict() {
    let server = Server::start().await;
    let id = server.parcel("r1").await;
    let heavier = json!({ "payload": { "ref": "r1", "owner": "ada", "weight": 6 } });
    let conflict = server.post(PARCELS, &heavier).await;
    let problem = conflict.problem(409, "key-conflict");
    assert_eq!(problem["submission"], id.as_str());
    assert!(problem["detail"].as_str().unwrap().contains("another payload"), "{problem}");
    let spelled = r#"{ "payload": { "weight": 5, "owner": "\u0061da", "ref": "r1" } }"#;
    assert_eq!(server.post(PARCELS, spelled).await.json()["duplicate"], true);
    let lighter = json!({ "payload": { "ref": "r2", "owner": "ada", "weight": 1 } });
    let many = json!({ "submissions": [heavier, parcel("r2"), lighter, parcel("r2")] });
    let results = server.post(PARCELS, many).await.json()["results"].clone();
    let statuses: Vec<_> = results.as_array().unwrap().iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, [409, 201, 409, 200]);
    let holder = &results[1]["submission"]["id"];
    assert_eq!((&results[2]["problem"]["submission"], &results[3]["submission"]["id"]), (holder, holder));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_identical_submissions_at_once_are_one() {
    let server = Server::start().await;
    let sent: Vec<_> =
        (0..20).map(|_| tokio::spawn(Answer::of(server.with_json("POST", PARCELS, parcel("r1"))))).collect();
    let mut ids = Vec::new();
    let mut created = 0;
    for answer in sent {
        let answer = answer.await.unwrap();
        created += usize::from(answer.status == 201);
        ids.push(answer.json()["id"].clone());
    }
    ids.dedup();
    assert_eq!((ids.len(), created), (1, 1));
}

#[tokio::test]
async fn many_are_answered_in_order_each_for_itself() {
    let server = Server::start().await;
    let bodies = json!({ "submissions": [parcel("r1"), { "payload": {} }, parcel("r1"), parcel("r2")] });
    let answer = server.post(PARCELS, bodies).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let results = answer.json()["results"].clone();
    let statuses: Vec<_> =
        results.as_array().unwrap().iter().map(|result| result["status"].clone()).collect();
    assert_eq!(statuses, [201, 422, 200, 201]);
    assert_eq!(results[1]["problem"]["code"], "schema-violation");
    assert_eq!(results[1]["problem"]["status"], 422);
    assert!(results[1].get("submission").is_none() && results[0].get("problem").is_none());
    assert_eq!(results[2]["submission"]["id"], results[0]["submission"]["id"]);
    assert_eq!(results[2]["submission"]["duplicate"], true);
    assert_eq!(server.post(PARCELS, json!({ "submissions": [] })).await.json(), json!({ "results": [] }));
}

#[tokio::test]
async fn a_thousand_go_in_one_call_and_no_more() {
    let server = Server::start().await;
    let bodies = |count: usize| json!({ "submissions": vec![json!({ "payload": {} }); count] });
    let answer = server.post(NOTES, bodies(1_000)).await;
    let results = answer.json()["results"].clone();
    let ids: std::collections::BTreeSet<_> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["submission"]["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((answer.status, ids.len()), (200, 1_000));
    assert_eq!(server.post(NOTES, bodies(1_001)).await.problem(413, "too-large")["max"], 1_000);
}

#[tokio::test]
async fn numbers_and_bytes_survive_the_whole_way() {
    let server = Server::start().await;
    let payload = r#"{"ref":"n", "owner" : "ada","weight":5,
        "big": 9007199254740993, "edge":9007199254740992,"huge":123456789012345678901234567890.10,"e":1E400,"t":"\u00e9\/"}"#;
    let answer = server.post(PARCELS, format!("{{\"payload\":{payload}}}")).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    let expected = format!("\"payload\":{payload}");
    let shown = server.get(&format!("/v1/submissions/{id}")).await;
    assert!(shown.text.contains(&expected), "{}", shown.text);
    let claimed = server.post("/v1/tasks:claim", json!({ "worker": "w", "tasks": ["parcels.check"] })).await;
    assert!(claimed.text.contains(&expected), "{}", claimed.text);
}

fn keyed(server: &Server, path: &str, key: &str, body: impl ToString) -> reqwest::RequestBuilder {
    server.with_json("POST", path, body).header("idempotency-key", key)
}

#[tokio::test]
async fn a_repeated_request_gets_its_first_answer() {
    let server = Server::start().await;
    let body = json!({ "payload": { "n": 1 } });
    let first = Answer::of(keyed(&server, NOTES, "k1", &body)).await;
    let again = Answer::of(keyed(&server, NOTES, "k1", &body)).await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.text, again.text);
    let other = Answer::of(keyed(&server, NOTES, "k1", json!({ "payload": { "n": 2 } }))).await;
    other.problem(422, "idempotency-mismatch");
    let elsewhere = Answer::of(keyed(&server, PARCELS, "k1", parcel("r1"))).await;
    assert_eq!(elsewhere.status, 201, "the same key on another route is another");
    let new = Answer::of(keyed(&server, NOTES, "k2", &body)).await;
    assert_ne!(new.json()["id"], first.json()["id"]);
}

#[tokio::test]
async fn a_repeated_call_of_many_makes_none_twice() {
    let server = Server::start().await;
    let body = json!({ "submissions": [{ "payload": 1 }, { "payload": 1 }] });
    let first = Answer::of(keyed(&server, NOTES, "k1", &body)).await;
    let again = Answer::of(keyed(&server, NOTES, "k1", &body)).await;
    let results = first.json()["results"].clone();
    assert_ne!(results[0]["submission"]["id"], results[1]["submission"]["id"]);
    assert_eq!(again.json()["results"], results);
}

#[tokio::test]
async fn an_idempotency_key_is_visible_ascii_of_bounded_length() {
    let server = Server::start().await;
    let body = json!({ "payload": 1 });
    let long = "k".repeat(256);
    for key in ["", "a b", long.as_str()] {
        Answer::of(keyed(&server, NOTES, key, &body)).await.problem(400, "invalid-request");
    }
    assert_eq!(Answer::of(keyed(&server, NOTES, &long[1..], &body)).await.status, 201);
    let twice = keyed(&server, NOTES, "a", &body).header("idempotency-key", "b");
    Answer::of(twice).await.problem(400, "invalid-request");
}
