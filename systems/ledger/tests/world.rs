//! A server with the ledger system, whose worker runs inside of it, over a store in memory.

use std::sync::Arc;
use std::time::Duration;

use app::Visitor;
use client::Client;
use engine::{Engine, SystemClock};
use fetch::{Fetch, Policy};
use model::pipeline::Source;
use model::{Caller, Role};
use serde_json::{Value, json};
use server::{Mounts, Site};
use store::MemoryStore;
use system::{Desk, Fault, Settings, System};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wire::SubmissionId;
use wire::api::{ActBody, SubmissionView, SubmitBody, SubmitMany};
use worker::Worker;

pub(crate) const PIPELINE: &str = "ledger-batch";
/// The longest time that anything in a test may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Waits of the pipeline's file, and the same ones as long as a test can wait.
const SHORTER: [(&str, &str); 4] = [
    ("lease = \"30s\"", "lease = \"2s\""),
    ("delay_window = \"15s\"", "delay_window = \"30ms\""),
    ("delay = \"15s\"", "delay = \"30ms\""),
    ("target = \"10m\"", "target = \"50ms\""),
];

pub(crate) struct World {
    pub(crate) client: Client,
    site: Arc<Site>,
    settings: String,
    folder: TempDir,
    working: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// Configures the system as a table `[system.ledger]` does.
pub(crate) fn configured(settings: &str) -> Result<impl System + use<>, Fault> {
    let mut system = ledger::system();
    let table = DeTable::parse(settings).unwrap();
    let span = table.span();
    system.configure(Settings::new(Spanned::new(span, DeValue::Table(table.into_inner()))))?;
    Ok(system)
}

impl World {
    /// Starts a server and a worker with these settings.
    pub(crate) async fn start(settings: &str) -> World {
        let mut world = World::idle(settings).await;
        world.work();
        world
    }

    /// Starts a server whose tasks nobody does.
    pub(crate) async fn idle(settings: &str) -> World {
        let system = configured(settings).unwrap();
        let store = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
        let engine = Engine::start(store, &engine::Options::default()).unwrap();
        engine.apply(&engine::delivery::source()).await.unwrap();
        let mut names = Vec::new();
        for file in system.pipelines() {
            let toml =
                SHORTER.iter().fold(file.toml.to_owned(), |toml, (long, short)| toml.replace(long, short));
            let named = file.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            let source = Source { files: named.collect(), ..Source::new(file.file, toml) };
            engine.apply(&source).await.unwrap();
            names.push(file.file.trim_end_matches(".toml").into());
        }
        let mounts = Mounts::of(&system, names).unwrap();
        let address = "127.0.0.1:1".parse().unwrap();
        let site = Arc::new(Site::new(engine, server::Options::new(address), vec![mounts]));
        let client = site.client(Visitor::inside(Caller::new("admin", Role::Admin), None));
        World {
            client,
            site,
            settings: settings.to_owned(),
            folder: tempfile::tempdir().unwrap(),
            working: None,
        }
    }

    /// Starts a worker.
    pub(crate) fn work(&mut self) {
        let system = configured(&self.settings).unwrap();
        let own = Visitor::inside(Caller::new("system:ledger", Role::Admin), None);
        let desk = Desk {
            client: self.site.client(own),
            fetch: Fetch::new(Policy::default()),
            folder: self.folder.path().to_owned(),
        };
        let worker = Worker::new(desk.client.clone(), "worker").grace(Duration::ZERO);
        let (stop, stopped) = oneshot::channel();
        let working = tokio::spawn(async move {
            let stopped = async move { drop(stopped.await) };
            system::run(&system, &desk, worker, stopped).await.unwrap();
        });
        self.working = Some((stop, working));
    }

    /// Ends the worker as a crash does: nothing is given back.
    pub(crate) async fn crash(&mut self) {
        if let Some((_stop, working)) = self.working.take() {
            working.abort();
            assert!(working.await.unwrap_err().is_cancelled());
        }
    }

    pub(crate) async fn submit(&self, payload: &Value) -> SubmissionId {
        let body = SubmitBody { payload: payload.clone().into(), ..SubmitBody::default() };
        self.client.submit(PIPELINE, &body, None).await.unwrap().id
    }

    /// Submits many in one call.
    pub(crate) async fn submit_many(&self, payloads: &[Value]) -> Vec<SubmissionId> {
        let one = |payload: &Value| SubmitBody { payload: payload.clone().into(), ..SubmitBody::default() };
        let body = SubmitMany { submissions: payloads.iter().map(one).collect() };
        let answer = self.client.submit_many(PIPELINE, &body, None).await.unwrap();
        answer.results.into_iter().map(|result| result.submission.expect("it is good").id).collect()
    }

    pub(crate) async fn view(&self, id: SubmissionId) -> SubmissionView {
        self.client.submission(id).await.unwrap()
    }

    /// Waits until a submission is as a condition says.
    pub(crate) async fn until(
        &self,
        id: SubmissionId,
        is: impl Fn(&SubmissionView) -> bool,
    ) -> SubmissionView {
        let waiting = async {
            let mut view = self.view(id).await;
            while !is(&view) {
                view = self.client.wait_for_change(id, view.revision, Some(PATIENCE)).await.unwrap();
            }
            view
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(view) => view,
            Err(_) => panic!("it did not come to that: {:#?}", self.view(id).await),
        }
    }

    pub(crate) async fn state(&self, id: SubmissionId, state: &str) -> SubmissionView {
        self.until(id, |view| &*view.state == state).await
    }

    /// Returns the states that a submission went through, each visit once.
    pub(crate) async fn path(&self, id: SubmissionId) -> Vec<String> {
        let (mut path, mut after): (Vec<String>, u64) = (Vec::new(), 0);
        loop {
            let page = self.client.events(id, after).await.unwrap();
            for event in page.events {
                if path.last().map(String::as_str) != Some(&*event.to) {
                    path.push(event.to.to_string());
                }
            }
            match page.next {
                Some(next) => after = next,
                None => return path,
            }
        }
    }

    /// Returns the codes of the errors with which a submission came into a state.
    pub(crate) async fn errors(&self, id: SubmissionId, state: &str) -> Vec<String> {
        let events = self.client.events(id, 0).await.unwrap().events;
        let into = events.iter().filter(|event| &*event.to == state);
        into.filter_map(|event| event.error.as_ref()).map(|error| error.code.to_string()).collect()
    }

    pub(crate) async fn act(&self, id: SubmissionId, action: &str, reason: &str) -> SubmissionView {
        let body = ActBody { reason: Some(reason.to_owned()), ..ActBody::default() };
        self.client.act(id, action, &body, &client::ActOptions::default()).await.unwrap()
    }
}

/// Returns the output of a state's task.
pub(crate) fn output(view: &SubmissionView, state: &str) -> Value {
    let outputs = view.outputs.clone().unwrap_or_default();
    outputs.get(state).map_or(json!(null), |output| serde_json::from_str(output.as_str()).unwrap())
}
