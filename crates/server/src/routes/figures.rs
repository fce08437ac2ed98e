//! Figures: how much is where, and who is there.

use axum::Json;
use axum::http::Uri;
use wire::api::{FiguresView, LanePage, ServerList, StatsView, WorkerList};

use super::{Asking, At};
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn stats(asking: Asking, uri: Uri) -> Answer<Json<StatsView>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.stats().await?))
}

pub(crate) async fn fleet(asking: Asking, uri: Uri) -> Answer<Json<FiguresView>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.figures().await?))
}

pub(crate) async fn lanes(asking: Asking, At(pipeline): At<String>, uri: Uri) -> Answer<Json<LanePage>> {
    let params = Params::read(&uri, &["limit", "after"])?;
    Ok(Json(asking.lanes(pipeline.into(), params.name("after"), params.limit()?).await?))
}

pub(crate) async fn servers(asking: Asking, uri: Uri) -> Answer<Json<ServerList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.servers().await?))
}

pub(crate) async fn workers(asking: Asking, uri: Uri) -> Answer<Json<WorkerList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.workers()))
}
