//! Figures: how much is where, and who is there.

use axum::Json;
use axum::http::Uri;
use wire::api::{ServerList, StatsView, WorkerList};

use super::Asking;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn stats(asking: Asking, uri: Uri) -> Answer<Json<StatsView>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.stats().await?))
}

pub(crate) async fn servers(asking: Asking, uri: Uri) -> Answer<Json<ServerList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.servers().await?))
}

pub(crate) async fn workers(asking: Asking, uri: Uri) -> Answer<Json<WorkerList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.workers()))
}
