//! The embedded store keeps every promise, and does what the reference store does.

use std::cell::RefCell;
use std::sync::Arc;

use store::ManualClock;
use store::{MemoryStore, Store};
use store_conformance::{Differential, Fixture, differential};
use store_sqlite::SqliteStore;
use tempfile::TempDir;

#[derive(Debug, Default)]
struct Sqlite {
    clock: ManualClock,
    /// Every store that was opened, by where it is in memory, and its folder.
    folders: RefCell<Vec<(usize, TempDir)>>,
}

impl Sqlite {
    fn open_in(&self, folder: TempDir) -> Arc<dyn Store> {
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(folder.path(), Arc::new(self.clock.clone())).expect("a folder opens"));
        self.folders.borrow_mut().push((address(&store), folder));
        store
    }
}

fn address(store: &Arc<dyn Store>) -> usize {
    Arc::as_ptr(store).cast::<()>().addr()
}

impl Fixture for Sqlite {
    fn open(&self) -> Arc<dyn Store> {
        self.open_in(tempfile::tempdir().expect("a folder can be made"))
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let at = address(&store);
        let mut folders = self.folders.borrow_mut();
        let position = folders.iter().rposition(|(address, _)| *address == at);
        let position = position.expect("the store was opened here");
        let (_, folder) = folders.swap_remove(position);
        drop(folders);
        assert_eq!(Arc::strong_count(&store), 1, "a store that somebody still holds does not close");
        drop(store);
        self.open_in(folder)
    }
}

#[test]
fn the_sqlite_store_keeps_every_promise() {
    store_conformance::run(Sqlite::default);
}

#[test]
fn the_sqlite_store_does_what_the_memory_store_does() {
    // Side by side, because a commit mostly waits for the disk.
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || {
                let sqlite = Sqlite::default();
                let memory = MemoryStore::new(Arc::new(sqlite.clock.clone()));
                let how = Differential { clock: sqlite.clock(), seed, steps: 400 };
                let seen = differential(&memory, &*sqlite.open(), &how);
                assert!(seen.commits > 100 && seen.conflicts > 20 && seen.events > 200, "{seen:?}");
                assert!(seen.ready > 20 && seen.due > 20 && seen.owed > 20, "{seen:?}");
                assert!(seen.waiters > 20 && seen.lanes > 100 && seen.parked > 20, "{seen:?}");
                assert!(seen.slots > 20 && seen.idle > 20 && seen.late > 100, "{seen:?}");
                assert!(seen.erased > 5 && seen.forgotten > 5 && seen.retirements > 3, "{seen:?}");
            });
        }
    });
}
