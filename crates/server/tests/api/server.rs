//! A server to talk to, with a pipeline that has a bit of everything.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use engine::{Engine, SystemClock};
use model::pipeline::Source;
use model::{Json, Role};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use store::{Changes, MemoryStore, RegistryChange, RegistryKey, Store, Take};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const PARCELS: &str = r#"
name = "parcels"
version = 1
title = "Parcels"
payload = "schemas/parcel.json"
key = "payload.ref"
labels = { owner = "payload.owner" }
start = [{ to = "HEAVY", when = "payload.weight > 1000" }, { to = "CHECKING", trigger = "web-form" }]

[params]
strict = true

[states.HEAVY]
review = "reviewer"
actions.accept = { to = ["CHECKING", "REFUSED"], role = "admin" }
actions.weigh = { to = "REFUSED", data = "schemas/weighing.json" }

[states.CHECKING]
title = "Being checked"
phase = "inside"
task = "parcels.check"
with = { depth = 2 }
lease = "1h"
on.good = { to = "REVIEW", metadata = { score = "output.score" } }
on.bad = "REFUSED"

[states.REVIEW]
review = "reviewer"
actions.approve = "DONE"
actions.refuse = { to = "REFUSED", reason = true }

[states.DONE]
final = "success"

[states.REFUSED]
final = "failure"
"#;

pub(crate) const PARCEL_SCHEMA: &str = r#"{
  "type": "object",
  "required": ["ref", "owner"],
  "properties": { "ref": { "type": "string" }, "owner": { "type": "string" }, "weight": { "type": "integer" } }
}"#;

pub(crate) const WEIGHING_SCHEMA: &str = r#"{ "type": "object", "required": ["grams"] }"#;

/// Names no files and derives no key.
pub(crate) const NOTES: &str = r#"
name = "notes"
version = 1
title = "Notes"
start = "READING"

[states.READING]
task = "notes.read"
lease = "1h"
on.read = "KEPT"
on.error = "LOST"
sla = { target = "30m", p95 = "1h" }

[states.KEPT]
final = "success"

[states.LOST]
final = "failure"
investigate = true
"#;

pub(crate) fn parcels() -> Source {
    let files = [("schemas/parcel.json", PARCEL_SCHEMA), ("schemas/weighing.json", WEIGHING_SCHEMA)];
    Source {
        files: files.map(|(path, text)| (path.to_owned(), text.to_owned())).into(),
        params: model::json::Value::Object(BTreeMap::new()),
        ..Source::new("parcels.toml", PARCELS)
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<MemoryStore>,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) task: JoinHandle<std::io::Result<()>>,
}

/// A token of each role is the role's name; more can be given with their scope.
pub(crate) struct Grant {
    pub(crate) token: &'static str,
    pub(crate) rights: Value,
}

impl Server {
    pub(crate) async fn start() -> Server {
        Server::with(&[], |_| {}).await
    }

    /// One that has these pipelines too.
    pub(crate) async fn with_pipelines(files: &[&str]) -> Server {
        let server = Server::start().await;
        for toml in files {
            let source = Source::new("more.toml", *toml);
            if let Err(error) = server.engine.apply(&source).await {
                match error {
                    engine::ApplyError::Problems(problems) => panic!("{}", problems.render(&source)),
                    engine::ApplyError::Refused(refusal) => panic!("{refusal}"),
                }
            }
        }
        server
    }

    pub(crate) async fn with_roles() -> Server {
        let grants = Role::ALL.map(|role| Grant {
            token: role.as_str(),
            rights: json!({ "subject": format!("a-{role}"), "role": role.as_str() }),
        });
        Server::with(&grants, |_| {}).await
    }

    pub(crate) async fn with(grants: &[Grant], set: impl FnOnce(&mut server::Options)) -> Server {
        Server::over(memory(grants), &engine::Options::default(), set).await
    }

    /// One that publishes an audit log, with its key in a folder.
    pub(crate) async fn logged(folder: &Path) -> Server {
        Server::over(memory(&[]), &log_options(folder), |_| {}).await
    }

    pub(crate) async fn over(
        store: Arc<MemoryStore>,
        options: &engine::Options,
        set: impl FnOnce(&mut server::Options),
    ) -> Server {
        let engine = Engine::start(store.clone(), options).unwrap();
        engine.apply(&parcels()).await.unwrap();
        engine.apply(&Source::new("notes.toml", NOTES)).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut options = server::Options::new(address);
        set(&mut options);
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server::serve(engine.clone(), listener, options, stopped));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Server { url: format!("http://{address}"), engine, store, client, stop: Some(stop), task }
    }

    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.client.request(Method::from_bytes(method.as_bytes()).unwrap(), format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl ToString) -> Answer {
        Answer::of(self.with_json("POST", path, body)).await
    }

    pub(crate) fn with_json(&self, method: &str, path: &str, body: impl ToString) -> RequestBuilder {
        self.request(method, path).header("content-type", "application/json").body(body.to_string())
    }

    /// Submits a parcel and gives its id.
    pub(crate) async fn parcel(&self, reference: &str) -> String {
        let body = json!({ "payload": { "ref": reference, "owner": "ada", "weight": 5 } });
        let answer = self.post("/v1/pipelines/parcels/submissions", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Claims one task and gives it.
    pub(crate) async fn claim(&self, task: &str) -> Value {
        let answer = self.post("/v1/tasks:claim", json!({ "worker": "w", "tasks": [task] })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["tasks"][0].clone()
    }

    /// Finishes one task and gives its result.
    pub(crate) async fn finish(&self, token: &Value, outcome: &str, output: Value) -> Value {
        let body = json!({ "tasks": [{ "token": token, "outcome": outcome, "output": output }] });
        let answer = self.post("/v1/tasks:finish", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["results"][0].clone()
    }

    /// A parcel that waits for a reviewer.
    pub(crate) async fn reviewed(&self, reference: &str) -> String {
        let id = self.parcel(reference).await;
        let task = self.claim("parcels.check").await;
        assert_eq!(task["submission"], json!(id));
        assert_eq!(self.finish(&task["token"], "good", json!({ "score": 1 })).await["state"], "REVIEW");
        id
    }
}

/// A store that has these tokens and nothing else.
pub(crate) fn memory(grants: &[Grant]) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
    register(&*store, grants);
    store
}

pub(crate) fn log_options(folder: &Path) -> engine::Options {
    let mut log = engine::LogOptions::in_folder(folder);
    log.origin = Some("milepost.example/log".to_owned());
    engine::Options { log: Some(log), ..engine::Options::default() }
}

fn register(store: &dyn Store, grants: &[Grant]) {
    let change = |grant: &Grant| RegistryChange {
        key: RegistryKey { kind: server::TOKENS.to_owned(), name: server::token_name(grant.token) },
        body: Some(Json::from(grant.rights.clone())),
    };
    let registry: Vec<_> = grants.iter().map(change).collect();
    let mut changes = Some(Changes { registry, ..Changes::default() });
    store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Answer {
        Answer::of_try(request).await.unwrap()
    }

    pub(crate) async fn of_try(request: RequestBuilder) -> reqwest::Result<Answer> {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, text: response.text().await? })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts that this is a whole problem with this status and code, and gives its members.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(
            (self.status, self.header("content-type")),
            (status, "application/problem+json"),
            "{}",
            self.text
        );
        let problem = self.json();
        assert_eq!(problem["code"], code, "{}", self.text);
        assert_eq!(problem["status"], status, "{}", self.text);
        assert_eq!(problem["type"], format!("urn:milepost:problem:{code}"));
        assert!(
            problem["title"].is_string()
                && problem["detail"].is_string()
                && problem.get("instance").is_none()
        );
        assert_eq!(self.header("retry-after"), if status == 503 { "1" } else { "" });
        problem
    }
}
