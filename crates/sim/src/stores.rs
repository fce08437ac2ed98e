//! The home of a run's store, and how it comes back after the process is gone.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::ManualClock;
use store::{MemoryStore, Store};
use store_postgres::{PostgresStore, Settings};
use store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::finding::{Finding, finding};

/// The kind of store that a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Sqlite,
    /// In a schema of its own, which is gone afterwards, of the database at this address.
    Postgres(&'static str),
}

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Memory => "memory",
            Kind::Sqlite => "sqlite",
            Kind::Postgres(_) => "postgres",
        }
    }
}

/// The end of a process, as its store sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The files were closed.
    Clean,
    /// Killed: nobody closed anything.
    Killed,
}

#[derive(Debug)]
pub(crate) struct Home {
    kind: Kind,
    clock: ManualClock,
    folder: TempDir,
    lives: u32,
    /// The settings of the store's database, if it is in one.
    database: Option<Settings>,
}

impl Home {
    pub(crate) fn new(kind: Kind, clock: ManualClock) -> Result<Self, Finding> {
        let folder = tempfile::tempdir().map_err(|error| finding!("no temporary folder: {error}"))?;
        let database = match kind {
            Kind::Postgres(url) => Some(own_schema(url)?),
            Kind::Memory | Kind::Sqlite => None,
        };
        Ok(Home { kind, clock, folder, lives: 0, database })
    }

    pub(crate) fn open(&self) -> Result<Arc<dyn Store>, Finding> {
        let clock = Arc::new(self.clock.clone());
        let unopened = |error: store::Error| finding!("the store does not open: {error}");
        if let Some(database) = &self.database {
            return Ok(Arc::new(PostgresStore::open_with_clock(database, clock).map_err(unopened)?));
        }
        Ok(match self.kind {
            Kind::Sqlite => Arc::new(SqliteStore::open(&self.data(), clock).map_err(unopened)?),
            Kind::Memory | Kind::Postgres(_) => Arc::new(MemoryStore::new(clock)),
        })
    }

    /// The store after its process is gone. The memory store has no files: it stands for one that survives.
    pub(crate) fn reopen(&mut self, store: Arc<dyn Store>, end: End) -> Result<Arc<dyn Store>, Finding> {
        if self.kind == Kind::Memory {
            return Ok(store);
        }
        if self.database.is_some() {
            // The database outlives its servers, and rolls back what they left open.
            drop(store);
            return self.open();
        }
        let left = self.data();
        if end == End::Killed {
            // What a killed process leaves behind is what its files hold while they are still open.
            self.lives += 1;
            copy(&left, &self.data())
                .map_err(|error| finding!("the data folder cannot be copied: {error}"))?;
        }
        drop(store);
        self.open()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join(format!("life-{}", self.lives))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What cannot be removed is left for whoever looks at why.
        let _ = self.database.as_ref().map(store_postgres::remove);
    }
}

/// One that no other run has, of this process or another.
fn own_schema(url: &str) -> Result<Settings, Finding> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let no = NEXT.fetch_add(1, Ordering::SeqCst);
    let settings =
        Settings::parse(url).map_err(|error| finding!("the address of the store cannot be read: {error}"))?;
    let schema = format!("sim_{}_{no}", std::process::id());
    Ok(Settings { schema, readers: 1, writers: 1, ..settings })
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        // Shared memory dies with the process.
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
