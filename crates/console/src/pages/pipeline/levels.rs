//! The service levels of a pipeline: what was promised, and what was measured.

use wire::Refusal;
use wire::api::{ServiceLevelView, VerdictView, WindowView};

use crate::ask::Visit;
use crate::look::span;
use crate::parts::number;

pub(super) struct Level {
    pub(super) name: String,
    pub(super) of: String,
    pub(super) target: String,
    pub(super) p95: String,
    pub(super) windows: Vec<Window>,
}

pub(super) struct Window {
    pub(super) span: String,
    pub(super) measured: String,
    pub(super) median: Option<Verdict>,
    pub(super) p95: Option<Verdict>,
    pub(super) p99: String,
}

/// A measured figure beside what was promised.
pub(super) struct Verdict {
    pub(super) figure: String,
    pub(super) within: String,
    pub(super) met: bool,
}

pub(super) async fn levels(visit: &Visit, name: &str) -> Result<Vec<Level>, Refusal> {
    let stats = visit.app.stats().await?;
    let level = |known: &ServiceLevelView| Level {
        name: known.name.to_string(),
        of: known.of.clone(),
        target: known.target.clone().unwrap_or_default(),
        p95: known.p95.clone().unwrap_or_default(),
        windows: known.windows.iter().map(window).collect(),
    };
    Ok(stats.service_levels.iter().filter(|known| *known.pipeline == *name).map(level).collect())
}

fn window(known: &WindowView) -> Window {
    let verdict = |verdict: VerdictView| Verdict {
        figure: span(verdict.figure),
        within: format!("{:.1} %", verdict.within * 100.0),
        met: verdict.met,
    };
    Window {
        span: known.window.clone(),
        measured: number(known.measured),
        median: known.target.map(verdict),
        p95: known.p95.map(verdict),
        p99: known.percentiles.map(|percentiles| span(percentiles.p99)).unwrap_or_default(),
    }
}
