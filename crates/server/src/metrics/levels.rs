//! Metrics of service levels: a figure, a share and a verdict for each bound of each window.

use engine::levels::{LevelReport, Verdict, WindowReport};
use model::Name;

use super::scrape::{Kind, Labels, Sheet, labels};

/// Levels that are told apart.
const LEVELS_MAX: usize = 500;

pub(super) fn tell(sheet: &mut Sheet, levels: &[LevelReport]) {
    let levels = &levels[..levels.len().min(LEVELS_MAX)];
    let help = "Stays and legs that ended in a window, of those that a service level is declared for";
    let measured = sheet.gauge("milepost_sla_measured", help);
    for (labels, window) in windows(levels) {
        measured.value(labels, window.measured as f64);
    }
    let help = "How long they took: for a target the median, for a p95 the 95th percentile";
    let figure = sheet.seconds("milepost_sla_figure", help, Kind::Gauge);
    for (labels, verdict) in verdicts(levels) {
        figure.value(labels, verdict.figure.millis() as f64 / 1_000.0);
    }
    let within = sheet.gauge("milepost_sla_within_ratio", "The share that kept to the declared bound");
    for (labels, verdict) in verdicts(levels) {
        within.value(labels, verdict.within);
    }
    let met = sheet.gauge("milepost_sla_met", "Whether half kept to the target, and 19 of 20 to the p95");
    for (labels, verdict) in verdicts(levels) {
        met.value(labels, f64::from(verdict.met));
    }
}

fn windows(levels: &[LevelReport]) -> impl Iterator<Item = (Labels, &WindowReport)> {
    levels.iter().flat_map(|report| {
        report.windows.iter().map(move |window| {
            let (pipeline, level): (Name, Name) =
                (report.key.pipeline.clone(), report.key.level.name().clone());
            let of = report.key.level.kind();
            (labels!(pipeline = pipeline, level = level, of = of, window = window.window.as_str()), window)
        })
    })
}

fn verdicts(levels: &[LevelReport]) -> impl Iterator<Item = (Labels, Verdict)> {
    windows(levels).flat_map(|(labels, window)| {
        let bounds = [("target", window.target), ("p95", window.p95)];
        bounds.into_iter().filter_map(move |(bound, verdict)| {
            let mut labels = labels.clone();
            labels.push(("bound".into(), bound.into()));
            Some((labels, verdict?))
        })
    })
}
