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
            "name": "CHECKING", "title": "Being checked", "phase": "inside", "kind": "task", "task": "parcels.check",
            "actions": [], "counts": [{ "status": "open", "count": 2 }],
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
    server.get("/v1/pipelines/notes?version=3").await.problem(404, "unknown-version");
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
async fn an_older_version_comes_back_by_a_rollback_and_a_parameter_is_a_revision() {
    let server = Server::start().await;
    let second = version(NOTES, 2);
    put(&server, "notes", "application/toml", &second).await;
    let refused = put(&server, "notes", "application/toml", NOTES).await.problem(409, "version-outdated");
    assert_eq!(refused["in_force"], 2, "{refused}");
    let asked = async |query: &str| {
        let request = server.request("PUT", &format!("/v1/pipelines/notes?{query}"));
        Answer::of(request.header("content-type", "application/toml").body(NOTES)).await
    };
    let tried = asked("rollback=true&dry_run=true").await;
    assert_eq!((tried.status, &tried.json()["rolled_back"]), (200, &json!(true)));
    assert_eq!(server.get("/v1/pipelines/notes").await.json()["in_force"], 2);
    let back = asked("rollback=true").await;
    assert_eq!((back.status, &back.json()["compared_to"]), (201, &json!(2)));
    let view = server.get("/v1/pipelines/notes").await.json();
    assert_eq!(
        (&view["version"], &view["in_force"], &view["versions"]),
        (&json!(1), &json!(1), &json!([1, 2]))
    );
    let acts = server.get("/v1/audit/acts").await.text;
    assert!(acts.contains("pipeline-rolled-back") && acts.contains("notes@1"), "{acts}");
    let new = server.post("/v1/pipelines/notes/submissions", json!({ "payload": 1 })).await.json();
    assert_eq!(new["version"], 1);

    let files = json!({ "schemas/parcel.json": PARCEL_SCHEMA, "schemas/weighing.json": WEIGHING_SCHEMA });
    let set = json!({ "toml": PARCELS, "files": files, "params": { "strict": false } });
    let set = put(&server, "parcels", "application/json", &set).await;
    let answer = set.json();
    assert_eq!((set.status, &answer["version"], &answer["revision"]), (201, &json!(1), &json!(2)));
    assert_eq!(answer["diff"][0]["place"], "params.strict", "{answer}");
    let first = server.get("/v1/pipelines/parcels").await.json();
    assert_eq!(first["definitions"][0]["params"], json!({ "strict": false }));
    let files = json!({ "schemas/parcel.json": PARCEL_SCHEMA, "schemas/weighing.json": WEIGHING_SCHEMA });
    let kept = put(&server, "parcels", "application/json", &json!({ "toml": PARCELS, "files": files })).await;
    assert_eq!((kept.status, &kept.json()["changed"]), (200, &json!(false)), "what is not named stays");
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

const REPORTS: &str = r#"
name = "reports"
version = 1
start = "OPEN"
schedule = { cron = "* * * * * *", payload = { nightly = true } }
[states.OPEN]
actions.close = "DONE"
[states.DONE]
final = "success"
"#;

#[tokio::test]
async fn schedules_are_shown_with_what_they_did_and_will_do() {
    let server = Server::with_pipelines(&[REPORTS]).await;
    // Every second: the first time it is seen it begins, and then it submits.
    let (view, schedule) = loop {
        let view = server.get("/v1/pipelines/reports").await.json();
        let schedule = view["schedules"][0].clone();
        assert!(schedule["id"].is_string() && schedule["next_at"].is_string(), "{view}");
        if schedule["submission"].is_string() {
            break (view, schedule);
        }
    };
    assert_eq!(schedule["refused"], Value::Null);
    assert!(schedule["last_at"].as_str().unwrap() < schedule["next_at"].as_str().unwrap(), "{schedule}");
    let made =
        server.get(&format!("/v1/submissions/{}", schedule["submission"].as_str().unwrap())).await.json();
    assert_eq!((&made["pipeline"], &made["payload"]), (&view["name"], &json!({ "nightly": true })));

    let second = version(REPORTS, 2).replace("nightly", "daily");
    assert_eq!(put(&server, "reports", "application/toml", &second).await.status, 201);
    let old = server.get("/v1/pipelines/reports?version=1").await.json();
    assert_eq!(old["schedules"][0]["next_at"], Value::Null, "an old version submits nothing any more");
    assert!(server.get("/v1/pipelines/notes").await.json().get("schedules").is_none());
}

#[tokio::test]
async fn applying_says_what_is_different_from_the_version_before() {
    let server = Server::start().await;
    let second = version(NOTES, 2).replace("1h", "2h").replace("KEPT", "FILED");
    let path = "/v1/pipelines/notes?dry_run=true";
    let ask = async |path: &str, body: &str| {
        let request = server.request("PUT", path).header("content-type", "application/toml");
        Answer::of(request.body(body.to_owned())).await
    };
    let dry = ask(path, &second).await;
    assert_eq!((dry.status, &dry.json()["dry_run"]), (200, &json!(true)), "{}", dry.text);
    assert_eq!(server.get("/v1/pipelines/notes").await.json()["versions"], json!([1]), "nothing was applied");

    let applied = ask("/v1/pipelines/notes", &second).await;
    assert_eq!((applied.status, &applied.json()["changed"]), (201, &json!(true)));
    let mut expected = applied.json();
    assert!(expected.get("dry_run").is_none());
    expected["dry_run"] = json!(true);
    assert_eq!(dry.json(), expected, "a dry run tells the same");
    assert_eq!((&expected["compared_to"], &expected["lost_states"]), (&json!(1), &json!(["KEPT"])));
    let lease = json!({ "place": "READING.lease", "what": "changed", "old": "1h", "new": "2h" });
    assert!(expected["diff"].as_array().unwrap().contains(&lease), "{expected}");

    let again = ask("/v1/pipelines/notes", &second).await;
    assert_eq!(
        (again.status, &again.json()["changed"], &again.json()["diff"]),
        (200, &json!(false), &json!([]))
    );
    let again = ask(path, &second).await;
    assert_eq!(
        (again.status, &again.json()["changed"], &again.json()["diff"]),
        (200, &json!(false), &json!([]))
    );
    ask(path, &second.replace("2h", "3h")).await.problem(409, "version-exists");
    ask(path, "= [").await.problem(422, "invalid-definition");
    ask("/v1/pipelines/notes?dry_run=yes", &second).await.problem(400, "invalid-request");
}

#[tokio::test]
async fn a_dry_run_of_a_version_below_the_newest_is_refused() {
    let server = Server::start().await;
    let ask = async |query: &str, body: String| {
        let request = server.request("PUT", &format!("/v1/pipelines/notes{query}"));
        Answer::of(request.header("content-type", "application/toml").body(body)).await
    };
    assert_eq!(ask("", version(NOTES, 5)).await.status, 201);
    ask("?dry_run=true", version(NOTES, 4)).await.problem(409, "version-outdated");
    let new = version(NOTES, 1).replace("notes", "memos");
    let request =
        server.request("PUT", "/v1/pipelines/memos?dry_run=true").header("content-type", "application/toml");
    let first = Answer::of(request.body(new)).await.json();
    assert_eq!(
        (&first["changed"], &first["diff"], first.get("compared_to")),
        (&json!(true), &json!([]), None)
    );
    server.get("/v1/pipelines/memos").await.problem(404, "unknown-pipeline");
}

#[tokio::test]
async fn versions_that_nothing_needs_are_retired() {
    let server = Server::start().await;
    for number in 2..=4 {
        let request = server.request("PUT", "/v1/pipelines/notes").header("content-type", "application/toml");
        assert_eq!(Answer::of(request.body(version(NOTES, number))).await.status, 201);
    }
    let path = "/v1/pipelines/notes/retire";
    let tried = server.post(path, r#"{"unused":true,"dry_run":true}"#).await.json();
    assert_eq!((&tried["retired"], &tried["dry_run"]), (&json!([1, 2]), &json!(true)));
    assert_eq!(server.get("/v1/pipelines/notes").await.json()["versions"], json!([1, 2, 3, 4]));
    let one = server.post(path, r#"{"version":1}"#).await.json();
    assert_eq!(one, json!({ "name": "notes", "retired": [1], "kept": [] }));
    let rest = server.post(path, r#"{"unused":true}"#).await.json();
    assert_eq!((&rest["retired"], &rest["kept"][0]["version"]), (&json!([2]), &json!(3)));
    assert!(rest["kept"][0]["reason"].as_str().unwrap().contains("--rollback"), "{rest}");
    let view = server.get("/v1/pipelines/notes").await.json();
    assert_eq!((&view["versions"], &view["retired"]), (&json!([3, 4]), &json!([1, 2])));

    server.post(path, r#"{"version":4}"#).await.problem(409, "version-in-use");
    server.post(path, r#"{"version":9}"#).await.problem(404, "unknown-version");
    server.post(path, "{}").await.problem(400, "invalid-request");
    server.post(path, r#"{"version":3,"unused":true}"#).await.problem(400, "invalid-request");
    server.post("/v1/pipelines/nothing/retire", r#"{"unused":true}"#).await.problem(404, "unknown-pipeline");
    let shown = server.get("/v1/pipelines/notes?version=2").await;
    shown.problem(404, "unknown-version");
    let digest = tried_digest(&server).await;
    assert_eq!(server.get(&format!("/definition/{digest}")).await.status, 200, "verifiers read it for ever");
}

/// The second version of the notes, as it would be applied.
async fn tried_digest(server: &Server) -> String {
    let acts = server.get("/v1/audit/acts").await.json();
    let acts = acts["acts"].as_array().unwrap();
    let retired =
        acts.iter().find(|act| act["deed"] == "pipeline-retired" && act["of"] == "notes@2").unwrap();
    retired["detail"]["definition"].as_str().unwrap().to_owned()
}

fn is_drawing(answer: &Answer) {
    assert_eq!((answer.status, answer.header("content-type")), (200, "image/svg+xml; charset=utf-8"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    assert_eq!(answer.header("content-security-policy"), policy);
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(answer.text.starts_with("<svg ") && answer.text.contains("CHECKING"), "{}", answer.text);
}

#[tokio::test]
async fn a_machine_is_drawn_and_so_is_a_submissions_way_through_it() {
    let server = Server::start().await;
    let request = server.request("GET", "/v1/pipelines/parcels").header("accept", "image/svg+xml");
    let drawn = Answer::of(request).await;
    is_drawing(&drawn);
    let by_name = server.get("/v1/pipelines/parcels?format=svg").await;
    assert_eq!(by_name.text, drawn.text);
    assert!(server.get("/v1/pipelines/parcels?format=mermaid").await.text.starts_with("stateDiagram-v2"));
    assert_eq!(server.get("/v1/pipelines/parcels?format=toml").await.text, PARCELS);
    server.get("/v1/pipelines/parcels?format=png").await.problem(400, "invalid-request");

    let id = server.reviewed("r1").await;
    let way = server.get(&format!("/v1/submissions/{id}/drawing")).await;
    is_drawing(&way);
    assert_ne!(way.text, drawn.text);
    let approved = server.post(&format!("/v1/submissions/{id}/actions/approve"), "{}").await;
    assert_eq!(approved.status, 200);
    assert_ne!(server.get(&format!("/v1/submissions/{id}/drawing")).await.text, way.text, "it went on");
    server.get("/v1/submissions/nonsense/drawing").await.problem(404, "unknown-submission");
}
