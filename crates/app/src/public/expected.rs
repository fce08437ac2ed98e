//! The time that a submission still takes, as far as others before it show.

use std::collections::{BTreeMap, BTreeSet};

use engine::flow::FlowReport;
use model::{Millis, Name};
use serde::Serialize;

/// Stays that must have been measured before anything is said of a state.
const MEASURED_MIN: u64 = 5;
/// States that are looked at on the way to an end.
const STATES_MAX: usize = 50;

/// The time to the end of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// The medians of the states on the usual way, added up.
    pub likely: Millis,
    /// Their 95th percentiles, added up: more than the time that 95 of 100 take.
    pub rarely_over: Millis,
}

/// The stays and the usual ways of the last hours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// The number measured, the median and the 95th percentile, by pipeline and state.
    stays: BTreeMap<(Name, Name), (u64, Millis, Millis)>,
    /// The edge that most took out of a state.
    usual: BTreeMap<(Name, Name), (u64, Name)>,
}

impl Flow {
    #[must_use]
    pub fn of(report: &FlowReport) -> Flow {
        let mut flow = Flow::default();
        for dwell in report.dwells() {
            flow.stayed(
                (dwell.pipeline, dwell.state),
                dwell.measured,
                [dwell.percentiles[0], dwell.percentiles[1]],
            );
        }
        for edge in report.edges() {
            if let Some(from) = edge.from {
                flow.took((edge.pipeline, from), edge.to, edge.minutes.iter().sum());
            }
        }
        flow
    }

    fn stayed(&mut self, at: (Name, Name), measured: u64, [p50, p95]: [Millis; 2]) {
        self.stays.insert(at, (measured, p50, p95));
    }

    fn took(&mut self, from: (Name, Name), to: Name, count: u64) {
        let more = self.usual.get(&from).is_none_or(|(most, _)| count > *most);
        if more {
            self.usual.insert(from, (count, to));
        }
    }

    /// Returns the time that a submission still takes that has been in a state for a while. None where too few were measured,
    /// where the usual way leads round in a circle, and where it has been there longer than others: nobody knows then.
    #[must_use]
    pub fn expected(
        &self,
        pipeline: &Name,
        (state, waited): (&Name, Millis),
        ends: impl Fn(&str) -> bool,
    ) -> Option<Expected> {
        let (mut at, mut seen) = (state.clone(), BTreeSet::new());
        let (mut likely, mut late) = (Millis::default(), Millis::default());
        let mut waited = Some(waited);
        while !ends(&at) {
            if seen.len() == STATES_MAX || !seen.insert(at.clone()) {
                return None;
            }
            let here = (pipeline.clone(), at);
            let (_, p50, p95) = *self.stays.get(&here).filter(|(measured, ..)| *measured >= MEASURED_MIN)?;
            let been = waited.take().unwrap_or_default();
            if been > p95 {
                return None;
            }
            likely = sum(likely, less(p50, been));
            late = sum(late, less(p95, been));
            at = self.usual.get(&here)?.1.clone();
        }
        Some(Expected { likely, rarely_over: late })
    }
}

fn sum(a: Millis, b: Millis) -> Millis {
    Millis::new(a.millis().saturating_add(b.millis()))
}

fn less(a: Millis, b: Millis) -> Millis {
    Millis::new(a.millis().saturating_sub(b.millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(stays: &[(&str, u64, u64, u64)], edges: &[(&str, &str, u64)]) -> Flow {
        let mut flow = Flow::default();
        let at = |state: &str| -> (Name, Name) { ("p".into(), state.into()) };
        for (state, measured, p50, p95) in stays {
            flow.stayed(at(state), *measured, [Millis::from_secs(*p50), Millis::from_secs(*p95)]);
        }
        for (from, to, count) in edges {
            flow.took(at(from), (*to).into(), *count);
        }
        flow
    }

    fn expected(flow: &Flow, state: &str, waited: u64) -> Option<(u64, u64)> {
        let found =
            flow.expected(&"p".into(), (&state.into(), Millis::from_secs(waited)), |state| state == "END");
        found.map(|found| (found.likely.millis() / 1_000, found.rarely_over.millis() / 1_000))
    }

    #[test]
    fn the_usual_way_to_an_end_is_added_up() {
        let flow = flow(
            &[("A", 100, 10, 60), ("B", 100, 100, 600), ("C", 100, 1_000, 2_000)],
            &[("A", "B", 90), ("A", "C", 10), ("B", "END", 50), ("C", "END", 5)],
        );
        assert_eq!(expected(&flow, "A", 0), Some((110, 660)));
        assert_eq!(expected(&flow, "A", 30), Some((100, 630)), "what it waited is over");
        assert_eq!(expected(&flow, "C", 0), Some((1_000, 2_000)));
        assert_eq!(expected(&flow, "END", 0), Some((0, 0)));
    }

    #[test]
    fn nothing_is_said_that_nobody_knows() {
        let known = [("A", 100, 10, 60), ("B", 4, 10, 60), ("C", 100, 1, 2), ("D", 100, 1, 2)];
        let flow = flow(&known, &[("A", "END", 9), ("B", "END", 9), ("C", "D", 9), ("D", "C", 9)]);
        assert_eq!(expected(&flow, "A", 61), None, "longer than others");
        assert_eq!(expected(&flow, "B", 0), None, "too few were measured");
        assert_eq!(expected(&flow, "C", 0), None, "round in a circle");
        assert_eq!(expected(&flow, "E", 0), None, "nobody was there");
    }
}
