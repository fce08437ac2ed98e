use serde_json::json;

use crate::server::{Answer, Server};

#[tokio::test]
async fn an_action_moves_and_an_empty_body_will_do() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let answer = Answer::of(server.request("POST", &format!("/v1/submissions/{id}/actions/approve"))).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.json();
    assert_eq!((&body["state"], &body["status"]), (&json!("DONE"), &json!("succeeded")));
    assert_eq!(answer.header("etag"), format!("\"{}\"", body["revision"]));
}

#[tokio::test]
async fn a_wrong_state_lists_the_legal_actions() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let refused = server.post(&format!("/v1/submissions/{id}/actions/accept"), "{}").await;
    assert_eq!(refused.problem(409, "action-not-allowed")["actions"], json!(["approve", "refuse"]));
}

#[tokio::test]
async fn what_an_action_asks_for_must_be_given() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let refuse = format!("/v1/submissions/{id}/actions/refuse");
    server.post(&refuse, "{}").await.problem(422, "reason-required");
    server.post(&refuse, json!({ "reason": "x".repeat(4_001) })).await.problem(413, "too-large");
    server.post(&refuse, json!({ "reason": "broken", "data": {} })).await.problem(400, "invalid-request");
    let done = server.post(&refuse, json!({ "reason": "broken" })).await;
    assert_eq!((done.status, &done.json()["status"]), (200, &json!("failed")));

    let heavy = json!({ "payload": { "ref": "h", "owner": "ada", "weight": 2000 } });
    let id = server.post("/v1/pipelines/parcels/submissions", heavy).await.json()["id"].clone();
    let id = id.as_str().unwrap();
    let accept = format!("/v1/submissions/{id}/actions/accept");
    assert_eq!(
        server.post(&accept, "{}").await.problem(422, "pick-required")["states"],
        json!(["CHECKING", "REFUSED"])
    );
    server.post(&accept, json!({ "to": "DONE" })).await.problem(422, "pick-required");
    server.post(&accept, json!({ "to": "NOWHERE" })).await.problem(422, "pick-required");
    let weigh = format!("/v1/submissions/{id}/actions/weigh");
    server.post(&weigh, json!({ "data": {} })).await.problem(422, "schema-violation");
    assert_eq!(server.post(&accept, json!({ "to": "CHECKING" })).await.json()["state"], "CHECKING");
}

#[tokio::test]
async fn if_match_is_the_revision_that_was_seen() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let path = format!("/v1/submissions/{id}/actions/approve");
    let with = |tag: &str| server.request("POST", &path).header("if-match", tag);
    for tag in ["2", "\"x\"", "W/\"2\"", "\"2\", \"3\"", "\"\"", "\"+2\""] {
        Answer::of(with(tag)).await.problem(400, "invalid-request");
    }
    assert_eq!(Answer::of(with("\"1\"")).await.problem(412, "revision-mismatch")["revision"], 2);
    let etag = server.get(&format!("/v1/submissions/{id}")).await.header("etag").to_owned();
    assert_eq!(Answer::of(with(&etag)).await.status, 200);
    let id = server.reviewed("r2").await;
    let any =
        server.request("POST", &format!("/v1/submissions/{id}/actions/approve")).header("if-match", "*");
    assert_eq!(Answer::of(any).await.status, 200);
}

#[tokio::test]
async fn a_repeated_action_gets_its_first_answer() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let approve = || {
        server
            .request("POST", &format!("/v1/submissions/{id}/actions/approve"))
            .header("idempotency-key", "once")
    };
    let first = Answer::of(approve()).await;
    let again = Answer::of(approve()).await;
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!(first.text, again.text);
    let other = approve().header("content-type", "application/json").body("{}");
    Answer::of(other).await.problem(422, "idempotency-mismatch");
    let events = server.get(&format!("/v1/submissions/{id}/events")).await.json();
    assert_eq!(events["events"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn whoever_asks_is_told_what_they_may_do_and_why_not_the_rest() {
    let server = Server::start().await;
    let id = server.reviewed("r1").await;
    let answer = server.get(&format!("/v1/submissions/{id}/actions")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.json();
    assert_eq!(answer.header("etag"), format!("\"{}\"", body["revision"]));
    let actions = body["actions"].as_array().unwrap();
    let of = |name: &str| actions.iter().find(|action| action["name"] == name).unwrap();
    assert_eq!((&of("approve")["legal"], &of("approve")["title"]), (&json!(true), &json!("Approve")));
    assert_eq!(of("refuse")["forms"][0]["reason"], true);
    let elsewhere = of("accept");
    assert_eq!((&elsewhere["legal"], &elsewhere["forms"]), (&json!(false), &json!([])));
    assert_eq!(elsewhere["refusal"]["code"], "action-not-allowed");
    assert_eq!(elsewhere["refusal"]["actions"], json!(["approve", "refuse"]));
    assert_eq!(
        body["deeds"][1],
        json!({ "name": "redrive", "legal": false, "refusal": body["deeds"][1]["refusal"] })
    );
}
