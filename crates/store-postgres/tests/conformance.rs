//! The store keeps every promise, and does what the reference store does.

use crate::support;

use std::cell::RefCell;
use std::sync::Arc;

use store::ManualClock;
use store::{MemoryStore, Store};
use store_conformance::{Differential, Fixture, differential};
use store_postgres::{PostgresStore, Settings};

#[derive(Debug, Default)]
struct Postgres {
    clock: ManualClock,
    /// Every store that was opened, by where it is in memory, and its settings.
    opened: RefCell<Vec<(usize, Settings)>>,
}

impl Postgres {
    fn open_in(&self, settings: Settings) -> Arc<dyn Store> {
        let clock = Arc::new(self.clock.clone());
        let store: Arc<dyn Store> =
            Arc::new(PostgresStore::open_with_clock(&settings, clock).expect("a schema opens"));
        self.opened.borrow_mut().push((address(&store), settings));
        store
    }
}

fn address(store: &Arc<dyn Store>) -> usize {
    Arc::as_ptr(store).cast::<()>().addr()
}

impl Fixture for Postgres {
    fn open(&self) -> Arc<dyn Store> {
        self.open_in(support::fresh())
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let at = address(&store);
        let mut opened = self.opened.borrow_mut();
        let position = opened.iter().rposition(|(address, _)| *address == at);
        let (_, settings) = opened.swap_remove(position.expect("the store was opened here"));
        drop(opened);
        drop(store);
        self.open_in(settings)
    }
}

#[test]
fn the_postgres_store_keeps_every_promise() {
    store_conformance::run(Postgres::default);
}

#[test]
fn the_postgres_store_does_what_the_memory_store_does() {
    // Side by side, because a commit mostly waits for the disk.
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || {
                let postgres = Postgres::default();
                let memory = MemoryStore::new(Arc::new(postgres.clock.clone()));
                let how = Differential { clock: postgres.clock(), seed, steps: 400 };
                let seen = differential(&memory, &*postgres.open(), &how);
                assert!(seen.commits > 100 && seen.conflicts > 20 && seen.events > 200, "{seen:?}");
                assert!(seen.ready > 20 && seen.due > 20 && seen.owed > 20, "{seen:?}");
                assert!(seen.waiters > 20 && seen.lanes > 100 && seen.parked > 20, "{seen:?}");
                assert!(seen.erased > 5 && seen.forgotten > 5 && seen.retirements > 3, "{seen:?}");
            });
        }
    });
}
