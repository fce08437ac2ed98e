//! Measurements of moves: how long something took that a service level is declared for.

use crate::Name;
use crate::event::{Change, Event};
use crate::pipeline::{Pipeline, Sla};
use crate::submission::SlaClock;
use crate::time::{Millis, Time};

/// The subject of a service level.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The stay in a state.
    State(Name),
    /// A leg of the way.
    Leg(Name),
}

impl Level {
    #[must_use]
    pub fn name(&self) -> &Name {
        match self {
            Level::State(name) | Level::Leg(name) => name,
        }
    }

    /// `state` or `leg`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Level::State(_) => "state",
            Level::Leg(_) => "leg",
        }
    }
}

/// One stay or leg that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    pub level: Level,
    pub at: Time,
    pub took: Millis,
    /// Tells whether the time taken is within the `target`, where one is declared.
    pub target: Option<bool>,
    /// Tells whether the time taken is within `p95`, where it is declared.
    pub p95: Option<bool>,
}

/// Returns what events that follow each other measure, given the clocks that ran before the first of them.
#[must_use]
pub fn measured(pipeline: &Pipeline, running: &[SlaClock], events: &[Event]) -> Vec<Measured> {
    let mut running = running;
    let mut measured = Vec::new();
    for event in events {
        let entry = match &event.detail.change {
            Change::Submitted(submitted) => &submitted.entry,
            Change::Migrated(migrated) => &migrated.entry,
            Change::Moved(moved) => {
                measured.extend(running.iter().filter_map(|clock| ended(pipeline, clock, event)));
                &moved.entry
            }
            _ => continue,
        };
        running = &entry.clocks;
    }
    measured
}

/// Reads a clock, if the move is what the clock waited for: any move out of its state, or the one that ends its leg.
fn ended(pipeline: &Pipeline, clock: &SlaClock, moved: &Event) -> Option<Measured> {
    let (from, to, at) = (moved.leaf.from.as_ref()?, &moved.leaf.to, moved.leaf.at);
    let (level, sla) = match &clock.leg {
        None => (Level::State(from.clone()), pipeline.state(from)?.sla.as_ref()?),
        Some(name) => {
            let leg = pipeline.slas.get(name).filter(|leg| leg.to.contains(to))?;
            (Level::Leg(name.clone()), &leg.sla)
        }
    };
    let since = clock.since?;
    let within = |span| at <= pipeline.due(sla, span, since);
    let Sla { target, p95, .. } = sla;
    Some(Measured { level, at, took: at.since(since), target: target.map(within), p95: p95.map(within) })
}
