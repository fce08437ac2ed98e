//! The store's clock: whether it is believed, and saying that it is right.

use axum::Json;
use axum::http::{HeaderMap, Uri};
use wire::api::ClockView;

use super::Asking;
use crate::preconditions;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn show(asking: Asking, uri: Uri) -> Answer<Json<ClockView>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.clock()))
}

pub(crate) async fn confirm(asking: Asking, headers: HeaderMap) -> Answer<Json<ClockView>> {
    preconditions::never_once(&headers)?;
    Ok(Json(asking.confirm_clock().await?))
}
