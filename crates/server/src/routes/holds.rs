//! Holds: placing, listing and releasing them.

use axum::Json;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use wire::api::{HoldBody, HoldList, HoldView};

use super::{Asking, At, created};
use crate::body::Given;
use crate::preconditions;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn place(
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<HoldBody>,
) -> Answer<Response> {
    preconditions::never_once(&headers)?;
    let view = asking.hold(body).await?;
    created(format!("/v1/holds/{}", view.id), view)
}

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<HoldList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.holds().await?))
}

pub(crate) async fn release(
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<HoldView>> {
    preconditions::never_once(&headers)?;
    Ok(Json(asking.release(&id).await?))
}
