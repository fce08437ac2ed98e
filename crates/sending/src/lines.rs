//! The places of a server as its messages take and leave them; see [`crate::places`] for the rule.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::clock;

use crate::places::{Places, Way};

/// A turn within this is waited for, by so many messages at a time.
const SOON: Duration = Duration::from_millis(500);
pub(crate) const WAITING_MAX: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    places: Mutex<Places>,
    waiting: AtomicUsize,
}

/// A place that a message has; dropping it lets the next go.
#[derive(Debug)]
pub(crate) struct Place {
    lines: Lines,
    no: u64,
}

impl Lines {
    /// Takes a place, or says when to come again. A turn that comes soon is waited for: putting a message off costs a
    /// commit.
    pub(crate) async fn enter(&self, way: &Way) -> Result<Place, Duration> {
        match self.ask(way) {
            Err(turn) if turn < SOON => match self.wait(turn).await {
                true => self.ask(way),
                false => Err(turn),
            },
            asked => asked,
        }
    }

    fn ask(&self, way: &Way) -> Result<Place, Duration> {
        let no = self.places().ask(way, clock::instant())?;
        Ok(Place { lines: self.clone(), no })
    }

    /// Tells whether there was room to wait.
    async fn wait(&self, turn: Duration) -> bool {
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let others = self.0.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.0.waiting);
        if others < WAITING_MAX {
            tokio::time::sleep(turn).await;
        }
        others < WAITING_MAX
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lines.places().leave(self.no, clock::instant());
    }
}
