//! A scrape as plain data, and its text.

use std::fmt;

use engine::metrics::Reading;
use model::Name;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::{Registry, Unit};

/// The contents of one scrape: families, each name once.
#[derive(Debug, Default)]
pub(crate) struct Sheet(Vec<Family>);

/// All samples of one name.
#[derive(Debug)]
pub(crate) struct Family {
    /// Without the endings that the format adds: `_total`, `_bucket`, and the unit.
    name: String,
    help: String,
    unit: Option<Unit>,
    kind: Kind,
    samples: Vec<(Labels, Value)>,
}

pub(crate) type Labels = Vec<(Name, Name)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
    Info,
}

#[derive(Debug)]
pub(crate) enum Value {
    Count(u64),
    /// A counter of something that is measured.
    Amount(f64),
    Gauge(f64),
    Histogram(Reading),
    Info,
}

/// Labels out of pairs of texts.
macro_rules! labels {
    ($($name:ident = $value:expr),*) => {
        vec![$((stringify!($name).into(), model::Name::from($value))),*]
    };
}
pub(crate) use labels;

impl Sheet {
    pub(crate) fn counter(&mut self, name: &str, help: &str) -> &mut Family {
        self.family(name, help, Kind::Counter, None)
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str) -> &mut Family {
        self.family(name, help, Kind::Gauge, None)
    }

    pub(crate) fn family(&mut self, name: &str, help: &str, kind: Kind, unit: Option<Unit>) -> &mut Family {
        let (name, help) = (name.to_owned(), help.to_owned());
        self.0.push(Family { name, help, unit, kind, samples: Vec::new() });
        self.0.last_mut().expect("it was pushed just now")
    }

    /// In seconds.
    pub(crate) fn seconds(&mut self, name: &str, help: &str, kind: Kind) -> &mut Family {
        self.family(name, help, kind, Some(Unit::Seconds))
    }

    /// The text of OpenMetrics, its last line included.
    pub(crate) fn text(self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut page = String::new();
        text::encode(&mut page, &registry).expect("writing to a string does not fail");
        page
    }
}

impl Family {
    pub(crate) fn add(&mut self, labels: Labels, value: Value) -> &mut Self {
        self.samples.push((labels, value));
        self
    }

    pub(crate) fn count(&mut self, labels: Labels, count: u64) -> &mut Self {
        self.add(labels, Value::Count(count))
    }

    pub(crate) fn value(&mut self, labels: Labels, value: f64) -> &mut Self {
        self.add(labels, Value::Gauge(value))
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
            Kind::Info => MetricType::Info,
        };
        let mut family = encoder.encode_descriptor(&self.name, &self.help, self.unit.as_ref(), kind)?;
        for (labels, value) in &self.samples {
            match value {
                Value::Info => family.encode_info(labels)?,
                _ if labels.is_empty() => sample(&mut family, value)?,
                _ => sample(&mut family.encode_family(labels)?, value)?,
            }
        }
        Ok(())
    }
}

fn sample(encoder: &mut MetricEncoder<'_>, value: &Value) -> fmt::Result {
    const NO_EXEMPLAR: Option<&Exemplar<NoLabelSet, u64>> = None;
    match value {
        Value::Count(count) => encoder.encode_counter(count, NO_EXEMPLAR),
        Value::Amount(amount) => encoder.encode_counter(amount, NO_EXEMPLAR),
        Value::Gauge(value) => encoder.encode_gauge(value),
        Value::Histogram(reading) => {
            encoder.encode_histogram::<NoLabelSet>(reading.sum, reading.count(), &reading.buckets, None)
        }
        Value::Info => Ok(()),
    }
}

impl Collector for Sheet {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // A family without samples says nothing.
        let told = self.0.iter().filter(|family| !family.samples.is_empty());
        told.into_iter().try_for_each(|family| family.encode(&mut encoder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_their_endings_and_labels_their_escapes() {
        let mut sheet = Sheet::default();
        sheet.counter("a", "Counts").count(labels!(x = "say \"hi\"\\\n"), 3);
        sheet.gauge("empty", "Nothing");
        sheet.seconds("b", "Lasts", Kind::Gauge).value(Vec::new(), 0.5);
        sheet.family("c", "Is", Kind::Info, None).add(labels!(version = "1"), Value::Info);
        let expected = "# HELP a Counts.\n# TYPE a counter\na_total{x=\"say \\\"hi\\\"\\\\\\n\"} 3\n\
                        # HELP b_seconds Lasts.\n# TYPE b_seconds gauge\n# UNIT b_seconds seconds\nb_seconds 0.5\n\
                        # HELP c Is.\n# TYPE c info\nc_info{version=\"1\"} 1\n# EOF\n";
        assert_eq!(sheet.text(), expected.replace(".\n#", "\n#"));
    }
}
