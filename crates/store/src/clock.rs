//! The clock that gives a store on one machine its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::Time;

/// The time of a store on one machine. Never goes back.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Time;
}

/// A clock that stands still until it is moved, for scenarios, simulations and tests. Clones share the time: keep one to
/// move it and give the other to a store.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Starts at a moment of recent years, so that ids made of it look like real ones.
    #[must_use]
    pub fn new() -> Self {
        ManualClock(Arc::new(AtomicI64::new(1_790_000_000_000)))
    }

    pub fn set(&self, now: Time) {
        self.0.store(now.millis(), Ordering::SeqCst);
    }

    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        ManualClock::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}
