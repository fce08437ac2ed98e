//! Endpoints of webhooks, and their secrets.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use model::Refusal;
use serde::Deserialize;
use wire::api::{EndpointBody, EndpointGiven, EndpointList, EndpointView};

use super::{Asking, At, created};
use crate::body::{self, Given};
use crate::preconditions;
use crate::problem::Answer;
use crate::query::Params;

pub(crate) async fn create(
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<EndpointBody>,
) -> Answer<Response> {
    preconditions::never_once(&headers)?;
    let given = asking.create_endpoint(body).await?;
    created(format!("/v1/endpoints/{}", given.about.id), given)
}

pub(crate) async fn list(asking: Asking, uri: Uri) -> Answer<Json<EndpointList>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.endpoints().await?))
}

pub(crate) async fn rotate(
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Json<EndpointGiven>> {
    nothing_more(&request)?;
    Ok(Json(asking.rotate_endpoint(&id).await?))
}

pub(crate) async fn retire(
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Json<EndpointView>> {
    nothing_more(&request)?;
    Ok(Json(asking.retire_endpoint(&id).await?))
}

pub(crate) async fn enable(
    asking: Asking,
    At(id): At<String>,
    request: Request,
) -> Answer<Json<EndpointView>> {
    nothing_more(&request)?;
    Ok(Json(asking.enable_endpoint(&id).await?))
}

pub(crate) async fn remove(
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<EndpointView>> {
    preconditions::never_once(&headers)?;
    Ok(Json(asking.remove_endpoint(&id).await?))
}

/// A body without anything to say, as a body or as none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn nothing_more(request: &Request) -> Result<(), Refusal> {
    preconditions::never_once(request.headers())?;
    let (_, Nothing {}) = body::read_or_default(request)?;
    Ok(())
}
