//! The audit log over a database that several servers share: sequenced rows only, one publisher at a time.

use crate::support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use audit::follow::TileStore as _;
use audit::note::Trust;
use audit::verify::{LogOptions as Verify, verify_log};
use engine::log::{KeyFile, StoreTiles};
use engine::{Engine, LogOptions, Options};
use model::admit::{Application, Door};
use model::pipeline::Source;
use model::{Caller, Json, Role};
use store_postgres::PostgresStore;
use tokio::task::JoinSet;

const PLAIN: &str = "name = \"plain\"\nversion = 1\nstart = \"OPEN\"\n[states.OPEN]\nactions.close = \"DONE\"\n\
                     [states.DONE]\nfinal = \"success\"\n";

/// Servers share the keys; each remembers by itself what it signed.
fn server(store: &Arc<PostgresStore>, folder: &Path, name: &str) -> Engine {
    let log = LogOptions {
        guard: folder.join(format!("{name}.guard")),
        every: Duration::from_millis(20),
        ..LogOptions::in_folder(folder)
    };
    Engine::start(store.clone(), &Options { log: Some(log), ..Options::default() }).unwrap()
}

#[test]
fn the_log_of_two_servers_is_one_and_verifies() {
    let settings = support::fresh();
    let stores = [0, 1].map(|_| Arc::new(PostgresStore::open(&settings).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let engines = [server(&stores[0], folder.path(), "one"), server(&stores[1], folder.path(), "two")];
        engines[0].apply(&Source::new("plain.toml", PLAIN)).await.unwrap();
        engines[1].apply(&Source::new("plain.toml", PLAIN)).await.unwrap();
        let mut all = JoinSet::new();
        for n in 0..20 {
            let engine = engines[n % 2].clone();
            all.spawn(async move {
                for _ in 0..20 {
                    let application = Application {
                        caller: Caller::new("ada", Role::Admin),
                        payload: Json::null(),
                        key: None,
                        priority: None,
                        not_before: None,
                        reason: None,
                        door: Door::Api,
                    };
                    let answered = engine.submit("plain", application, None).await.unwrap();
                    engine.proven(answered.row.id, Duration::from_secs(30)).await.unwrap();
                }
            });
        }
        all.join_all().await;
        let (keys, _) = KeyFile::open(&folder.path().join("log.key"), None).unwrap();
        let trust = Trust { keys: keys.verifiers().unwrap(), policy: None };
        let tiles = StoreTiles(&*stores[1]);
        let checkpoint = tiles.checkpoint().unwrap().unwrap();
        let report = verify_log(&tiles, &checkpoint, &trust, &Verify::default());
        let report = report.unwrap_or_else(|finding| panic!("{finding}"));
        assert_eq!((report.events, report.definitions, report.acts.len()), (400, 1, 0));
        for engine in engines {
            engine.drain().await;
        }
    });
}
