//! The list at work: a server with the system inside, over a world of names and sites.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use app::Visitor;
use client::Client;
use engine::{ApplyError, Engine, SystemClock};
use model::pipeline::Source;
use model::{Caller, Json, Role};
use server::{Mounts, Site};
use site_list::Keeper;
use site_list::list::List;
use store::{MemoryStore, Store};
use system::{Desk, PipelineFile, Settings, System};
use tempfile::TempDir;
use tlog::note::{Algorithm, SigningKey};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wire::SubmissionId;
use wire::api::{SubmissionView, SubmitBody};
use worker::{TaskSource, Worker};

use super::World;

pub(crate) const ORIGIN: &str = "list.example/log";
/// Longer than any of these submissions takes; a machine under load is slow.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Running {
    pub(crate) admin: Client,
    pub(crate) public: Client,
    /// Whoever may see all pipelines, as that of mails.
    pub(crate) owner: Client,
    /// The address of the server.
    pub(crate) url: String,
    /// The address of the list's own listener, where its settings have one.
    pub(crate) own: Option<String>,
    pub(crate) folder: TempDir,
    keeper: Keeper,
    settings: String,
    fetch: fetch::Fetch,
    working: Vec<Working>,
    /// Servers that have worked so far, each in a folder of its own.
    servers: usize,
    _close: oneshot::Sender<()>,
}

/// The tasks and followers of the list, as one server of a fleet runs them.
struct Working {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

/// Settings and parameters of one list.
pub(crate) struct Setup {
    /// More lines of the table of settings.
    pub(crate) settings: String,
    pub(crate) waiting_delay: &'static str,
    /// The store, where it is not one of its own.
    pub(crate) store: Option<Arc<dyn Store>>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { settings: String::new(), waiting_delay: "10ms", store: None }
    }
}

/// The key of the list's own log.
pub(crate) fn log_key() -> SigningKey {
    SigningKey::from_seed(ORIGIN, Algorithm::Ed25519, &[1; 32]).expect("this is a name")
}

impl Running {
    /// A list with a log of its own, read from its folder.
    pub(crate) async fn start(world: &World) -> Running {
        Running::with(world, Setup::default(), tempfile::tempdir().expect("there is room")).await
    }

    pub(crate) async fn with(world: &World, setup: Setup, folder: TempDir) -> Running {
        std::fs::write(folder.path().join("key"), log_key().to_secret()).expect("there is room");
        let mut system = site_list::system();
        let settings = settings(world, &setup.settings, folder.path());
        configure(&mut system, &settings);
        let own = || Arc::new(MemoryStore::new(Arc::new(SystemClock::new()))) as Arc<dyn Store>;
        let store = setup.store.clone().unwrap_or_else(own);
        let engine = Engine::start(store, &engine::Options::default()).expect("an engine starts");
        let delivery =
            PipelineFile::new("delivery.toml", include_str!("../../../../crates/sending/delivery.toml"))
                .naming(&[(
                    "schemas/delivery.json",
                    include_str!("../../../../crates/sending/schemas/delivery.json"),
                )]);
        for file in [delivery].into_iter().chain(system.pipelines()) {
            let named = file.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            let params = match file.file {
                "site-list.toml" => {
                    let delay = setup.waiting_delay;
                    format!(r#"{{"waiting_delay": "{delay}", "operator": "ops@example.com"}}"#)
                }
                "site-list-check.toml" => r#"{"operator": "ops@example.com"}"#.to_owned(),
                _ => "{}".to_owned(),
            };
            let params = Json::parse(&params).expect("this is JSON").value();
            let source = Source { files: named.collect(), params, ..Source::new(file.file, file.toml) };
            match engine.apply(&source).await {
                Ok(_) => {}
                Err(ApplyError::Problems(problems)) => panic!("{}", problems.render(&source)),
                Err(ApplyError::Refused(refusal)) => panic!("{refusal}"),
            }
        }
        let pipelines = || vec!["site-list".into(), "site-list-check".into()];
        let mounts = Mounts::of(&system, pipelines()).expect("its addresses are its own");
        let bound = mounts.bind().await.expect("there are free ports");
        let own = bound.first().map(|bound| format!("http://{}", bound.address().expect("it is bound")));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let options = server::Options::new(address);
        let site = Site::new(engine, options, vec![mounts]).listening(bound);
        let inside = |name: &str, role| Visitor::inside(Caller::new(name, role), Some(pipelines()));
        let admin = site.client(inside("system:site-list", Role::Admin));
        let public = site.client(inside("public", Role::Submitter));
        let owner = site.client(Visitor::inside(Caller::new("owner", Role::Admin), None));
        let (close, closed) = oneshot::channel::<()>();
        tokio::spawn(site.serve(listener, closed));
        let keeper = Keeper::new(admin.clone(), &folder.path().join("look"));
        let (url, fetch) = (format!("http://{address}"), world.fetch());
        let mut running = Running {
            admin,
            public,
            owner,
            url,
            own,
            folder,
            keeper,
            settings,
            fetch,
            working: Vec::new(),
            servers: 0,
            _close: close,
        };
        running.work(system, Worker::new(running.admin.clone(), "w"));
        running
    }

    /// Does the list's work by this worker.
    fn work(&mut self, system: impl System + 'static, worker: Worker) {
        let place = self.folder.path().join(match self.servers {
            0 => "desk".to_owned(),
            number => format!("desk-{number}"),
        });
        self.servers += 1;
        std::fs::create_dir_all(&place).expect("there is room");
        let desk = Desk { client: self.admin.clone(), fetch: self.fetch.clone(), folder: place };
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn(async move {
            let stopped = async move { drop(stopped.await) };
            let ended = system::run(&system, &desk, worker.quietly(), stopped).await;
            ended.expect("the server takes the worker");
        });
        self.working.push(Working { stop, ended });
    }

    /// Has another server of the fleet take part in the work.
    pub(crate) fn join(&mut self, source: impl TaskSource + 'static) {
        let mut system = site_list::system();
        configure(&mut system, &self.settings);
        self.work(system, Worker::new(source, "another"));
    }

    /// Ends the work, and has another server of the fleet go on with it: one that remembers nothing.
    pub(crate) async fn hand_over(&mut self, source: impl TaskSource + 'static) {
        self.stop_working().await;
        self.join(source);
    }

    /// Ends the work of all servers.
    pub(crate) async fn stop_working(&mut self) {
        for Working { stop, ended } in self.working.drain(..) {
            drop(stop);
            ended.await.expect("it ends in good order");
        }
    }

    pub(crate) async fn submit(&self, host: &str, action: &str) -> SubmissionId {
        let payload = serde_json::json!({ "fqdn": host, "action": action });
        let reason = (!["ADD", "MODIFY", "DELETE"].contains(&action)).then(|| "a test".to_owned());
        let client = if reason.is_some() { &self.admin } else { &self.public };
        let body = SubmitBody { payload: payload.into(), reason, ..SubmitBody::default() };
        client.submit("site-list", &body, None).await.expect("it is taken").id
    }

    /// Waits for the end of a submission.
    pub(crate) async fn end(&self, id: SubmissionId) -> SubmissionView {
        self.admin.wait(id, Some(PATIENCE)).await.expect("the server answers").submission
    }

    /// Submits a change and returns the state in which it ends.
    pub(crate) async fn change(&self, host: &str, action: &str) -> SubmissionView {
        self.end(self.submit(host, action).await).await
    }

    /// Waits until a submission is in a state.
    pub(crate) async fn reaches(&self, id: SubmissionId, state: &str) -> SubmissionView {
        let mut view = self.admin.submission(id).await.expect("it is there");
        while &*view.state != state {
            let revision = view.revision;
            let next = self.admin.wait_for_change(id, revision, Some(PATIENCE)).await;
            view = next.expect("the server answers");
            assert!(view.revision > revision, "{id} stays in {}", view.state);
        }
        view
    }

    /// The states that a submission has been in.
    pub(crate) async fn path(&self, id: SubmissionId) -> Vec<String> {
        let events = self.admin.events(id, 0).await.expect("it is there").events;
        let mut path: Vec<String> = events.iter().map(|event| event.to.to_string()).collect();
        path.dedup();
        path
    }

    pub(crate) async fn list(&self) -> Arc<List> {
        self.keeper.current().await.expect("the server answers")
    }
}

pub(crate) fn settings(world: &World, more: &str, folder: &Path) -> String {
    let unless = |key: &str, value: &str| match more.contains(key) {
        true => String::new(),
        false => format!("{key} = {value}\n"),
    };
    std::fs::write(folder.join("roots.pem"), world.web.roots()).expect("there is room");
    let log = match more.contains("[sigsum]") {
        true => String::new(),
        false => format!(
            "log-key-file = '{}'\nlog-folder = '{}'\n",
            folder.join("key").display(),
            folder.join("log").display()
        ),
    };
    format!(
        "name-servers = ['{}']\nroots-file = '{}'\nsite-port = {}\nlog-pause = '50ms'\n{}{}{log}{more}",
        world.dns.address,
        folder.join("roots.pem").display(),
        world.web.port,
        unless("host-pause", "'0s'"),
        unless("mails-a-day", "100"),
    )
}

pub(crate) fn configure(system: &mut impl System, text: &str) {
    let table = DeTable::parse(text).expect("this is TOML");
    let span = table.span();
    let settings = Settings::new(Spanned::new(span, DeValue::Table(table.into_inner())));
    system.configure(settings).expect("these are good settings");
}
