//! One connection's requests and answers, as they follow each other.

use std::time::{Duration, Instant};

use super::pace::Pace;

/// The times that a caller has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// From connecting, or from the last answer, to the end of the next head.
    pub(super) head: Duration,
    /// The time for a write to go on.
    pub(super) write: Duration,
}

/// The state of a connection. A request is under way from the end of its head until its answer was sent.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The time since when a head is waited for.
    waiting_since: Instant,
    under_way: bool,
    /// The request has been handed on whole.
    received: bool,
    /// The handler has ended.
    answered: bool,
    /// The answer has no end: a stream of events.
    endless: bool,
    /// All of the answer was handed over, to be written.
    given: bool,
    pace: Pace,
    /// Counts what was read and written: more of it is progress.
    moves: u64,
}

impl Exchange {
    pub(super) fn new(now: Instant) -> Self {
        Exchange {
            waiting_since: now,
            under_way: false,
            received: false,
            answered: false,
            endless: false,
            given: false,
            pace: Pace::default(),
            moves: 0,
        }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// Tells whether somebody else does something for this caller now: a handler, or a long poll.
    pub(super) fn is_working(&self) -> bool {
        self.under_way && self.received && !self.answered
    }

    /// Tells whether something is to be written that the caller does not take.
    pub(super) fn is_blocked(&self) -> bool {
        self.pace.is_blocked()
    }

    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// A head was good and is handed on.
    pub(super) fn begin(&mut self) {
        *self = Exchange { under_way: true, moves: self.moves, ..Exchange::new(self.waiting_since) };
    }

    pub(super) fn read(&mut self) {
        self.moves += 1;
    }

    /// The request's last byte was handed on.
    pub(super) fn received(&mut self) {
        self.received = true;
    }

    /// The handler has given an answer, which is still to be sent.
    pub(super) fn answered(&mut self, endless: bool) {
        self.answered = true;
        self.endless = endless;
    }

    /// The answer's last byte was given to be written.
    pub(super) fn given(&mut self) {
        self.given = true;
    }

    pub(super) fn block(&mut self, now: Instant) {
        self.pace.block(now);
    }

    pub(super) fn wrote(&mut self, bytes: usize, now: Instant) {
        self.moves += 1;
        self.pace.wrote(bytes, now);
    }

    /// Notes that nothing is left to be written. Returns true if that ends the exchange: the next may begin.
    pub(super) fn flushed(&mut self, now: Instant) -> bool {
        self.pace.wrote(0, now);
        let ends = self.under_way && self.received && self.answered && self.given;
        if ends {
            self.under_way = false;
            self.waiting_since = now;
        }
        ends
    }

    /// Returns the time until which the caller must have done its part, if it is the caller's turn. The time for a body
    /// is its reader's to keep.
    pub(super) fn due(&self, times: &Times) -> Option<Instant> {
        let head = (!self.under_way).then(|| self.waiting_since + times.head);
        let write = self.pace.due(times.write, self.under_way && self.endless);
        [head, write].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times { head: Duration::from_secs(100), write: Duration::from_secs(30) };

    #[test]
    fn each_part_of_an_exchange_has_its_time() {
        let start = engine::clock::instant();
        let later = |seconds| start + Duration::from_secs(seconds);
        let mut exchange = Exchange::new(start);
        assert_eq!(exchange.due(&TIMES), Some(later(100)));
        exchange.begin();
        assert_eq!((exchange.due(&TIMES), exchange.is_working()), (None, false), "its body is awaited");
        exchange.received();
        assert_eq!((exchange.due(&TIMES), exchange.is_working()), (None, true));
        assert!(!exchange.flushed(later(40)), "an interim answer ends nothing");
        exchange.answered(false);
        assert!(!exchange.is_working());
        exchange.block(later(50));
        assert_eq!(exchange.due(&TIMES), Some(later(80)));
        exchange.wrote(10, later(60));
        exchange.given();
        assert!(exchange.is_under_way() && exchange.flushed(later(61)) && !exchange.is_under_way());
        assert_eq!(exchange.due(&TIMES), Some(later(161)));
        exchange.begin();
        exchange.answered(true);
        exchange.given();
        assert!(!exchange.flushed(later(70)), "a body that nobody reads is in the way of the next request");
    }
}
