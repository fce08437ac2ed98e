//! Which store is measured: a folder of its own for each home, or a schema of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use engine::SystemClock;
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

/// What is there for one home alone, and goes with it.
pub(super) enum Keep {
    Folder(TempDir),
    Schema(Settings),
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
        Ok(Keep::Schema(Settings { schema, ..settings.clone() }))
    }

    pub(super) async fn room(&self) -> Result<Room> {
        let keep = self.keep()?;
        let (store, label): (Arc<dyn Store>, _) = match &keep {
            Keep::Folder(folder) => {
                (Arc::new(SqliteStore::open(folder.path(), Arc::new(SystemClock::new()))?), "in process")
            }
            Keep::Schema(settings) => {
                let settings = settings.clone();
                let opened = tokio::task::spawn_blocking(move || PostgresStore::open(&settings)).await??;
                (Arc::new(opened), "in process, PG")
            }
        };
        let engine = Inside::start(store, label, &engine::Options::default()).await?;
        Ok(Room { engine, keep })
    }

    pub(super) async fn site(&self, servers: usize) -> Result<Site> {
        let keep = self.keep()?;
        let (arguments, environment, label) = match &keep {
            Keep::Folder(folder) => {
                (vec![OsString::from("--data"), folder.path().into()], None, "HTTP".to_owned())
            }
            Keep::Schema(Settings { url, schema, .. }) => {
                let mark = if url.contains('?') { '&' } else { '?' };
                // Not as an argument: the address may have a password in it.
                let address = format!("{url}{mark}schema={schema}");
                let label =
                    if servers == 1 { "HTTP, PG".to_owned() } else { format!("HTTP, PG, {servers} servers") };
                (Vec::new(), Some(("MILEPOST_STORE".to_owned(), address)), label)
            }
        };
        let program = Program { binary: self.binary.clone(), arguments, environment, label };
        let servers = Outside::start(&program, servers).await?;
        Ok(Site { program, servers, keep })
    }
}

impl Room {
    /// The folder of its store.
    pub(super) fn folder(&self) -> Result<&Path> {
        match &self.keep {
            Keep::Folder(folder) => Some(folder.path()).context("unreachable"),
            Keep::Schema(_) => None.context("this store is in no folder"),
        }
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
        self.servers.kill().await?;
        self.keep.clear().await
    }
}

impl Keep {
    async fn clear(self) -> Result<()> {
        match self {
            Keep::Folder(folder) => Ok(folder.close()?),
            Keep::Schema(Settings { url, schema, .. }) => naive::drop_schema(&url, &schema).await,
        }
    }
}
