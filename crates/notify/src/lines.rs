//! One line for each place messages go to, so that a slow one holds up only its own.
//!
//! A few at a time may be under way to one place; what comes on top is put off until its turn would come. When that is
//! follows from how long the place takes: a quick one is asked again at once, one that hangs is given few connections
//! and its messages long waits, however many there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::clock;

/// Under way at a time to a place that answers.
const PLACES: u32 = 8;
/// And to one that takes long.
const PLACES_SLOW: u32 = 2;
const SLOW: Duration = Duration::from_secs(2);
/// What a place is thought to take before it is known.
const USUAL: Duration = Duration::from_millis(100);
/// A turn within this is waited for.
const SOON: Duration = Duration::from_millis(500);
const TURN_MIN: Duration = Duration::from_millis(50);
const TURN_MAX: Duration = Duration::from_secs(5 * 60);

#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<HashMap<String, Line>>>);

#[derive(Debug, Clone)]
struct Line {
    under_way: u32,
    /// How long it takes, by what it took lately.
    usual: Duration,
    /// When the last of those put off has its turn.
    booked: Instant,
}

impl Line {
    fn places(&self) -> u32 {
        if self.usual > SLOW { PLACES_SLOW } else { PLACES }
    }
}

/// A place in a line; leaving it lets the next go.
#[derive(Debug)]
pub(crate) struct Place {
    lines: Lines,
    host: String,
    since: Instant,
}

impl Lines {
    /// Takes a place, or says when to come again. A turn that comes soon is waited for: putting a message off costs a
    /// commit.
    pub(crate) async fn enter(&self, host: &str) -> Result<Place, Duration> {
        match self.enter_at(host, clock::instant()) {
            Err(turn) if turn < SOON => {
                tokio::time::sleep(turn).await;
                self.enter_at(host, clock::instant())
            }
            entered => entered,
        }
    }

    fn enter_at(&self, host: &str, now: Instant) -> Result<Place, Duration> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line =
            lines.entry(host.to_owned()).or_insert_with(|| Line { under_way: 0, usual: USUAL, booked: now });
        if line.under_way < line.places() {
            line.under_way += 1;
            return Ok(Place { lines: self.clone(), host: host.to_owned(), since: now });
        }
        let booked = line.booked.max(now) + line.usual / line.places();
        line.booked = booked.min(now + TURN_MAX);
        Err((line.booked - now).max(TURN_MIN))
    }

    fn leave(&self, place: &Place, now: Instant) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(line) = lines.get_mut(&place.host) else { return };
        line.under_way -= 1;
        line.usual = (line.usual + now.saturating_duration_since(place.since)) / 2;
        // Lines of places nobody goes to any more are forgotten, or any address ever used would be kept.
        lines.retain(|_, line| line.under_way > 0 || line.booked + TURN_MAX > now);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lines.leave(self, clock::instant());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_line_says_when_to_come_again_and_others_are_not_in_it() {
        let (lines, now) = (Lines::default(), clock::instant());
        let places: Vec<_> = (0..PLACES).map(|_| lines.enter_at("slow", now).unwrap()).collect();
        let waits: Vec<_> = (0..100).map(|_| lines.enter_at("slow", now).unwrap_err()).collect();
        assert!(waits.is_sorted() && waits[0] < waits[99], "{waits:?}");
        assert!(lines.enter_at("other", now).is_ok());
        drop(places);
        assert!(lines.enter_at("slow", now).is_ok());
    }

    #[test]
    fn a_place_that_hangs_gets_fewer_connections_and_long_waits() {
        let (lines, now) = (Lines::default(), clock::instant());
        let hung = lines.enter_at("hangs", now).unwrap();
        lines.leave(&hung, now + Duration::from_secs(12));
        std::mem::forget(hung);
        let later = now + Duration::from_secs(12);
        let places: Vec<_> = (0..PLACES_SLOW).map(|_| lines.enter_at("hangs", later).unwrap()).collect();
        assert!(lines.enter_at("hangs", later).unwrap_err() > Duration::from_secs(1));
        let last = (0..10_000).map(|_| lines.enter_at("hangs", later).unwrap_err()).max().unwrap();
        assert_eq!(last, TURN_MAX);
        std::mem::forget(places);
    }

    #[test]
    fn lines_of_places_that_are_no_more_are_forgotten() {
        let (lines, now) = (Lines::default(), clock::instant());
        for host in 0..100 {
            let place = lines.enter_at(&host.to_string(), now).unwrap();
            lines.leave(&place, now + Duration::from_millis(1));
            std::mem::forget(place);
        }
        let place = lines.enter_at("last", now).unwrap();
        lines.leave(&place, now + TURN_MAX * 2);
        std::mem::forget(place);
        assert!(lines.0.lock().unwrap().len() <= 1);
    }
}
