//! The spread of measured times.

use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub(crate) struct Spread {
    times: Vec<Duration>,
}

impl Spread {
    pub(crate) fn add(&mut self, time: Duration) {
        self.times.push(time);
    }

    pub(crate) fn append(&mut self, mut other: Spread) {
        self.times.append(&mut other.times);
    }

    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// The time that this share of all was within; zero where nothing was measured.
    #[must_use]
    pub(crate) fn at(&self, share: f64) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        let place = (share * times.len() as f64).ceil() as usize;
        times.get(place.saturating_sub(1)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let mut spread = Spread::default();
        assert_eq!(spread.at(0.5), Duration::ZERO);
        (1..=100).rev().for_each(|millis| spread.add(Duration::from_millis(millis)));
        assert_eq!(spread.at(0.5), Duration::from_millis(50));
        assert_eq!(spread.at(0.99), Duration::from_millis(99));
        assert_eq!(spread.at(1.0), Duration::from_millis(100));
    }
}
