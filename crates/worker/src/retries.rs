//! The number of further tries of a call, and the pauses between them.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The rule of a client. Only what is safe to repeat is repeated: reads, settlements, and calls with an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Tries after the first.
    pub times: u32,
    /// The first pause; every further one is twice as long.
    pub pause: Duration,
    pub pause_max: Duration,
}

impl Default for Retries {
    /// Gives up within a second: long enough for a restart, short enough for somebody who waits.
    fn default() -> Self {
        Retries { times: 3, pause: Duration::from_millis(100), pause_max: Duration::from_secs(5) }
    }
}

impl Retries {
    /// Returns the pause before another try, after `failed` failed ones: between half and all of it, so that many clients
    /// that failed together do not come back together.
    #[must_use]
    pub fn pause_after(&self, failed: u32) -> Duration {
        let grown =
            self.pause.saturating_mul(1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX));
        let whole = grown.min(self.pause_max);
        whole / 2 + (whole / 2).mul_f64(chance())
    }
}

/// Returns a number from 0 to 1. Good enough to spread clients, for nothing else.
fn chance() -> f64 {
    let bits = RandomState::new().hash_one(());
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_maximum_and_differ() {
        let retries = Retries::default();
        for failed in 1..40 {
            let pause = retries.pause_after(failed);
            let whole = retries.pause.saturating_mul(2_u32.saturating_pow(failed - 1)).min(retries.pause_max);
            assert!(pause >= whole / 2 && pause <= whole, "{failed}: {pause:?}");
        }
        let first = retries.pause_after(9);
        assert!((0..50).any(|_| retries.pause_after(9) != first));
    }
}
