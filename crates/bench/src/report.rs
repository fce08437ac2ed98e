//! The report: figures that were measured, each with what it is to be compared to.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::machine::MachineFacts;

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub version: &'static str,
    pub machine: MachineFacts,
    pub figures: Vec<Figure>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// `W1` to `W9`, or what a reference is of.
    pub workload: &'static str,
    pub what: String,
    pub home: String,
    pub value: f64,
    pub unit: Unit,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    PerSecond,
    Milliseconds,
    Megabytes,
    /// Of one core.
    Percent,
}

/// The figure, divided by another of the same run.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    pub value: f64,
    pub of: &'static str,
}

impl Figure {
    pub(crate) fn new(workload: &'static str, what: &str, home: &str, (value, unit): (f64, Unit)) -> Figure {
        Figure { workload, what: what.to_owned(), home: home.to_owned(), value, unit, ratio: None }
    }

    /// Compares it to another of the same run, where there is one.
    pub(crate) fn over_some(mut self, reference: Option<(f64, &'static str)>) -> Figure {
        self.ratio = reference.map(|(value, of)| Ratio { value: self.value / value, of });
        self
    }
}

impl Report {
    #[must_use]
    pub fn value(&self, workload: &str, what: &str, home: &str) -> Option<f64> {
        let is_it =
            |figure: &&Figure| figure.workload == workload && figure.what == what && figure.home == home;
        self.figures.iter().find(is_it).map(|figure| figure.value)
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MachineFacts { processor, cores, memory_bytes, kernel, sync_p50, sync_p99 } = &self.machine;
        writeln!(f, "{cores} cores of {processor}, {:.1} GB, Linux {kernel}", *memory_bytes as f64 / 1e9)?;
        writeln!(
            f,
            "append and sync of 4 KB: {:.2} ms, p99 {:.2} ms\n",
            millis(*sync_p50),
            millis(*sync_p99)
        )?;
        for figure in &self.figures {
            writeln!(f, "{figure}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { workload, what, home, value, unit, ratio } = self;
        let value = match unit {
            Unit::PerSecond => format!("{value:.0}/s"),
            Unit::Milliseconds => format!("{value:.2} ms"),
            Unit::Megabytes => format!("{value:.0} MB"),
            Unit::Percent => format!("{value:.1} %"),
        };
        write!(f, "{workload:<4} {what:<34} {home:<18} {value:>12}")?;
        match ratio {
            Some(Ratio { value, of }) => write!(f, "   {value:.2} x {of}"),
            None => Ok(()),
        }
    }
}
