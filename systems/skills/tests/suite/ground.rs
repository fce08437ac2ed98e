//! A whole server with the system in it, repositories, and a judge.

use std::sync::Arc;

use app::Visitor;
use client::{Client, Rest, Waited};
use engine::{Engine, SystemClock};
use fetch::{Fetch, Policy};
use model::pipeline::Source;
use model::{Caller, Name, Role};
use serde_json::{Value, json};
use server::{Mounts, Site};
use store::MemoryStore;
use system::{Desk, Settings, System};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wire::SubmissionId;
use wire::api::{ActBody, SubmitBody};
use worker::Worker;

use crate::judge_server::JudgeServer;
use crate::support::Host;

const DELIVERY: &str = include_str!("../../../../crates/sending/delivery.toml");
const DELIVERY_SCHEMA: &str = include_str!("../../../../crates/sending/schemas/delivery.json");

pub(crate) struct Ground {
    pub(crate) client: Client,
    pub(crate) host: Host,
    folder: TempDir,
    url: String,
    fetch: Fetch,
    _stop: (oneshot::Sender<()>, oneshot::Sender<()>),
}

/// Returns the pipeline without its pauses between tries, which the scenarios wait for.
fn without_pauses(toml: &str) -> String {
    toml.replace(r#"delay = ["60s", "90s", "120s"]"#, r#"delay = "1ms""#)
        .replace(r#"delay = "30s", backoff = "exponential""#, r#"delay = "1ms""#)
}

impl Ground {
    pub(crate) async fn new(judge: Option<&JudgeServer>) -> Ground {
        let (host, folder) = (Host::new(), TempDir::new().unwrap());
        let mirror = format!("'{}'", host.file_url());
        let mut text = format!(
            "name = 'test/skills'\nmirrors = {{ 'github.com' = {mirror}, 'evil.example' = {mirror} }}\n"
        );
        if let Some(judge) = judge {
            text += &format!("[judge]\nurl = '{}'\nmodel = 'small'\n", judge.url());
        }
        let mut system = skills::system();
        let table = DeTable::parse(&text).unwrap();
        let span = table.span();
        let settings = Settings::new(Spanned::new(span, DeValue::Table(table.into_inner())));
        system.configure(settings).unwrap();

        let store = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
        let engine = Engine::start(store, &engine::Options::default()).unwrap();
        let delivery = Source::new("delivery.toml", DELIVERY);
        let named = [("schemas/delivery.json".to_owned(), DELIVERY_SCHEMA.to_owned())];
        engine.apply(&Source { files: named.into_iter().collect(), ..delivery }).await.unwrap();
        for file in system.pipelines() {
            let named = file.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            let source = Source::new(file.file, without_pauses(file.toml));
            engine.apply(&Source { files: named.collect(), ..source }).await.unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let names: Vec<Name> = vec!["skill-review".into(), "skill-registry".into()];
        let mounts = Mounts::of(&system, names.clone()).unwrap();
        let site = Site::new(engine, server::Options::new(address), vec![mounts]);
        let own = Caller::new("system:skills", Role::Admin);
        let ports = judge.map(|judge| judge.port).into_iter().chain([address.port()]).collect();
        let allowed = vec!["127.0.0.1".parse().unwrap()];
        let desk = Desk {
            client: site.client(Visitor::inside(own, Some(names))),
            fetch: Fetch::new(Policy { ports, allowed, ..Policy::default() }),
            folder: folder.path().to_owned(),
        };
        let (client, fetch) = (desk.client.clone(), desk.fetch.clone());
        let (stop_site, site_stopped) = oneshot::channel();
        let (stop_system, system_stopped) = oneshot::channel::<()>();
        tokio::spawn(site.serve(listener, site_stopped));
        tokio::spawn(async move {
            let worker = Worker::new(desk.client.clone(), "w").concurrency(4).quietly();
            let stopped = async move { drop(system_stopped.await) };
            system::run(&system, &desk, worker, stopped).await
        });
        let _stop = (stop_site, stop_system);
        Ground { client, host, folder, url: format!("http://{address}"), fetch, _stop }
    }

    pub(crate) async fn submit(&self, payload: Value) -> Result<SubmissionId, client::Error> {
        self.submit_to("skill-review", payload).await
    }

    pub(crate) async fn submit_to(
        &self,
        pipeline: &str,
        payload: Value,
    ) -> Result<SubmissionId, client::Error> {
        let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
        Ok(self.client.submit(pipeline, &body, None).await?.id)
    }

    /// Submits a skill of a repository by its address, and waits until it rests.
    pub(crate) async fn review(&self, repo_url: &str) -> Waited {
        let payload = json!({ "repo_url": repo_url, "skill_name": "pdf" });
        let id = self.submit(payload).await.unwrap();
        self.rest(id).await
    }

    pub(crate) async fn rest(&self, id: SubmissionId) -> Waited {
        let waited = self.client.wait(id, Some(std::time::Duration::from_secs(120))).await.unwrap();
        assert_ne!(waited.rest, Rest::Deadline, "{:?}", waited.submission);
        waited
    }

    pub(crate) async fn act(&self, id: SubmissionId, action: &str, body: Value) -> Result<(), client::Error> {
        let body: ActBody = serde_json::from_value(body).unwrap();
        self.client.act(id, action, &body, &client::ActOptions::default()).await.map(drop)
    }

    /// Asks the server over HTTP, without a token.
    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.fetch.get(&format!("{}{path}", self.url), fetch::HeaderMap::new()).await.unwrap();
        (answer.status, String::from_utf8(answer.body).unwrap())
    }

    /// Sends a form, as a browser would, and returns the status, the address it leads to, and the text.
    pub(crate) async fn send_form(&self, path: &str, form: &str) -> (u16, String, String) {
        let body = form.as_bytes().to_vec();
        let url = format!("{}{path}", self.url);
        let answer = self.fetch.post(&url, fetch::HeaderMap::new(), body).await.unwrap();
        let location = answer.headers.get(fetch::header::LOCATION);
        let location = location.map(|location| location.to_str().unwrap().to_owned()).unwrap_or_default();
        (answer.status, location, String::from_utf8(answer.body).unwrap())
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        let (status, text) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) async fn audit(&self, id: SubmissionId) -> Vec<Value> {
        self.json(&format!("/skills/submissions/{id}/audit")).await.as_array().unwrap().clone()
    }

    /// Returns the place of the registry's files.
    pub(crate) fn registry(&self) -> std::path::PathBuf {
        self.folder.path().join("registry")
    }

    /// Returns the names of what the system has left in its folder.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
