//! The recent measurements of one level: some whole windows of time, each in slots that are dropped as they grow old.

use std::collections::BTreeMap;

use model::measured::Measured;
use model::{Millis, Time};
use serde::{Deserialize, Serialize};

use super::Tally;

/// A span of time up to now that is looked at as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    Hour,
    Day,
    Month,
}

impl Window {
    pub const ALL: [Window; 3] = [Window::Hour, Window::Day, Window::Month];

    /// Returns the length of a slot and the number of slots in the window. The newest slot is under way, so the window
    /// is as long as all slots together, less up to one of them.
    fn slots(self) -> (i64, i64) {
        const MINUTE: i64 = 60_000;
        match self {
            Window::Hour => (5 * MINUTE, 12),
            Window::Day => (60 * MINUTE, 24),
            Window::Month => (24 * 60 * MINUTE, 30),
        }
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Window::Hour => "1h",
            Window::Day => "1d",
            Window::Month => "30d",
        }
    }

    #[must_use]
    pub fn span(self) -> Millis {
        let (length, count) = self.slots();
        Millis::new(u64::try_from(length * count).unwrap_or(0))
    }

    fn slot_of(self, at: Time) -> i64 {
        at.millis().div_euclid(self.slots().0)
    }

    /// The oldest slot that counts at a time.
    fn oldest(self, now: Time) -> i64 {
        self.slot_of(now) - self.slots().1 + 1
    }
}

type Slots = BTreeMap<i64, Tally>;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelRecord {
    #[serde(default)]
    hour: Slots,
    #[serde(default)]
    day: Slots,
    #[serde(default)]
    month: Slots,
}

impl LevelRecord {
    fn slots(&mut self, window: Window) -> &mut Slots {
        match window {
            Window::Hour => &mut self.hour,
            Window::Day => &mut self.day,
            Window::Month => &mut self.month,
        }
    }

    pub(super) fn note(&mut self, measured: &Measured) {
        for window in Window::ALL {
            let slot = window.slot_of(measured.at);
            self.slots(window).entry(slot).or_default().note(measured);
        }
        self.drop_old(measured.at);
    }

    /// Adds what was measured besides.
    pub fn add(&mut self, other: &LevelRecord) {
        for (window, theirs) in Window::ALL.into_iter().zip([&other.hour, &other.day, &other.month]) {
            let mine = self.slots(window);
            theirs.iter().for_each(|(slot, tally)| mine.entry(*slot).or_default().add(tally));
        }
    }

    /// Lets go of what is in no window any more: so it stays small however long it is kept.
    pub fn drop_old(&mut self, now: Time) {
        for window in Window::ALL {
            let oldest = window.oldest(now);
            self.slots(window).retain(|slot, _| *slot >= oldest);
        }
    }

    /// Returns the measurements of a window at a time.
    #[must_use]
    pub fn read(&self, window: Window, now: Time) -> Tally {
        let slots = match window {
            Window::Hour => &self.hour,
            Window::Day => &self.day,
            Window::Month => &self.month,
        };
        let mut sum = Tally::default();
        slots.range(window.oldest(now)..).for_each(|(_, tally)| sum.add(tally));
        sum
    }
}

#[cfg(test)]
mod tests {
    use model::measured::Level;

    use super::*;

    fn at(minutes: i64) -> Time {
        Time::from_millis(1_800_000_000_000 + minutes * 60_000)
    }

    fn took(minutes: i64) -> Measured {
        let level = Level::State("A".into());
        Measured { level, at: at(minutes), took: Millis::new(7), target: Some(true), p95: None }
    }

    fn counts(record: &LevelRecord, minutes: i64) -> [u64; 3] {
        Window::ALL.map(|window| record.read(window, at(minutes)).count())
    }

    #[test]
    fn a_window_moves_on() {
        let mut record = LevelRecord::default();
        record.note(&took(0));
        assert_eq!(counts(&record, 0), [1, 1, 1]);
        assert_eq!(counts(&record, 54), [1, 1, 1]);
        assert_eq!(counts(&record, 60), [0, 1, 1], "an hour is over");
        assert_eq!(counts(&record, 24 * 60), [0, 0, 1], "a day is over");
        assert_eq!(counts(&record, 31 * 24 * 60), [0, 0, 0]);
        record.note(&took(61));
        assert_eq!(counts(&record, 61), [1, 2, 2]);
    }

    #[test]
    fn two_records_are_one_and_none_grows_without_end() {
        let mut one = LevelRecord::default();
        (0..100_000).for_each(|minutes| one.note(&took(minutes)));
        let text = serde_json::to_string(&one).unwrap();
        assert!(text.len() < 5_000, "{} bytes", text.len());
        let mut two: LevelRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(two, one);
        two.add(&one);
        let now = 99_999;
        assert_eq!(counts(&two, now), counts(&one, now).map(|count| 2 * count));
        two.drop_old(at(now + 60 * 24 * 60));
        assert_eq!(two, LevelRecord::default());
    }
}
