//! Workers that asked this server for work lately.

use engine::WorkerReport;
use model::{Millis, Name};
use wire::api::{WorkerList, WorkerView};

use crate::App;

impl App {
    /// Lists workers by what they would be given of what the visitor sees: one for other pipelines or labels is none of the
    /// visitor's business.
    #[must_use]
    pub fn workers(&self) -> WorkerList {
        let versions = self.engine.pipelines().current();
        let visitor = &self.visitor;
        let serves = |report: &WorkerReport, task: &str| {
            let asks_for = |name: &Name| report.pipelines.is_empty() || report.pipelines.contains(name);
            let seen =
                versions.all().filter(|pipeline| visitor.sees(&pipeline.name) && asks_for(&pipeline.name));
            visitor.may_cover(&report.labels) && seen.into_iter().any(|pipeline| pipeline.has_task(task))
        };
        let now = self.engine.now();
        let seen = self.engine.workers().into_iter().filter_map(|report| {
            let tasks: Vec<_> = report.tasks.iter().filter(|task| serves(&report, task)).cloned().collect();
            let ago = Millis::new(u64::try_from(report.ago.as_millis()).unwrap_or(u64::MAX));
            (!tasks.is_empty()).then(|| WorkerView {
                worker: report.worker,
                tasks,
                last_seen_at: now.minus(ago),
            })
        });
        WorkerList { workers: seen.collect() }
    }
}
