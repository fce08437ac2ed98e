//! `[metrics.NAME]`: what is measured under a name of the pipeline's own.

use std::collections::BTreeMap;

use super::Reader;
use super::fields::{Fields, Place, listed};
use super::name::Spelling;
use crate::Name;
use crate::pipeline::file::{Entry, Node};
use crate::pipeline::metric::{clash, name_fault};
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::{Measure, Metric, MetricKind, Series};

/// Series of one metric.
const SERIES_MAX: usize = 32;
const LABEL_CHARS_MAX: usize = 64;
/// Labels that the exposition gives by itself.
const GIVEN_LABELS: [&str; 2] = ["pipeline", "le"];

impl Reader<'_> {
    pub(super) fn metrics(&mut self, node: Option<&Node>) -> BTreeMap<Name, Metric> {
        let mut metrics: BTreeMap<Name, Metric> = BTreeMap::new();
        for entry in self.map(node, "metrics") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Metric);
            let Some(metric) = self.metric(entry) else { continue };
            if let Some(fault) = name_fault(&name, metric.kind) {
                self.bad_metric(entry, fault);
            }
            let clashes =
                |(other, known): &(&Name, &Metric)| clash((&name, metric.kind), (other, known.kind));
            if let Some((other, _)) = metrics.iter().find(clashes) {
                let message = format!("{} takes a name that {} has already", quote(&name), quote(other));
                self.bad_metric(entry, message);
            }
            metrics.insert(name, metric);
        }
        metrics
    }

    /// A table, or a list of tables that differ in their labels.
    fn metric(&mut self, entry: &Entry) -> Option<Metric> {
        let nodes = entry.node.one_or_many();
        self.bound("series", nodes.len(), SERIES_MAX, &entry.at);
        let read: Vec<_> =
            nodes.iter().take(SERIES_MAX).filter_map(|node| self.series(entry, node)).collect();
        let (kind, _) = read.first()?;
        let kind = *kind;
        if read.iter().any(|(other, _)| *other != kind) {
            self.bad_metric(
                entry,
                format!("{} is of several kinds; one name is one kind", quote(&entry.key)),
            );
        }
        let series: Vec<Series> = read.into_iter().map(|(_, series)| series).collect();
        for (index, one) in series.iter().enumerate() {
            let (before, _) = series.split_at(index);
            if before.iter().any(|other| !one.labels.keys().eq(other.labels.keys())) {
                self.bad_metric(
                    entry,
                    format!("the series of {} have not the same labels", quote(&entry.key)),
                );
            } else if before.iter().any(|other| one.labels == other.labels) {
                self.bad_metric(entry, format!("two series of {} have the same labels", quote(&entry.key)));
            }
        }
        Some(Metric { kind, series })
    }

    fn series(&mut self, entry: &Entry, node: &Node) -> Option<(MetricKind, Series)> {
        let table = self.table(node)?;
        let mut fields = Fields::new(Place::Inner, table);
        let kinds = MetricKind::ALL.into_iter();
        let written: Vec<_> =
            kinds.filter_map(|kind| fields.take(kind.as_str()).map(|entry| (entry, kind))).collect();
        if written.len() != 1 {
            let kinds = listed(&MetricKind::ALL.map(MetricKind::as_str));
            self.missing(&entry.at, format!("the metric {} needs exactly one of {kinds}", quote(&entry.key)));
        }
        let of = written.first().and_then(|(entry, kind)| {
            let words: Vec<_> = kind.measures().iter().map(|measure| (measure.as_str(), *measure)).collect();
            self.word(&entry.node, &words)
        });
        let states = self.states(fields.node("state"));
        let labels = self.metric_labels(fields.node("labels"));
        self.close(fields);
        if of == Some(Measure::Received) && !states.is_empty() {
            let message =
                "`received` counts what the pipeline takes in; leave `state` out, or count `entered`";
            self.bad_metric(entry, message);
        }
        let [(_, kind)] = written[..] else { return None };
        Some((kind, Series { of: of?, states, labels }))
    }

    fn metric_labels(&mut self, node: Option<&Node>) -> BTreeMap<Name, String> {
        let mut labels = BTreeMap::new();
        for label in self.map(node, "labels") {
            let name = self.spelled(&label.key, &label.at, Spelling::Label);
            if GIVEN_LABELS.contains(&&*name) {
                self.bad_metric(label, format!("the label {} is given by itself", quote(&name)));
            }
            if let Some(text) = self.short_text(&label.node, LABEL_CHARS_MAX) {
                labels.insert(name, text.to_owned());
            }
        }
        labels
    }

    fn bad_metric(&mut self, entry: &Entry, message: impl Into<String>) {
        self.problems.push(Problem::new("bad-metric", entry.at.clone(), message));
    }
}
