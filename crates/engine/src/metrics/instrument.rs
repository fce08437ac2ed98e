//! The plain instruments. Written by few, read by whoever asks; no order between them is promised.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub fn add(&self, change: i64) {
        self.0.fetch_add(change, Relaxed);
    }

    pub fn set(&self, value: i64) {
        self.0.store(value, Relaxed);
    }

    #[must_use]
    pub fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One for each bound, and one for what is above them all.
    counts: Box<[AtomicU64]>,
    /// The bits of a float: there is no atomic one.
    sum: AtomicU64,
}

/// A histogram as it was at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Upper bounds, and how many values fell below each but not below the one before. The last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
    pub sum: f64,
}

impl Reading {
    /// Returns a reading of nothing yet.
    #[must_use]
    pub fn none() -> Self {
        Reading { buckets: Vec::new(), sum: 0.0 }
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// Both together. They must have the same bounds, or none yet.
    pub fn add(&mut self, other: &Reading) {
        if self.buckets.is_empty() {
            self.buckets.clone_from(&other.buckets);
        } else {
            self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, theirs)| mine.1 += theirs.1);
        }
        self.sum += other.sum;
    }

    /// The same in a unit that is so much smaller.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        self.buckets.iter_mut().for_each(|(bound, _)| *bound *= factor);
        self.sum *= factor;
        self
    }
}

impl Histogram {
    /// The bounds must go up.
    #[must_use]
    pub fn new(bounds: &'static [f64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, counts, sum: AtomicU64::new(0) }
    }

    pub fn observe(&self, value: f64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket].fetch_add(1, Relaxed);
        let add = |sum: u64| Some((f64::from_bits(sum) + value).to_bits());
        // The function always gives a value, so this cannot fail.
        let _ = self.sum.fetch_update(Relaxed, Relaxed, add);
    }

    #[must_use]
    pub fn read(&self) -> Reading {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let counts = self.counts.iter().map(|count| count.load(Relaxed));
        Reading { buckets: bounds.zip(counts).collect(), sum: f64::from_bits(self.sum.load(Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_a_bound_is_below_it() {
        let histogram = Histogram::new(&[1.0, 2.0]);
        [0.5, 1.0, 1.5, 2.0, 9.0].into_iter().for_each(|value| histogram.observe(value));
        let mut reading = histogram.read();
        assert_eq!(reading.buckets, [(1.0, 2), (2.0, 2), (f64::INFINITY, 1)]);
        assert_eq!((reading.sum, reading.count()), (14.0, 5));
        reading.add(&histogram.read());
        assert_eq!((reading.sum, reading.count()), (28.0, 10));
        let reading = reading.scaled(1_000.0);
        assert_eq!((reading.sum, reading.buckets[0]), (28_000.0, (1_000.0, 4)));
        let mut none = Reading::none();
        none.add(&reading);
        assert_eq!(none, reading);
    }
}
