//! The metrics that pipeline files declare, under their names: views of what is counted anyway.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Engine;
use engine::metrics::{Reading, StateMetrics};
use model::pipeline::metric::clash;
use model::pipeline::{Measure, Metric, MetricKind, Pipeline, Series};
use model::{Name, Status};

use super::scrape::{Kind, Labels, Sheet, Value};
use super::store_queries::Stand;

const HELP: &str = "Declared by a pipeline file";

/// The counts of a pipeline, and what the store knows of it.
struct Source<'a> {
    pipeline: &'a Pipeline,
    places: &'a [((Name, Name), Arc<StateMetrics>)],
    stand: Option<&'a Stand>,
}

type Declared<'a> = (Source<'a>, &'a Metric);

pub(super) fn tell(sheet: &mut Sheet, engine: &Engine, stand: Option<&Stand>) {
    let (versions, places) = (engine.pipelines().current(), engine.metrics().places.all());
    let mut named: BTreeMap<&Name, (MetricKind, Vec<Declared<'_>>)> = BTreeMap::new();
    for pipeline in versions.all() {
        for (name, metric) in &pipeline.metrics {
            // Applying sees to it that there are none; one that came in another way must not spoil the whole page.
            if named.iter().any(|(other, (kind, _))| clash((name, metric.kind), (other, *kind))) {
                continue;
            }
            let source = Source { pipeline, places: &places, stand };
            named.entry(name).or_insert((metric.kind, Vec::new())).1.push((source, metric));
        }
    }
    for (name, (kind, metrics)) in named {
        let (name, kind) = match kind {
            MetricKind::Counter => (name.strip_suffix("_total").unwrap_or(name), Kind::Counter),
            MetricKind::Gauge | MetricKind::Rate => (&**name, Kind::Gauge),
            MetricKind::Histogram => (&**name, Kind::Histogram),
        };
        let family = sheet.family(name, HELP, kind, None);
        for (source, metric) in metrics {
            for series in &metric.series {
                if let Some(value) = source.value(metric.kind, series) {
                    family.add(source.labels(series), value);
                }
            }
        }
    }
}

impl Source<'_> {
    fn labels(&self, series: &Series) -> Labels {
        let own = series.labels.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
        std::iter::once(("pipeline".into(), self.pipeline.name.clone())).chain(own).collect()
    }

    /// `None`: only the store knows, and it cannot be asked.
    fn value(&self, kind: MetricKind, series: &Series) -> Option<Value> {
        Some(match kind {
            MetricKind::Counter => Value::Count(self.count(series)),
            MetricKind::Histogram => Value::Histogram(self.times(series)),
            MetricKind::Gauge => Value::Gauge(self.depth(series)? as f64),
            MetricKind::Rate => {
                let (count, of) = self.share(series);
                // Of nothing, nothing can be said: 0 / 0 is no number.
                Value::Gauge(100.0 * count as f64 / of as f64)
            }
        })
    }

    fn all(&self) -> impl Iterator<Item = (&Name, &StateMetrics)> {
        let own = self.places.iter().filter(|((pipeline, _), _)| *pipeline == self.pipeline.name);
        own.map(|((_, state), place)| (state, &**place))
    }

    fn of<'s>(&'s self, series: &'s Series) -> impl Iterator<Item = &'s StateMetrics> {
        self.all().filter(|(state, _)| is_of(series, state)).map(|(_, place)| place)
    }

    fn count(&self, series: &Series) -> u64 {
        let count = |place: &StateMetrics| match series.of {
            Measure::Received => place.submitted.get(),
            Measure::Entered => place.entered.get(),
            Measure::Left => place.left.get(),
            Measure::Retried => place.retried.get(),
            Measure::Dead => place.died.get(),
            Measure::Late => place.late().values().sum(),
            Measure::Depth
            | Measure::DwellMs
            | Measure::DwellSeconds
            | Measure::AttemptMs
            | Measure::AttemptSeconds => 0,
        };
        self.of(series).map(count).sum()
    }

    /// Returns what a rate counts, and of how many: what becomes of tasks is counted among those that ended, and what
    /// becomes of submissions among those that were taken in.
    fn share(&self, series: &Series) -> (u64, u64) {
        if !series.of.is_of_tasks() {
            return (self.count(series), self.all().map(|(_, place)| place.submitted.get()).sum());
        }
        let count = match series.of {
            // A dead letter that no task made is no failure of one.
            Measure::Dead => self.of(series).map(|place| place.tasks.dead.get()).sum(),
            _ => self.count(series),
        };
        (count, self.of(series).map(|place| place.tasks.ended()).sum())
    }

    fn times(&self, series: &Series) -> Reading {
        let mut sum = Reading::none();
        let attempts = matches!(series.of, Measure::AttemptMs | Measure::AttemptSeconds);
        let times = |place: &StateMetrics| if attempts { place.attempt.read() } else { place.dwell.read() };
        self.of(series).for_each(|place| sum.add(&times(place)));
        let in_ms = matches!(series.of, Measure::DwellMs | Measure::AttemptMs);
        if in_ms { sum.scaled(1_000.0) } else { sum }
    }

    fn depth(&self, series: &Series) -> Option<u64> {
        let status = if series.of == Measure::Dead { Status::Dead } else { Status::Open };
        let counts = self.stand?.counts.iter().filter(|count| {
            count.pipeline == self.pipeline.name && count.status == status && is_of(series, &count.state)
        });
        Some(counts.map(|count| count.count).sum())
    }
}

fn is_of(series: &Series, state: &Name) -> bool {
    series.states.is_empty() || series.states.contains(state)
}
