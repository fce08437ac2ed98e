//! Durations in few numbers: counts in buckets that grow with what they hold.

use std::collections::BTreeMap;

use model::Millis;
use model::measured::Measured;
use serde::{Deserialize, Serialize};

/// Buckets of each doubling: a figure is off by an eighth at most.
const PARTS: u64 = 8;
/// The last bucket: years.
const LAST: u16 = 8 * 36;

/// The measurements of one level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The number of measurements in each bucket.
    #[serde(rename = "b", default)]
    buckets: BTreeMap<u16, u64>,
    #[serde(rename = "t", default, skip_serializing_if = "Kept::is_none")]
    pub target: Kept,
    #[serde(rename = "p", default, skip_serializing_if = "Kept::is_none")]
    pub p95: Kept,
}

/// The number that kept to a bound, of those that had one declared when they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    #[serde(rename = "w")]
    pub within: u64,
    #[serde(rename = "n")]
    pub of: u64,
}

impl Kept {
    fn is_none(&self) -> bool {
        self.of == 0
    }

    fn note(&mut self, within: Option<bool>) {
        self.of += u64::from(within.is_some());
        self.within += u64::from(within == Some(true));
    }

    fn add(&mut self, other: Kept) {
        self.within += other.within;
        self.of += other.of;
    }

    /// The share that kept to it; `None` of nothing.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.within as f64 / self.of as f64)
    }

    /// Tells whether at least `percent` of a hundred kept to the bound; `None` if nothing was counted.
    #[must_use]
    pub fn is_met(self, percent: u64) -> Option<bool> {
        (self.of > 0).then(|| self.within.saturating_mul(100) >= self.of.saturating_mul(percent))
    }
}

impl Tally {
    /// Notes a duration that nothing is declared for.
    pub(crate) fn note_span(&mut self, took: Millis) {
        *self.buckets.entry(bucket(took.millis())).or_default() += 1;
    }

    pub(super) fn note(&mut self, measured: &Measured) {
        self.note_span(measured.took);
        self.target.note(measured.target);
        self.p95.note(measured.p95);
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
        self.target.add(other.target);
        self.p95.add(other.p95);
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.values().sum()
    }

    /// The 50th, 95th and 99th percentile, about; `None` of nothing.
    #[must_use]
    pub fn percentiles(&self) -> Option<[Millis; 3]> {
        Some([self.percentile(50)?, self.percentile(95)?, self.percentile(99)?])
    }

    /// The time that so many of a hundred stayed below, about; `None` of nothing.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<Millis> {
        let count = self.count();
        // The place of the one that is looked for, counting from 1.
        let place = count.saturating_mul(percent).div_ceil(100).max(1);
        let mut below = 0;
        for (bucket, count) in &self.buckets {
            if below + count >= place {
                let (least, width) = (least(*bucket), least(*bucket + 1) - least(*bucket));
                // As if those in the bucket were spread evenly.
                let share = (place - below) as f64 / (*count as f64 + 1.0);
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "within the bucket"
                )]
                return Some(Millis::new(least + ((width as f64 * share) as u64)));
            }
            below += count;
        }
        None
    }
}

/// The bucket of a number of milliseconds: exact below eight, an eighth of a doubling each from there on.
fn bucket(millis: u64) -> u16 {
    if millis < PARTS {
        return u16::try_from(millis).unwrap_or(LAST);
    }
    let doublings = u64::from(millis.ilog2());
    let part = (millis >> (doublings - 3)) % PARTS;
    u16::try_from((doublings - 2) * PARTS + part).unwrap_or(LAST).min(LAST)
}

/// The least number of milliseconds that is in a bucket.
fn least(bucket: u16) -> u64 {
    let bucket = u64::from(bucket.min(LAST + 1));
    if bucket < PARTS {
        return bucket;
    }
    (PARTS + bucket % PARTS) << (bucket / PARTS - 1)
}

#[cfg(test)]
mod tests {
    use model::Time;
    use model::measured::Level;

    use super::*;

    fn took(millis: u64, within: bool) -> Measured {
        let level = Level::State("A".into());
        let within = Some(within);
        Measured { level, at: Time::EPOCH, took: Millis::new(millis), target: within, p95: None }
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for at in 0..LAST {
            assert!(least(at) < least(at + 1), "{at}");
            assert_eq!((bucket(least(at)), bucket(least(at + 1) - 1)), (at, at));
        }
        assert_eq!(bucket(u64::MAX), LAST, "more than years is not told apart");
    }

    #[test]
    fn percentiles_are_off_by_an_eighth_at_most() {
        let mut tally = Tally::default();
        assert_eq!((tally.percentile(95), tally.target.share(), tally.target.is_met(50)), (None, None, None));
        (1..=10_000).for_each(|millis| tally.note(&took(millis, millis <= 5_000)));
        for (percent, exact) in [(1, 100.0), (50, 5_000.0), (95, 9_500.0), (100, 10_000.0)] {
            let figure = tally.percentile(percent).unwrap().millis() as f64;
            assert!((figure / exact - 1.0).abs() < 0.125, "{percent}: {figure}, not {exact}");
        }
        assert_eq!(tally.target.share(), Some(0.5));
        assert_eq!((tally.target.is_met(50), tally.target.is_met(51)), (Some(true), Some(false)));
        assert_eq!(tally.p95.is_met(95), None, "none is declared");
        let mut both = tally.clone();
        both.add(&tally);
        assert_eq!((both.count(), both.percentile(50)), (20_000, tally.percentile(50)));
    }

    #[test]
    fn few_are_told_as_they_are() {
        let mut tally = Tally::default();
        tally.note(&took(3, true));
        assert_eq!(tally.percentile(50), Some(Millis::new(3)));
        tally.note(&took(100_000, true));
        assert_eq!(tally.percentile(50), Some(Millis::new(3)), "half are below it");
        assert!(tally.percentile(95).unwrap().millis() > 87_500);
    }

    #[test]
    fn a_tally_is_kept_in_few_letters() {
        let mut tally = Tally::default();
        tally.note(&took(3, true));
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(text, r#"{"b":{"3":1},"t":{"w":1,"n":1}}"#);
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }
}
