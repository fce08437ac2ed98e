//! The store that is measured: a folder of its own for each home, or a schema of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use engine::{LogOptions, SystemClock};
use store::Store;
use store_postgres::{PostgresStore, Settings};
use store_sqlite::SqliteStore;
use tempfile::TempDir;

use super::Plan;
use crate::home::{Home, Inside, Outside, Program};
use crate::naive;

pub(super) struct Ground {
    folder: PathBuf,
    binary: PathBuf,
    postgres: Option<Settings>,
}

/// The folder or schema that is there for one home alone, and goes with it.
pub(super) enum Keep {
    Folder(TempDir),
    /// The folder has the key of the audit log.
    Schema(Settings, TempDir),
}

/// An engine in this process, and its store.
pub(super) struct Room {
    pub(super) engine: Inside,
    keep: Keep,
}

/// Servers, and their store.
pub(super) struct Site {
    pub(super) program: Program,
    pub(super) servers: Outside,
    pub(super) keep: Keep,
}

pub(super) fn folder(plan: &Plan) -> Result<TempDir> {
    fresh_folder(&plan.folder)
}

fn fresh_folder(parent: &Path) -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("milepost-bench-").tempdir_in(parent)?)
}

impl Ground {
    pub(super) fn folder(plan: &Plan) -> Ground {
        Ground { folder: plan.folder.clone(), binary: plan.binary.clone(), postgres: None }
    }

    pub(super) fn postgres(plan: &Plan, url: &str) -> Result<Ground> {
        let postgres = Some(Settings::parse(url)?);
        Ok(Ground { folder: plan.folder.clone(), binary: plan.binary.clone(), postgres })
    }

    fn keep(&self) -> Result<Keep> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Some(settings) = &self.postgres else { return Ok(Keep::Folder(fresh_folder(&self.folder)?)) };
        let no = COUNT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("milepost_bench_{}_{no}", std::process::id());
        Ok(Keep::Schema(Settings { schema, ..settings.clone() }, fresh_folder(&self.folder)?))
    }

    /// With the audit log, as a server has it.
    pub(super) async fn room(&self) -> Result<Room> {
        self.room_with(true).await
    }

    pub(super) async fn room_with(&self, log: bool) -> Result<Room> {
        self.enter(self.keep()?, log).await
    }

    /// Over what somebody else has left.
    pub(super) async fn enter(&self, keep: Keep, log: bool) -> Result<Room> {
        let (store, label): (Arc<dyn Store>, _) = match &keep {
            Keep::Folder(folder) => {
                (Arc::new(SqliteStore::open(folder.path(), Arc::new(SystemClock::new()))?), "in process")
            }
            Keep::Schema(settings, _) => {
                let settings = settings.clone();
                let opened = tokio::task::spawn_blocking(move || PostgresStore::open(&settings)).await??;
                (Arc::new(opened), "in process, PG")
            }
        };
        let log = log.then(|| LogOptions::in_folder(keep.folder()));
        let engine =
            Inside::start(store, label, &engine::Options { log, ..engine::Options::default() }).await?;
        Ok(Room { engine, keep })
    }

    pub(super) async fn site(&self, servers: usize) -> Result<Site> {
        let keep = self.keep()?;
        let (arguments, environment, label) = match &keep {
            Keep::Folder(folder) => {
                (vec![OsString::from("--data"), folder.path().into()], None, "HTTP".to_owned())
            }
            Keep::Schema(Settings { url, schema, .. }, folder) => {
                let mark = if url.contains('?') { '&' } else { '?' };
                // Not as an argument: the address may have a password in it.
                let address = format!("{url}{mark}schema={schema}");
                let label =
                    if servers == 1 { "HTTP, PG".to_owned() } else { format!("HTTP, PG, {servers} servers") };
                let key = vec![OsString::from("--audit-key"), folder.path().join("log.key").into()];
                (key, Some(("MILEPOST_STORE".to_owned(), address)), label)
            }
        };
        let program = Program { binary: self.binary.clone(), arguments, environment, label };
        let servers = Outside::start(&program, servers).await?;
        Ok(Site { program, servers, keep })
    }
}

impl Room {
    /// The folder of its store.
    pub(super) fn folder(&self) -> &Path {
        self.keep.folder()
    }

    pub(super) async fn leave(self) -> Result<()> {
        self.engine.stop().await;
        self.keep.clear().await
    }
}

impl Site {
    pub(super) fn label(&self) -> &str {
        self.servers.label()
    }

    pub(super) async fn leave(self) -> Result<()> {
        self.end().await?.clear().await
    }

    /// Kills the servers. What they wrote stays.
    pub(super) async fn end(self) -> Result<Keep> {
        self.servers.kill().await?;
        Ok(self.keep)
    }
}

impl Keep {
    fn folder(&self) -> &Path {
        match self {
            Keep::Folder(folder) | Keep::Schema(_, folder) => folder.path(),
        }
    }

    async fn clear(self) -> Result<()> {
        match self {
            Keep::Folder(folder) => Ok(folder.close()?),
            Keep::Schema(Settings { url, schema, .. }, _folder) => naive::drop_schema(&url, &schema).await,
        }
    }
}
