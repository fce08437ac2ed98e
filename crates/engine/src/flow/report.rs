//! The flow of all servers, added up.

use std::collections::BTreeMap;

use model::{Millis, Name, Time};

use super::record::{FlowRecord, MINUTES, minute_of, span_of};
use crate::levels::Tally;

/// The minutes that are reported: three hours, the one under way included.
const REPORTED: i64 = 180;

/// The moves along one edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub pipeline: Name,
    /// `None`: it was submitted.
    pub from: Option<Name>,
    pub to: Name,
    /// The oldest minute first; the last is under way.
    pub minutes: Vec<u64>,
}

/// The stays in a state that ended lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dwell {
    pub pipeline: Name,
    pub state: Name,
    pub measured: u64,
    /// The 50th, 95th and 99th percentile.
    pub percentiles: [Millis; 3],
}

type EdgeKey = (Name, Option<Name>, Name);

/// Moves and stays of the last hours.
#[derive(Debug, Clone)]
pub struct FlowReport {
    /// The minute under way.
    minute: i64,
    edges: BTreeMap<EdgeKey, BTreeMap<i64, u64>>,
    stays: BTreeMap<(Name, Name), Tally>,
}

impl FlowReport {
    pub(super) fn until(now: Time) -> FlowReport {
        FlowReport { minute: minute_of(now), edges: BTreeMap::new(), stays: BTreeMap::new() }
    }

    fn first_minute(&self) -> i64 {
        self.minute - REPORTED + 1
    }

    pub(super) fn first_span(&self) -> i64 {
        span_of(self.first_minute())
    }

    pub(super) fn add(&mut self, span: i64, pipeline: &Name, record: &FlowRecord) {
        if (span + 1) * MINUTES <= self.first_minute() {
            return;
        }
        for (from, to, minutes) in record.moves() {
            let key = (pipeline.clone(), from.map(Name::from), to.into());
            let mine = self.edges.entry(key).or_default();
            minutes.iter().for_each(|(minute, count)| *mine.entry(*minute).or_default() += count);
        }
        for (state, tally) in record.stays() {
            self.stays.entry((pipeline.clone(), state.clone())).or_default().add(tally);
        }
    }

    /// Returns the beginning of the first minute that is reported.
    #[must_use]
    pub fn since(&self) -> Time {
        Time::from_millis(self.first_minute() * 60_000)
    }

    /// Returns every edge that was taken.
    #[must_use]
    pub fn edges(&self) -> Vec<Edge> {
        let minutes = self.first_minute()..=self.minute;
        let edge = |((pipeline, from, to), counts): (&EdgeKey, &BTreeMap<i64, u64>)| Edge {
            pipeline: pipeline.clone(),
            from: from.clone(),
            to: to.clone(),
            minutes: minutes.clone().map(|minute| counts.get(&minute).copied().unwrap_or(0)).collect(),
        };
        self.edges.iter().map(edge).filter(|edge| edge.minutes.iter().any(|count| *count > 0)).collect()
    }

    /// Returns how long stays took, of every state that was left.
    #[must_use]
    pub fn dwells(&self) -> Vec<Dwell> {
        let dwell = |((pipeline, state), tally): (&(Name, Name), &Tally)| {
            let (pipeline, state) = (pipeline.clone(), state.clone());
            Some(Dwell { pipeline, state, measured: tally.count(), percentiles: tally.percentiles()? })
        };
        self.stays.iter().filter_map(dwell).collect()
    }
}
