//! `/v1/clock`: whether the store's clock is believed, and saying that it is right.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use engine::ClockReport;
use wire::api::ClockView;

use super::Asking;
use crate::app::App;
use crate::conditions;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn show(State(app): State<App>, _asking: Asking, uri: Uri) -> Answer<Json<ClockView>> {
    Params::read(&uri, &[])?;
    Ok(Json(view(&app.engine.clock())))
}

pub(crate) async fn confirm(
    State(app): State<App>,
    asking: Asking,
    headers: HeaderMap,
) -> Answer<Json<ClockView>> {
    conditions::never_once(&headers)?;
    let confirmed = app.engine.by(&asking.caller).confirm_clock().await?;
    tracing::info!(now = %confirmed.now, "the clock was confirmed");
    Ok(Json(view(&confirmed)))
}

fn view(report: &ClockReport) -> ClockView {
    let ClockReport { now, known, doubt } = report;
    ClockView { now: *now, known_at: *known, doubt: doubt.map(|doubt| doubt.to_string()) }
}
