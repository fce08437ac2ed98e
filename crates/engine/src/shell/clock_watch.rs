//! The clock as callers see it: what it says, what is known, and whether it is believed.

use model::{Refusal, Time};

use super::Engine;
use super::fleet::millis;
use crate::clock;
use crate::core::{Ask, Doubt};

/// The store's clock, and what is thought of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReport {
    pub now: Time,
    /// The latest time that is certain to have come; as `now`, unless the clock is in doubt.
    pub known: Time,
    pub doubt: Option<Doubt>,
}

impl Engine {
    #[must_use]
    pub fn clock(&self) -> ClockReport {
        ClockReport { now: self.now(), known: self.known_time(), doubt: self.hints.doubt() }
    }

    /// The latest time that is certain to have come: what ends for good ends by it.
    #[must_use]
    pub fn known_time(&self) -> Time {
        let known = self.hints.known();
        known.map_or_else(clock::wall, |(known, ago)| known.plus(millis(ago)))
    }

    /// Has the clock believed as it is, in the name of whoever asks, by every server over the store.
    pub async fn confirm_clock(&self) -> Result<ClockReport, Refusal> {
        self.ask(Ask::ConfirmClock.into()).await?;
        Ok(self.clock())
    }
}
