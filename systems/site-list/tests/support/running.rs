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
use store::MemoryStore;
use system::{Desk, PipelineFile, Settings, System};
use tempfile::TempDir;
use tlog::note::{Algorithm, SigningKey};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wire::SubmissionId;
use wire::api::{SubmissionView, SubmitBody};
use worker::Worker;

use super::World;

pub(crate) const ORIGIN: &str = "list.example/log";
/// Longer than any of these submissions takes; a machine under load is slow.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Running {
    pub(crate) admin: Client,
    pub(crate) public: Client,
    /// The address of the server.
    pub(crate) url: String,
    pub(crate) folder: TempDir,
    keeper: Keeper,
    _stop: [oneshot::Sender<()>; 2],
}

/// Settings and parameters of one list.
pub(crate) struct Setup {
    /// More lines of the table of settings.
    pub(crate) settings: String,
    pub(crate) waiting_delay: &'static str,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { settings: String::new(), waiting_delay: "10ms" }
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
        configure(&mut system, &settings(world, &setup.settings, folder.path()));
        let store = Arc::new(MemoryStore::new(Arc::new(SystemClock::new())));
        let engine = Engine::start(store, &engine::Options::default()).expect("an engine starts");
        let delivery =
            PipelineFile::new("delivery.toml", include_str!("../../../../crates/sending/delivery.toml"))
                .naming(&[(
                    "schemas/delivery.json",
                    include_str!("../../../../crates/sending/schemas/delivery.json"),
                )]);
        for file in [delivery].into_iter().chain(system.pipelines()) {
            let named = file.named.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            let params =
                format!(r#"{{"waiting_delay": "{}", "operator": "ops@example.com"}}"#, setup.waiting_delay);
            let params = if file.file == "site-list.toml" { params.as_str() } else { "{}" };
            let params = Json::parse(params).expect("this is JSON").value();
            let source = Source { files: named.collect(), params, ..Source::new(file.file, file.toml) };
            match engine.apply(&source).await {
                Ok(_) => {}
                Err(ApplyError::Problems(problems)) => panic!("{}", problems.render(&source)),
                Err(ApplyError::Refused(refusal)) => panic!("{refusal}"),
            }
        }
        let mounts = Mounts::of(&system, vec!["site-list".into()]).expect("its addresses are its own");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let options = server::Options::new(address);
        let site = Site::new(engine, options, vec![mounts]);
        let own = |name: &str, role| Visitor::inside(Caller::new(name, role), Some(vec!["site-list".into()]));
        let (admin, public) =
            (site.client(own("system:site-list", Role::Admin)), site.client(own("public", Role::Submitter)));
        let place = folder.path().join("desk");
        std::fs::create_dir_all(&place).expect("there is room");
        let desk = Desk { client: admin.clone(), fetch: world.fetch(), folder: place.clone() };
        let (stop, stopped) = oneshot::channel::<()>();
        let (close, closed) = oneshot::channel::<()>();
        tokio::spawn(site.serve(listener, closed));
        let worker = Worker::new(admin.clone(), "w").concurrency(8).quietly();
        tokio::spawn(async move {
            let ended = system::run(&system, &desk, worker, async move { drop(stopped.await) }).await;
            ended.expect("the server takes the worker");
        });
        let keeper = Keeper::new(admin.clone(), &place.join("..").join("look"));
        Running { admin, public, url: format!("http://{address}"), folder, keeper, _stop: [stop, close] }
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
        "name-servers = ['{}']\nroots-file = '{}'\nsite-port = {}\nhost-pause = '0s'\nmails-a-day = 100\n\
         log-pause = '50ms'\n{log}{more}",
        world.dns.address,
        folder.join("roots.pem").display(),
        world.web.port
    )
}

pub(crate) fn configure(system: &mut impl System, text: &str) {
    let table = DeTable::parse(text).expect("this is TOML");
    let span = table.span();
    let settings = Settings::new(Spanned::new(span, DeValue::Table(table.into_inner())));
    system.configure(settings).expect("these are good settings");
}
