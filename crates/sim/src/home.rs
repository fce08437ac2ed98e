//! Where a run's store lives, and how it comes back after the process is gone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::conformance::TestClock;
use store::{MemoryStore, Store};
use store_sqlite::SqliteStore;
use tempfile::TempDir;

/// Which store a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Memory,
    Sqlite,
}

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Memory => "memory",
            Kind::Sqlite => "sqlite",
        }
    }
}

/// How a process ended, as its store sees it.
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
    clock: TestClock,
    folder: TempDir,
    lives: u32,
}

impl Home {
    pub(crate) fn new(kind: Kind, clock: TestClock) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        Ok(Home { kind, clock, folder, lives: 0 })
    }

    pub(crate) fn open(&self) -> Result<Arc<dyn Store>, String> {
        let clock = Arc::new(self.clock.clone());
        Ok(match self.kind {
            Kind::Memory => Arc::new(MemoryStore::new(clock)),
            Kind::Sqlite => {
                let store = SqliteStore::open(&self.data(), clock);
                Arc::new(store.map_err(|error| format!("the store does not open: {error}"))?)
            }
        })
    }

    /// The store after its process is gone. The memory store has no files: it stands for one that survives.
    pub(crate) fn reopen(&mut self, store: Arc<dyn Store>, end: End) -> Result<Arc<dyn Store>, String> {
        if self.kind == Kind::Memory {
            return Ok(store);
        }
        let left = self.data();
        if end == End::Killed {
            // What a killed process leaves behind is what its files hold while they are still open.
            self.lives += 1;
            copy(&left, &self.data())
                .map_err(|error| format!("the data folder cannot be copied: {error}"))?;
        }
        drop(store);
        self.open()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join(format!("life-{}", self.lives))
    }
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
