//! Metrics under names of a pipeline's own, beside those that every pipeline has.

use std::collections::BTreeMap;

use crate::Name;

/// The beginnings of the names that every server tells about itself or that the scraper makes.
const RESERVED: [&str; 4] = ["milepost_", "process_", "scrape_", "target_"];
/// The endings that the exposition adds to names.
const ENDINGS: [&str; 6] = ["_total", "_bucket", "_count", "_sum", "_created", "_info"];

/// An extra metric: one or more series under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    pub kind: MetricKind,
    pub series: Vec<Series>,
}

/// One series: what it measures, and its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    pub of: Measure,
    /// The states where the series is measured; none is everywhere.
    pub states: Vec<Name>,
    pub labels: BTreeMap<Name, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
    /// A gauge: of what tasks do, per hundred tasks that ended; of anything else, per hundred submissions taken in.
    Rate,
}

impl MetricKind {
    pub const ALL: [MetricKind; 4] =
        [MetricKind::Counter, MetricKind::Gauge, MetricKind::Histogram, MetricKind::Rate];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
            MetricKind::Rate => "rate",
        }
    }

    /// Lists what a metric of this kind can measure.
    #[must_use]
    pub fn measures(self) -> &'static [Measure] {
        use Measure::{
            AttemptMs, AttemptSeconds, Dead, Depth, DwellMs, DwellSeconds, Entered, Late, Left, Received,
            Retried,
        };
        match self {
            MetricKind::Counter => &[Received, Entered, Left, Retried, Dead, Late],
            MetricKind::Gauge => &[Depth, Dead],
            MetricKind::Histogram => &[DwellMs, DwellSeconds, AttemptMs, AttemptSeconds],
            MetricKind::Rate => &[Entered, Left, Retried, Dead, Late],
        }
    }

    /// The names that a metric of this kind takes, with what the exposition adds.
    fn names(self, name: &str) -> Vec<String> {
        let base =
            if self == MetricKind::Counter { name.strip_suffix("_total").unwrap_or(name) } else { name };
        let endings: &[&str] = match self {
            MetricKind::Counter => &["", "_total", "_created"],
            MetricKind::Gauge | MetricKind::Rate => &[""],
            MetricKind::Histogram => &["", "_bucket", "_count", "_sum", "_created"],
        };
        endings.iter().map(|ending| format!("{base}{ending}")).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Submissions taken in.
    Received,
    Entered,
    Left,
    Retried,
    /// Counted: submissions that became dead letters. As a gauge: how many there are.
    Dead,
    /// Missed service levels.
    Late,
    /// Open submissions.
    Depth,
    /// From entering a state to leaving it.
    DwellMs,
    DwellSeconds,
    /// From the grant of a lease to the answer that finished the task: of the attempt that succeeded.
    AttemptMs,
    AttemptSeconds,
}

impl Measure {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Measure::Received => "received",
            Measure::Entered => "entered",
            Measure::Left => "left",
            Measure::Retried => "retried",
            Measure::Dead => "dead",
            Measure::Late => "late",
            Measure::Depth => "depth",
            Measure::DwellMs => "dwell_ms",
            Measure::DwellSeconds => "dwell_seconds",
            Measure::AttemptMs => "attempt_ms",
            Measure::AttemptSeconds => "attempt_seconds",
        }
    }

    /// Tells whether the measure is about tasks: its rate is per task that ended.
    #[must_use]
    pub fn is_of_tasks(self) -> bool {
        matches!(self, Measure::Retried | Measure::Dead)
    }
}

/// Tells whether two metrics cannot be told in one exposition: one would take a name of the other's. The same name of
/// the same kind is one metric, if they are of different pipelines.
#[must_use]
pub fn clash((name, kind): (&str, MetricKind), (other, other_kind): (&str, MetricKind)) -> bool {
    let same = name == other && kind == other_kind;
    let taken = other_kind.names(other);
    !same && kind.names(name).iter().any(|name| taken.contains(name))
}

/// Returns what is wrong with a metric's name.
pub(super) fn name_fault(name: &str, kind: MetricKind) -> Option<String> {
    if let Some(reserved) = RESERVED.iter().find(|reserved| name.starts_with(**reserved)) {
        return Some(format!("names that begin with `{reserved}` are taken"));
    }
    if name == "up" {
        return Some("`up` is what scrapers call whether they reached a server".to_owned());
    }
    match kind {
        MetricKind::Counter if !name.ends_with("_total") || name == "_total" => {
            Some("a counter's name ends in `_total`".to_owned())
        }
        MetricKind::Counter => None,
        _ => {
            let ending = ENDINGS.iter().find(|ending| name.ends_with(**ending))?;
            Some(format!("the name of a {} does not end in `{ending}`", kind.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MetricKind::{Counter, Gauge, Histogram, Rate};

    #[test]
    fn metrics_clash_where_one_takes_a_name_of_the_other() {
        assert!(!clash(("a_total", Counter), ("a_total", Counter)), "one metric of two pipelines");
        assert!(!clash(("a_ms", Histogram), ("b_ms", Histogram)));
        assert!(clash(("a", Gauge), ("a", Histogram)));
        assert!(clash(("a", Gauge), ("a", Rate)), "they mean something else");
        assert!(clash(("a_total", Counter), ("a", Gauge)));
        assert!(clash(("a_count", Gauge), ("a", Histogram)));
    }

    #[test]
    fn names_that_would_be_misread_are_refused() {
        assert_eq!(name_fault("seen_total", Counter), None);
        assert_eq!(name_fault("scan_duration_ms", Histogram), None);
        for (name, kind) in [
            ("seen", Counter),
            ("seen_total", Gauge),
            ("seen_sum", Rate),
            ("milepost_x", Gauge),
            ("up", Gauge),
        ] {
            assert!(name_fault(name, kind).is_some(), "{name}");
        }
    }
}
