//! Work aside: whatever takes longer than a thread that answers others may spend, done by a few threads of its own.
//!
//! Everybody has turns of their own, so that whoever has much to do waits for itself and delays another by one piece of
//! work at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use model::{Code, Name, Refusal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Engine;

/// One caller may have so many pieces of work waiting or under way.
const WAITING_MAX: usize = 128;

#[derive(Debug)]
pub(super) struct Aside {
    places: Arc<Semaphore>,
    /// The places one caller can have at a time: never all, where there are several.
    places_each: usize,
    callers: Mutex<HashMap<Name, Turns>>,
}

#[derive(Debug)]
struct Turns {
    places: Arc<Semaphore>,
    /// Pieces of work that wait or are under way.
    count: usize,
}

/// One piece of work of a caller, from when it is asked for until it has ended.
struct Turn {
    aside: Arc<Aside>,
    caller: Name,
    places: Arc<Semaphore>,
}

impl Default for Aside {
    fn default() -> Self {
        let places = (available_parallelism().map_or(1, usize::from) / 2).max(1);
        Aside {
            places: Arc::new(Semaphore::new(places)),
            places_each: (places - 1).max(1),
            callers: Mutex::default(),
        }
    }
}

impl Aside {
    fn turn(self: &Arc<Self>, caller: &Name) -> Result<Turn, Refusal> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let turns = callers
            .entry(caller.clone())
            .or_insert_with(|| Turns { places: Arc::new(Semaphore::new(self.places_each)), count: 0 });
        if turns.count >= WAITING_MAX {
            let message =
                "too much of yours waits to be checked; send large or complex documents one at a time";
            return Err(Refusal::new(Code::Overloaded, message));
        }
        turns.count += 1;
        Ok(Turn { aside: self.clone(), caller: caller.clone(), places: turns.places.clone() })
    }
}

impl Turn {
    async fn begin(&self) -> Result<[OwnedSemaphorePermit; 2], Refusal> {
        let own = self.places.clone().acquire_owned().await;
        let place = self.aside.places.clone().acquire_owned().await;
        match (own, place) {
            (Ok(own), Ok(place)) => Ok([own, place]),
            _ => Err(not_done()),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut callers = self.aside.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = callers.get_mut(&self.caller) {
            turns.count -= 1;
            if turns.count == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

impl Engine {
    /// Does work that takes long where nobody waits for it but its caller, in the caller's turn. Work that has begun
    /// goes on when its caller has turned away, and keeps its place until it ends.
    pub async fn aside<T: Send + 'static>(
        &self,
        caller: &Name,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = self.aside.turn(caller)?;
        let places = turn.begin().await?;
        let done = tokio::task::spawn_blocking(move || {
            let _held = (places, turn);
            work()
        });
        done.await.map_err(|_| not_done())
    }
}

fn not_done() -> Refusal {
    Refusal::new(Code::Internal, "the work did not end as it should; nothing was changed")
}
