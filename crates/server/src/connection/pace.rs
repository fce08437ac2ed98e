//! The time that a reader takes for an answer.
//!
//! Only time in which a write waits for the reader counts: an answer that is slow to be made is not the reader's fault.

use std::time::{Duration, Instant};

/// The bytes of an answer that the slowest reader must take in a second, all in all.
const BYTES_A_SECOND_MIN: u64 = 16 << 10;

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The time since when a write waits.
    blocked_since: Option<Instant>,
    /// The time that writes have waited before that.
    blocked: Duration,
    written: u64,
}

impl Pace {
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked_since.is_some()
    }

    /// A write cannot go on.
    pub(super) fn block(&mut self, now: Instant) {
        self.blocked_since.get_or_insert(now);
    }

    /// Notes bytes that were taken.
    pub(super) fn wrote(&mut self, bytes: usize, now: Instant) {
        self.written = self.written.saturating_add(bytes as u64);
        if let Some(since) = self.blocked_since.take() {
            self.blocked += now.saturating_duration_since(since);
        }
    }

    /// Returns when the write that waits has waited too long: `within` since it last went on, and in all so much more
    /// as the answer is longer. An answer without an end (`endless`) has the first bound alone.
    pub(super) fn due(&self, within: Duration, endless: bool) -> Option<Instant> {
        let since = self.blocked_since?;
        let earned = Duration::from_secs(self.written / BYTES_A_SECOND_MIN);
        let left = (within + earned).saturating_sub(self.blocked);
        Some(since + if endless { within } else { within.min(left) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(30);

    fn at(seconds: u64) -> (Instant, Instant) {
        let start = engine::clock::instant();
        (start, start + Duration::from_secs(seconds))
    }

    #[test]
    fn who_takes_nothing_is_waited_for_so_long() {
        let (start, due) = at(30);
        let mut pace = Pace::default();
        assert_eq!(pace.due(WITHIN, false), None);
        pace.block(start);
        pace.block(start + Duration::from_secs(9));
        assert_eq!((pace.due(WITHIN, false), pace.due(WITHIN, true)), (Some(due), Some(due)));
        pace.wrote(1, start + Duration::from_secs(9));
        assert_eq!(pace.due(WITHIN, false), None);
    }

    #[test]
    fn who_takes_a_byte_now_and_then_is_not_waited_for_for_ever() {
        let mut now = at(0).0;
        let (start, mut pace) = (now, Pace::default());
        let mut endless = false;
        for _ in 0..2 {
            pace.block(now);
            assert!(pace.due(WITHIN, endless).unwrap() > now);
            now += Duration::from_secs(29);
            pace.wrote(1, now);
        }
        pace.block(now);
        assert_eq!(pace.due(WITHIN, endless), Some(now), "after {:?}", now - start);
        endless = true;
        assert_eq!(pace.due(WITHIN, endless), Some(now + WITHIN), "a stream goes on");
    }

    #[test]
    fn a_long_answer_has_long() {
        let mut now = at(0).0;
        let mut pace = Pace::default();
        for _ in 0..100 {
            pace.block(now);
            now += Duration::from_secs(10);
            assert!(pace.due(WITHIN, false).unwrap() > now);
            pace.wrote(10 * (16 << 10), now);
        }
    }
}
