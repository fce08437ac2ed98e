use serde_json::{Value, json};

use crate::server::{Answer, NOTES, PARCEL_SCHEMA, PARCELS, Server, WEIGHING_SCHEMA};

async fn put(server: &Server, name: &str, kind: &str, body: impl ToString) -> Answer {
    let request = server.request("PUT", &format!("/v1/pipelines/{name}"));
    Answer::of(request.header("content-type", kind).body(body.to_string())).await
}

fn version(toml: &str, version: u32) -> String {
    toml.replace("version = 1", &format!("version = {version}"))
}

fn state<'v>(view: &'v Value, name: &str) -> &'v Value {
    view["states"].as_array().unwrap().iter().find(|state| state["name"] == name).unwrap()
}

#[tokio::test]
async fn pipelines_are_listed_with_their_counts() {
    let server = Server::start().await;
    server.reviewed("r1").await;
    server.parcel("r2").await;
    server.parcel("r3").await;
    let list = server.get("/v1/pipelines").await.json();
    let names: Vec<_> =
        list["pipelines"].as_array().unwrap().iter().map(|view| view["name"].clone()).collect();
    assert_eq!(names, ["notes", "parcels"]);
    let parcels = &list["pipelines"][1];
    assert_eq!(
        (&parcels["title"], &parcels["version"], &parcels["versions"]),
        (&json!("Parcels"), &json!(1), &json!([1]))
    );
    let checking = state(parcels, "CHECKING");
    assert_eq!(
        *checking,
        json!({
            "name": "CHECKING", "title": "Being checked", "phase": "inside", "kind": "task", "actions": [],
            "counts": [{ "status": "open", "count": 2 }],
        })
    );
    assert_eq!(state(parcels, "REVIEW")["actions"], json!(["approve", "refuse"]));
    assert_eq!(state(parcels, "DONE")["counts"], json!([]));
    assert_eq!(server.get("/v1/pipelines/parcels").await.json(), *parcels);
}

#[tokio::test]
async fn a_pipeline_is_shown_as_asked_for() {
    let server = Server::start().await;
    let show = async |accept: &str| {
        Answer::of(server.request("GET", "/v1/pipelines/parcels").header("accept", accept)).await
    };
    let toml = show("application/toml").await;
    assert_eq!(
        (toml.header("content-type"), toml.text.as_str()),
        ("application/toml; charset=utf-8", PARCELS)
    );
    for accept in ["text/vnd.mermaid", "text/plain+mermaid"] {
        let drawn = show(accept).await;
        assert!(drawn.text.starts_with("stateDiagram-v2"), "{}", drawn.text);
        assert!(drawn.header("content-type").starts_with("text/"));
    }
    assert_eq!(show("text/html, */*;q=0.8").await.header("content-type"), "application/json");
    server.get("/v1/pipelines/parcel").await.problem(404, "unknown-pipeline");
}

#[tokio::test]
async fn a_file_is_applied_once_and_old_versions_stay() {
    let server = Server::start().await;
    let second = version(NOTES, 2)
        .replace("on.read = \"KEPT\"", "on.read = \"FILED\"")
        .replace("states.KEPT", "states.FILED");
    let note = server.post("/v1/pipelines/notes/submissions", json!({ "payload": 1 })).await;
    assert_eq!(note.status, 201);
    let token = server.claim("notes.read").await["token"].clone();
    server.finish(&token, "read", Value::Null).await;

    let applied = put(&server, "notes", "application/toml", &second).await;
    assert_eq!(applied.status, 201, "{}", applied.text);
    let body = applied.json();
    assert_eq!(
        (&body["name"], &body["version"], &body["changed"]),
        (&json!("notes"), &json!(2), &json!(true))
    );
    let again = put(&server, "notes", "application/toml; charset=utf-8", &second).await;
    assert_eq!((again.status, &again.json()["changed"]), (200, &json!(false)));
    assert_eq!(again.json()["digest"], body["digest"]);

    let view = server.get("/v1/pipelines/notes").await.json();
    assert_eq!((&view["version"], &view["versions"]), (&json!(2), &json!([1, 2])));
    let kept = state(&view, "KEPT");
    assert_eq!(
        kept["counts"],
        json!([{ "status": "succeeded", "count": 1 }]),
        "the old version's state is still shown"
    );
    let old = Answer::of(
        server.request("GET", "/v1/pipelines/notes?version=1").header("accept", "application/toml"),
    )
    .await;
    assert_eq!(old.text, NOTES);
    server.get("/v1/pipelines/notes?version=3").await.problem(404, "unknown-pipeline");
    server.get("/v1/pipelines/notes?version=x").await.problem(400, "invalid-request");

    let other = second.replace("title = \"Notes\"", "title = \"Other\"");
    put(&server, "notes", "application/toml", &other).await.problem(409, "version-exists");
    put(&server, "notes", "application/toml", version(&other, 1)).await.problem(409, "version-exists");
    let new = server.post("/v1/pipelines/notes/submissions", json!({ "payload": 1 })).await.json();
    assert_eq!(new["version"], 2);
}

#[tokio::test]
async fn a_file_with_attachments_comes_as_json() {
    let server = Server::start().await;
    let files = json!({ "schemas/parcel.json": PARCEL_SCHEMA, "schemas/weighing.json": WEIGHING_SCHEMA });
    let body = json!({ "toml": version(PARCELS, 2), "files": files, "params": { "strict": false } });
    let applied = put(&server, "parcels", "application/json", &body).await;
    assert_eq!(applied.status, 201, "{}", applied.text);
    server.parcel("r1").await;
    assert_eq!(server.claim("parcels.check").await["params"], json!({ "strict": false }));

    let body = json!({ "toml": version(PARCELS, 3) });
    let missing = put(&server, "parcels", "application/json", &body).await.problem(422, "invalid-definition");
    assert!(
        missing["problems"].as_array().unwrap().iter().all(|problem| problem["code"] == "missing-file"),
        "{missing}"
    );
    for body in [
        json!({ "toml": "", "params": [] }),
        json!({ "tom": "" }),
        json!({ "toml": "", "files": { "a": 1 } }),
    ] {
        put(&server, "parcels", "application/json", &body).await.problem(400, "invalid-request");
    }
}

#[tokio::test]
async fn every_problem_of_a_file_is_reported_with_its_place() {
    let server = Server::start().await;
    let broken =
        version(NOTES, 2).replace("on.error = \"LOST\"", "on.error = \"LOSS\"").replace("title", "titel");
    let refused = put(&server, "notes", "application/toml", &broken).await.problem(422, "invalid-definition");
    let problems = refused["problems"].as_array().unwrap();
    let unknown = problems.iter().find(|problem| problem["code"] == "unknown-state").unwrap();
    assert_eq!((&unknown["line"], &unknown["column"]), (&json!(11), &json!(12)));
    assert!(unknown["message"].as_str().unwrap().contains("LOSS"));
    assert!(unknown["help"].as_str().unwrap().contains("LOST"));
    assert!(problems.iter().any(|problem| problem["code"] == "unknown-key"), "{refused}");
    let rendered = refused["rendered"].as_str().unwrap();
    assert!(rendered.contains("notes.toml:11:12") && rendered.contains('^'), "{rendered}");
    assert_eq!(server.get("/v1/pipelines/notes").await.json()["versions"], json!([1]));
    put(&server, "notes", "application/toml", "= [").await.problem(422, "invalid-definition");
}

#[tokio::test]
async fn a_file_goes_to_the_address_of_its_name() {
    let server = Server::start().await;
    let refused =
        put(&server, "memos", "application/toml", version(NOTES, 2)).await.problem(400, "invalid-request");
    assert!(refused["detail"].as_str().unwrap().contains("/v1/pipelines/notes"), "{refused}");
    assert_eq!(server.get("/v1/pipelines/notes").await.json()["versions"], json!([1]));
}
