//! The reference store keeps every promise.

use std::sync::Arc;

use store::ManualClock;
use store::{MemoryStore, Store};
use store_conformance::Fixture;

#[derive(Debug, Default)]
struct Memory {
    clock: ManualClock,
}

impl Fixture for Memory {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new(Arc::new(self.clock.clone())))
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        store
    }
}

#[test]
fn the_memory_store_keeps_every_promise() {
    store_conformance::run(Memory::default);
}

#[test]
fn a_memory_store_does_not_show_what_it_holds() {
    let memory = Memory::default();
    assert_eq!(format!("{:?}", memory.open()), "MemoryStore { .. }");
}
