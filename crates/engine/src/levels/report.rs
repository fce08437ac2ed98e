//! Declared service levels beside what was measured of them.

use model::Millis;
use model::Time;
use model::measured::Level;
use model::pipeline::{Pipeline, Sla, Stretch};

use super::{Kept, LevelKey, Measurements, Tally, Window};

/// A declared level, and how it was kept to.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelReport {
    pub key: LevelKey,
    pub sla: Sla,
    pub windows: Vec<WindowReport>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WindowReport {
    pub window: Window,
    /// The number of measurements that ended in the window.
    pub measured: u64,
    /// The median against the target.
    pub target: Option<Verdict>,
    /// The 95th percentile against `p95`.
    pub p95: Option<Verdict>,
    /// The 50th, 95th and 99th percentile, where something was measured.
    pub percentiles: Option<[Millis; 3]>,
}

/// A figure, and whether it is within what is declared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// About: see [`Tally::percentile`]. On the right side of what is declared all the same.
    pub figure: Millis,
    /// The share that kept to what was declared when they ended.
    pub within: f64,
    pub met: bool,
}

/// Every level a pipeline declares.
pub(crate) fn of(pipeline: &Pipeline, measured: &Measurements, now: Time) -> Vec<LevelReport> {
    let states = pipeline
        .states
        .iter()
        .filter_map(|state| state.sla.as_ref().map(|sla| (Level::State(state.name.clone()), sla)));
    let legs = pipeline.slas.iter().map(|(name, leg)| (Level::Leg(name.clone()), &leg.sla));
    let report = |(level, sla): (Level, &Sla)| {
        let key = LevelKey { pipeline: pipeline.name.clone(), level };
        let record = measured.of(&key);
        let read = |window| record.map(|record| record.read(window, now)).unwrap_or_default();
        let windows = Window::ALL.map(|window| judge(window, &read(window), sla)).to_vec();
        LevelReport { key, sla: sla.clone(), windows }
    };
    states.chain(legs).map(report).collect()
}

fn judge(window: Window, tally: &Tally, sla: &Sla) -> WindowReport {
    WindowReport {
        window,
        measured: tally.count(),
        target: sla.target.and_then(|bound| verdict(tally, tally.target, 50, bound)),
        percentiles: tally.percentiles(),
        p95: sla.p95.and_then(|bound| verdict(tally, tally.p95, 95, bound)),
    }
}

/// Compares a percentile with its bound. The verdict is counted exactly; the figure beside it is an estimate and must
/// not contradict.
fn verdict(tally: &Tally, kept: Kept, percent: u64, bound: Stretch) -> Option<Verdict> {
    let (figure, within, met) = (tally.percentile(percent)?, kept.share()?, kept.is_met(percent)?);
    let figure = match bound {
        Stretch::Time(bound) if met => figure.min(bound),
        Stretch::Time(bound) => figure.max(Millis::new(bound.millis().saturating_add(1))),
        Stretch::BusinessDays(_) => figure,
    };
    Some(Verdict { figure, within, met })
}

#[cfg(test)]
mod tests {
    use model::measured::Measured;

    use super::*;

    #[test]
    fn a_figure_never_contradicts_its_verdict() {
        let bound = Millis::new(1_000);
        for (took, met) in [(1_000, true), (1_001, false)] {
            let mut tally = Tally::default();
            for _ in 0..20 {
                let (level, took) = (Level::State("A".into()), Millis::new(took));
                let within = Some(took <= bound);
                tally.note(&Measured { level, at: Time::EPOCH, took, target: within, p95: None });
            }
            let verdict = verdict(&tally, tally.target, 50, Stretch::Time(bound)).unwrap();
            assert_eq!((verdict.met, verdict.figure <= bound), (met, met), "{verdict:?}");
        }
        assert_eq!(verdict(&Tally::default(), Kept::default(), 50, Stretch::Time(bound)), None);
    }
}
