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
    let duties = json!(["flow", "housekeeping", "levels", "operations", "schedules", "sweep"]);
    assert_eq!(only["duties"], duties, "it does them all");
    server.get("/v1/servers?all=1").await.problem(400, "invalid-request");
}

#[tokio::test]
async fn service_levels_have_a_figure_and_a_verdict() {
    let server = Server::start().await;
    let level = async |server: &Server| server.get("/v1/stats").await.json()["service_levels"][0].clone();
    let fresh = level(&server).await;
    let about =
        |level: &Value| ["pipeline", "name", "of", "target", "p95"].map(|member| level[member].clone());
    assert_eq!(about(&fresh), ["notes", "READING", "state", "30m", "1h"].map(Value::from));
    assert_eq!(fresh["windows"][0], json!({ "window": "1h", "measured": 0 }), "nothing to judge by");
    server.post("/v1/pipelines/notes/submissions", json!({ "payload": 1 })).await;
    let task = server.claim("notes.read").await;
    server.finish(&task["token"], "read", json!({})).await;
    let look = async {
        loop {
            let level = level(&server).await;
            if level["windows"][0]["measured"] == 1 {
                return level;
            }
        }
    };
    let level = tokio::time::timeout(std::time::Duration::from_secs(30), look).await.expect("it is counted");
    for window in level["windows"].as_array().unwrap() {
        for bound in ["target", "p95"] {
            assert_eq!(
                (&window[bound]["met"], &window[bound]["within"]),
                (&json!(true), &json!(1.0)),
                "{window}"
            );
            assert!(window[bound]["figure"].is_string(), "{window}");
        }
    }
}

#[tokio::test]
async fn figures_tell_what_flows_and_what_stops() {
    let server = Server::start().await;
    server.parcel("r1").await;
    let second = server.parcel("r2").await;
    let task = server.claim("parcels.check").await;
    server.finish(&task["token"], "good", json!({ "score": 1 })).await;
    let task = server.claim("parcels.check").await;
    let failed = json!({ "tasks": [{ "token": task["token"], "error": {
        "code": "no-scale", "message": "no scale 7 at /dev/scale/7", "retryable": false } }] });
    server.post("/v1/tasks:fail", failed).await;
    let claim = json!({ "worker": "w", "tasks": ["parcels.chekc", "parcels.check"] });
    server.post("/v1/tasks:claim", claim).await;
    // What a batch did is counted once everybody was answered.
    let figures = loop {
        let figures = server.get("/v1/figures").await.json();
        if figures["flow"]["edges"].as_array().is_some_and(|edges| edges.len() == 2) {
            break figures;
        }
    };
    let edges = figures["flow"]["edges"].as_array().unwrap();
    let told: Vec<_> = edges
        .iter()
        .map(|edge| {
            let minutes = edge["minutes"].as_array().unwrap();
            assert_eq!(minutes.len(), 180);
            let sum: u64 = minutes.iter().map(|count| count.as_u64().unwrap()).sum();
            (edge["from"].clone(), edge["to"].clone(), sum)
        })
        .collect();
    assert_eq!(
        told,
        [(json!(null), json!("CHECKING"), 2), (json!("CHECKING"), json!("REVIEW"), 1)],
        "{figures}"
    );
    assert_eq!(
        (&figures["dwells"][0]["state"], &figures["dwells"][0]["measured"]),
        (&json!("CHECKING"), &json!(1))
    );
    let fingerprint = figures["dead"][0]["fingerprint"].as_str().unwrap();
    assert_eq!(
        figures["dead"],
        json!([{ "pipeline": "parcels", "state": "CHECKING", "code": "no-scale", "message": "no scale # at <path>",
                 "fingerprint": fingerprint, "count": 1 }])
    );
    for (wanted, count) in [(fingerprint, 1), ("0123456789ab", 0)] {
        let found = server.get(&format!("/v1/dead?fingerprint={wanted}")).await.json();
        assert_eq!(found["submissions"].as_array().unwrap().len(), count, "{wanted}");
        let filter = json!({ "pipeline": "parcels", "status": "dead", "fingerprint": wanted });
        let asked = json!({ "filter": filter, "action": "redrive", "dry_run": true });
        let done = crate::operations::done(&server, asked).await;
        assert_eq!(done["found"], count, "{done}");
    }
    server.get("/v1/dead?fingerprint=no-scale").await.problem(400, "invalid-request");
    assert_eq!(figures["oldest"].as_array().unwrap().len(), 1, "{second} is dead: {figures}");
    assert_eq!(figures["unpolled"], json!([]));
    assert_eq!(figures["unknown_tasks"][0]["task"], "parcels.chekc");
    assert!(figures["store"].is_object());
    let lanes = server.get("/v1/pipelines/parcels/lanes").await.json();
    assert_eq!(lanes, json!({ "lanes": [], "next": null }));
    server.get("/v1/pipelines/nothing/lanes").await.problem(404, "unknown-pipeline");
}
