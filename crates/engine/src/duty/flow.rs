use std::sync::Arc;
use std::time::Duration;

use model::Name;

use super::{Duty, Look, Pass};
use crate::core::Ask;
use crate::flow::{self, News, Part};
use crate::metrics::Metrics;

/// Registers what this server has counted of the flow, and lets go of what is old.
#[derive(Debug)]
pub struct Flow {
    pub metrics: Arc<Metrics>,
    /// The server whose entries they are.
    pub server: Name,
}

impl Flow {
    /// Returns what a server has to tell.
    pub(crate) fn news(metrics: &Metrics, server: &Name) -> News {
        let counted = metrics.flows.send().into_iter();
        let part = |((span, pipeline), record)| (Part { span, pipeline, server: server.clone() }, record);
        News { parts: counted.map(part).collect(), old: Vec::new() }
    }
}

impl Duty for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Each server has its own to tell.
    fn is_for_one(&self) -> bool {
        false
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error> {
        let old = if look.doubtful { Vec::new() } else { flow::old(look.store, look.now)? };
        let news = News { old, ..Flow::news(&self.metrics, &self.server) };
        let inputs = if news.is_empty() { Vec::new() } else { vec![Ask::Flowed(Box::new(news)).into()] };
        Ok(Pass { inputs, again: false })
    }

    fn done(&mut self) {
        self.metrics.flows.sent();
    }
}
