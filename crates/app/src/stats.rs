//! Figures: how much is where, and how the engine's own chores are doing.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::core::Tally;
use engine::levels::{LevelReport, Verdict, WindowReport};
use engine::{Condition, DutyReport};
use model::{InvestigationStatus, Millis, Name, Refusal};
use store::Count;
use wire::api::{
    DutyView, InvestigationCount, PlaceCount, ReceivedView, ServiceLevelView, StatsView, VerdictView,
    WindowView,
};

use crate::App;
use crate::figures::percentiles;

impl App {
    /// Returns the figures of what the visitor sees.
    pub async fn stats(&self) -> Result<StatsView, Refusal> {
        let visitor = &self.visitor;
        let read = self.engine.read(move |store| Ok((store.counts()?, store::newest(store)?)));
        let (counts, last_event) = read.await?;
        let sees = |pipeline: &Name| visitor.labels.is_empty() && visitor.sees(pipeline);
        let counts: Vec<_> = counts.into_iter().filter(|count| sees(&count.pipeline)).collect();
        let investigations = investigations(&counts);
        let counts = Count::by_status(&counts).into_iter().map(place).collect();
        let levels = self.engine.levels().await?.into_iter();
        let service_levels = levels.filter(|level| sees(&level.key.pipeline)).map(service_level).collect();
        let condition = condition(&self.engine.condition().borrow()).to_owned();
        // What is counted for all says something about those whom a token is not for; so do the errors of chores.
        let sees_all = visitor.is_unlimited();
        let last_event = sees_all.then_some(last_event);
        let duties = self.engine.duties().into_iter().filter(|_| sees_all).map(duty).collect();
        let received = sees_all.then(|| received(self.engine.received()));
        Ok(StatsView { condition, last_event, counts, investigations, service_levels, duties, received })
    }
}

fn received(Tally { submitted, merged, refused }: Tally) -> ReceivedView {
    ReceivedView { submitted, merged, refused }
}

fn condition(condition: &Condition) -> &'static str {
    match condition {
        Condition::Running => "running",
        Condition::Unreachable => "unreachable",
        Condition::Drained => "drained",
        Condition::Broken(_) => "broken",
    }
}

fn investigations(counts: &[Count]) -> Vec<InvestigationCount> {
    let mut places: BTreeMap<(Name, Name), (u64, u64)> = BTreeMap::new();
    for Count { pipeline, state, investigation, count, .. } in counts {
        let Some(investigation) = investigation else { continue };
        let (open, acknowledged) = places.entry((pipeline.clone(), state.clone())).or_default();
        match investigation {
            InvestigationStatus::Open => *open += count,
            InvestigationStatus::Acknowledged => *acknowledged += count,
        }
    }
    let view = |((pipeline, state), (open, acknowledged))| InvestigationCount {
        pipeline,
        state,
        open,
        acknowledged,
    };
    places.into_iter().map(view).collect()
}

fn service_level(report: LevelReport) -> ServiceLevelView {
    let verdict =
        |verdict: Verdict| VerdictView { figure: verdict.figure, within: verdict.within, met: verdict.met };
    let window = |window: WindowReport| WindowView {
        window: window.window.as_str().to_owned(),
        measured: window.measured,
        target: window.target.map(verdict),
        p95: window.p95.map(verdict),
        percentiles: window.percentiles.map(percentiles),
    };
    ServiceLevelView {
        pipeline: report.key.pipeline,
        name: report.key.level.name().clone(),
        of: report.key.level.kind().to_owned(),
        target: report.sla.target.map(|span| span.to_string()),
        p95: report.sla.p95.map(|span| span.to_string()),
        windows: report.windows.into_iter().map(window).collect(),
    }
}

fn place(count: Count) -> PlaceCount {
    let Count { pipeline, state, status, count, .. } = count;
    PlaceCount { pipeline, state, status, count }
}

fn duty(report: DutyReport) -> DutyView {
    let millis = |span: Duration| Millis::new(u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
    DutyView {
        name: report.name.into(),
        last_good_ago: report.last_good_ago.map(millis),
        passes: report.passes,
        failures: report.failures,
        running_for: report.running_for.map(millis),
        overdue: report.overdue,
        last_error: report.last_error,
        elsewhere: report.elsewhere,
    }
}
