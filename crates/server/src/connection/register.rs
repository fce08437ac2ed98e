//! The register of connections, shared by the listener and all of them.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use engine::clock;
use futures_util::task::AtomicWaker;

use super::seats::Seats;
use crate::rates::caller;

/// Progress is noted this often at most: each note is a moment of everybody's register.
const NOTED_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub(crate) struct Register {
    seats: Arc<Mutex<Seats<Arc<Displaced>>>>,
}

/// The sign for a connection that it has to go.
#[derive(Debug, Default)]
struct Displaced {
    is: AtomicBool,
    waker: AtomicWaker,
}

impl Displaced {
    fn tell(&self) {
        self.is.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// One connection's seat; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    register: Register,
    number: u64,
    displaced: Arc<Displaced>,
    noted: Noted,
}

#[derive(Debug)]
struct Noted {
    at: Instant,
    moves: u64,
    working: bool,
}

impl Register {
    pub(crate) fn new(max: usize, per_address_max: usize) -> Self {
        Register { seats: Arc::new(Mutex::new(Seats::new(max, per_address_max))) }
    }

    /// Takes a seat, another's if need be; `None`: there is none.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<Seat> {
        let displaced = Arc::<Displaced>::default();
        let entry = self.seats().enter(caller(address), displaced.clone())?;
        if let Some(displaced) = entry.displaced {
            displaced.tell();
        }
        let noted = Noted { at: clock::instant(), moves: 0, working: false };
        Some(Seat { register: self.clone(), number: entry.number, displaced, noted })
    }

    /// Has one connection closed, because the system has no room for another.
    pub(crate) fn make_room(&self) {
        let displaced = self.seats().displace();
        if let Some(displaced) = displaced {
            displaced.tell();
        }
    }

    fn seats(&self) -> MutexGuard<'_, Seats<Arc<Displaced>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Notes what the connection does: `moves` grows with its progress.
    pub(super) fn note(&mut self, working: bool, moves: u64, now: Instant) {
        let moved = moves != self.noted.moves && now.saturating_duration_since(self.noted.at) >= NOTED_EVERY;
        if moved || working != self.noted.working {
            self.register.seats().touch(self.number, working);
            self.noted = Noted { at: now, moves, working };
        }
    }

    /// Ends when another has got this seat.
    pub(super) fn poll_displaced(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.displaced.waker.register(cx.waker());
        if self.displaced.is.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(super) async fn displaced(&self) {
        std::future::poll_fn(|cx| self.poll_displaced(cx)).await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.register.seats().leave(self.number);
    }
}
