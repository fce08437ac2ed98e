use std::sync::Arc;
use std::time::Duration;

use super::{Duty, Look, Pass};
use crate::core::Ask;
use crate::metrics::Metrics;

/// Registers what this server has measured of service levels.
#[derive(Debug)]
pub struct Levels {
    pub metrics: Arc<Metrics>,
}

impl Duty for Levels {
    fn name(&self) -> &'static str {
        "levels"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Each server has its own to tell.
    fn is_for_one(&self) -> bool {
        false
    }

    fn pass(&mut self, _: Look<'_>) -> Result<Pass, store::Error> {
        let news = self.metrics.levels.send();
        let inputs = if news.is_empty() { Vec::new() } else { vec![Ask::Measured(Box::new(news)).into()] };
        Ok(Pass { inputs, again: false })
    }

    fn done(&mut self) {
        self.metrics.levels.sent();
    }
}
