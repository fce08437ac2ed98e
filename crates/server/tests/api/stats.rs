use serde_json::{Value, json};

use crate::server::{Answer, Grant, Server};

fn duty<'v>(stats: &'v Value, name: &str) -> &'v Value {
    stats["duties"].as_array().unwrap().iter().find(|duty| duty["name"] == name).unwrap()
}

#[tokio::test]
async fn a_server_says_what_is_where_and_how_its_duties_do() {
    let server = Server::start().await;
    server.reviewed("r1").await;
    server.parcel("r2").await;
    let stats = server.get("/v1/stats").await.json();
    assert_eq!(
        stats["counts"],
        json!([
            { "pipeline": "parcels", "state": "CHECKING", "status": "open", "count": 1 },
            { "pipeline": "parcels", "state": "REVIEW", "status": "open", "count": 1 },
        ])
    );
    assert_eq!((&stats["condition"], &stats["last_event"]), (&json!("running"), &json!(5)));
    let steps = duty(&stats, "steps");
    assert!(steps["last_good_ago"].is_string() && steps["overdue"] == json!(false), "{steps}");
    for name in ["operations", "schedules", "housekeeping"] {
        let duty = duty(&stats, name);
        assert!(duty["failures"] == json!(0) && duty["last_error"].is_null(), "{duty}");
    }
    server.get("/v1/stats?pipeline=parcels").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn a_token_for_some_pipelines_sees_their_counts_only() {
    let rights = json!({ "subject": "n", "role": "viewer", "pipelines": ["notes"] });
    let root = Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) };
    let server = Server::with(&[root, Grant { token: "notes", rights }], |_| {}).await;
    let parcel = json!({ "payload": { "ref": "r", "owner": "ada", "weight": 2000 } });
    for (pipeline, body) in [("parcels", parcel), ("notes", json!({ "payload": 1 }))] {
        let path = format!("/v1/pipelines/{pipeline}/submissions");
        Answer::of(server.with_json("POST", &path, body).bearer_auth("root")).await;
    }
    let seen = Answer::of(server.request("GET", "/v1/stats").bearer_auth("notes")).await.json();
    let pipelines: Vec<_> =
        seen["counts"].as_array().unwrap().iter().map(|count| &count["pipeline"]).collect();
    assert_eq!(pipelines, [&json!("notes")]);
}

#[tokio::test]
async fn a_server_over_a_store_of_its_own_lists_itself() {
    let server = Server::start().await;
    let list = server.get("/v1/servers").await.json();
    let servers = list["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 1, "{list}");
    let only = &servers[0];
    assert_eq!((&only["asked"], &only["seen_ago"], &only["name"]), (&json!(true), &json!("0s"), &only["id"]));
    let duties = json!(["housekeeping", "operations", "schedules", "sweep"]);
    assert_eq!(only["duties"], duties, "it does them all");
    server.get("/v1/servers?all=1").await.problem(400, "invalid-request");
}
