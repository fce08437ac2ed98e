//! `GET /v1/workers`: who has asked this server for work lately.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use engine::WorkerReport;
use model::Millis;
use model::api::{WorkerList, WorkerView};

use super::Asking;
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<WorkerList>> {
    Params::read(&uri, &[])?;
    let versions = app.engine.pipelines().current();
    let sees =
        |task: &str| versions.all().any(|pipeline| asking.sees(&pipeline.name) && pipeline.has_task(task));
    let now = app.engine.now();
    let seen = app.engine.workers().into_iter().filter_map(|report| {
        let WorkerReport { worker, tasks, ago } = report;
        let tasks: Vec<_> = tasks.into_iter().filter(|task| sees(task)).collect();
        let ago = Millis::new(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX));
        (!tasks.is_empty()).then(|| WorkerView { worker, tasks, last_seen_at: now.minus(ago) })
    });
    Ok(Json(WorkerList { workers: seen.collect() }))
}
