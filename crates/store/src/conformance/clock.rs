//! A clock that stands still until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::Time;

use crate::Clock;

/// Clones share the time: keep one to move it and give the other to a store.
#[derive(Debug, Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// Starts at a moment of recent years, so that ids made of it look like real ones.
    #[must_use]
    pub fn new() -> Self {
        TestClock(Arc::new(AtomicI64::new(1_790_000_000_000)))
    }

    pub fn set(&self, now: Time) {
        self.0.store(now.millis(), Ordering::SeqCst);
    }

    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        TestClock::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}
