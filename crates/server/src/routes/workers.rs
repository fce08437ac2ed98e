//! `GET /v1/workers`: who has asked this server for work lately.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use engine::WorkerReport;
use model::{Millis, Name};
use wire::api::{WorkerList, WorkerView};

use super::Asking;
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<WorkerList>> {
    Params::read(&uri, &[])?;
    let versions = app.engine.pipelines().current();
    // What it would be given of what the visitor sees: a worker for other pipelines or labels is none of their business.
    let serves = |report: &WorkerReport, task: &str| {
        let asks_for = |name: &Name| report.pipelines.is_empty() || report.pipelines.contains(name);
        let seen = versions.all().filter(|pipeline| asking.sees(&pipeline.name) && asks_for(&pipeline.name));
        asking.may_cover(&report.labels) && seen.into_iter().any(|pipeline| pipeline.has_task(task))
    };
    let now = app.engine.now();
    let seen = app.engine.workers().into_iter().filter_map(|report| {
        let tasks: Vec<_> = report.tasks.iter().filter(|task| serves(&report, task)).cloned().collect();
        let ago = Millis::new(u64::try_from(report.ago.as_millis()).unwrap_or(u64::MAX));
        (!tasks.is_empty()).then(|| WorkerView { worker: report.worker, tasks, last_seen_at: now.minus(ago) })
    });
    Ok(Json(WorkerList { workers: seen.collect() }))
}
