//! `GET /v1/stats`: how much is where, and how the engine's own chores are doing.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use engine::core::Tally;
use engine::{Condition, DutyReport};
use model::Millis;
use model::api::{DutyView, PlaceCount, ReceivedView, StatsView};
use store::Count;

use super::{Asking, feed};
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn show(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<StatsView>> {
    Params::read(&uri, &[])?;
    let hint = *app.engine.recorded().borrow();
    let read = app.engine.read(move |store| Ok((store.counts()?, feed::newest(store, hint)?)));
    let (counts, last_event) = read.await?;
    let mut counts: Vec<_> = counts
        .into_iter()
        .filter(|count| asking.labels.is_empty() && asking.sees(&count.pipeline))
        .map(place)
        .collect();
    counts.sort();
    let duties = app.engine.duties().into_iter().map(duty).collect();
    let condition = condition(&app.engine.condition().borrow()).to_owned();
    let Tally { submitted, merged, refused } = app.engine.received();
    let received = ReceivedView { submitted, merged, refused };
    Ok(Json(StatsView { condition, last_event, counts, duties, received }))
}

fn condition(condition: &Condition) -> &'static str {
    match condition {
        Condition::Running => "running",
        Condition::Unreachable => "unreachable",
        Condition::Drained => "drained",
        Condition::Broken(_) => "broken",
    }
}

fn place(count: Count) -> PlaceCount {
    let Count { pipeline, state, status, count } = count;
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
