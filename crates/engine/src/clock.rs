//! The one place that reads the machine's clock and chance.
#![allow(
    clippy::disallowed_methods,
    reason = "this is where time and chance come from; everyone else is handed them"
)]

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use model::{SubmissionId, Time};
use rand::Rng;

/// Wall time carried by the monotonic clock.
///
/// The time starts at the wall clock and then counts what really passes, so a step of the wall clock (someone sets it,
/// a virtual machine wakes) neither expires leases nor stalls timers. A step that persists is followed: forwards at
/// once, backwards by going at half speed until the wall clock has caught up.
#[derive(Debug)]
pub struct SystemClock {
    state: Mutex<Carried>,
}

#[derive(Debug)]
struct Carried {
    /// The carried time at `at`.
    time_ms: i64,
    at: Instant,
    /// Since when the wall clock has disagreed by more than `STEP`.
    disagrees_since: Option<Instant>,
}

/// Less than this between our time and the wall's is drift, and followed without ado.
const STEP: Duration = Duration::from_secs(2);
/// The time a step must stand before it is believed.
const PERSISTS: Duration = Duration::from_secs(30);

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock::new()
    }
}

impl SystemClock {
    #[must_use]
    pub fn new() -> Self {
        let time_ms = wall_ms();
        let carried = Carried { time_ms, at: Instant::now(), disagrees_since: None };
        SystemClock { state: Mutex::new(carried) }
    }
}

impl store::Clock for SystemClock {
    fn now(&self) -> Time {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Time::from_millis(state.now(wall_ms(), Instant::now()))
    }
}

impl Carried {
    fn now(&mut self, wall_ms: i64, instant: Instant) -> i64 {
        let passed =
            i64::try_from(instant.saturating_duration_since(self.at).as_millis()).unwrap_or(i64::MAX);
        let carried = self.time_ms.saturating_add(passed);
        let apart = Duration::from_millis(carried.abs_diff(wall_ms));
        let believed = if apart < STEP {
            self.disagrees_since = None;
            true
        } else {
            let since = *self.disagrees_since.get_or_insert(instant);
            instant.saturating_duration_since(since) >= PERSISTS
        };
        let now = match believed {
            true if wall_ms >= carried => wall_ms,
            // The wall is behind: ours runs at half speed until they meet. It never goes back, for what was "now" in
            // one commit is not in the future of the next, and it never stands still, for leases must end.
            true => self.time_ms.saturating_add(passed / 2),
            false => carried,
        };
        if now > self.time_ms {
            self.time_ms = now;
            self.at = instant;
        }
        now
    }
}

fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Fresh randomness from the operating system's generator.
#[must_use]
pub fn entropy<const N: usize>() -> [u8; N] {
    let mut seed = [0; N];
    rand::rng().fill_bytes(&mut seed);
    seed
}

/// Returns the time of the wall clock, for people who look; nothing is decided by it.
#[must_use]
pub fn wall() -> Time {
    Time::from_millis(wall_ms())
}

/// A fresh UUIDv7.
#[must_use]
pub fn fresh_id() -> SubmissionId {
    fresh_id_at(wall())
}

/// A fresh UUIDv7 of this time.
#[must_use]
pub fn fresh_id_at(time: Time) -> SubmissionId {
    SubmissionId::new(time, entropy())
}

/// The machine's monotonic clock, for pauses and time-outs that are nobody's history.
#[must_use]
pub fn instant() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(at: Instant) -> Carried {
        Carried { time_ms: 1_000_000, at, disagrees_since: None }
    }

    #[test]
    fn a_passing_step_of_the_wall_clock_is_not_followed() {
        let start = Instant::now();
        let mut clock = carried(start);
        let second = Duration::from_secs(1);
        assert_eq!(clock.now(1_000_000 + 3_600_000, start + second), 1_001_000);
        assert_eq!(clock.now(1_002_000, start + 2 * second), 1_002_000);
    }

    #[test]
    fn a_step_that_persists_is_followed_forwards() {
        let start = Instant::now();
        let mut clock = carried(start);
        assert_eq!(clock.now(9_000_000, start), 1_000_000);
        assert_eq!(clock.now(9_030_000, start + PERSISTS), 9_030_000);
    }

    #[test]
    fn a_step_back_slows_time_and_neither_stops_nor_turns_it() {
        let start = Instant::now();
        let mut clock = carried(start);
        let mut last = 1_000_000;
        for second in 1..=3_600 {
            let now = clock.now(500_000 + second * 1_000, start + Duration::from_secs(second.unsigned_abs()));
            assert!(now >= last, "never back");
            last = now;
        }
        let (half, whole) = (1_000_000 + 1_800_000, 1_000_000 + 3_600_000);
        assert!(last >= half && last < whole, "an hour passed, more than half of it here: {last}");
    }
}
