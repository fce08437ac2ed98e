//! Looking at one submission: as it is, its history, its path, and why it is not moving.

use axum::Json;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use wire::api::{EventPage, WhyAnswer};

use super::{Asking, At, etag, id};
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

/// A drawing is looked at, not run: should text of others ever get where it does not belong, it does nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(crate) async fn show(asking: Asking, At(text): At<String>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let view = asking.show(id(&text)?).await?;
    let path = format!("/v1/submissions/{}", view.id);
    let path = HeaderValue::try_from(path).expect("an id is plain ASCII");
    Ok(([etag(view.revision), (header::CONTENT_LOCATION, path)], Json(view)).into_response())
}

pub(crate) async fn events(asking: Asking, At(text): At<String>, uri: Uri) -> Answer<Json<EventPage>> {
    let params = Params::read(&uri, &["after", "limit", "by"])?;
    let (after, limit) = (params.parse("after")?.unwrap_or(0), params.limit()?);
    let id = id(&text)?;
    Ok(Json(match params.get("by") {
        None => asking.events(id, after, limit).await?,
        Some("people") => asking.events_by_people(id, after, limit).await?,
        Some(other) => return Err(invalid(format!("`by` is `people`, not {}", quote(other))).into()),
    }))
}

pub(crate) async fn why(asking: Asking, At(text): At<String>, uri: Uri) -> Answer<Json<WhyAnswer>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.why(id(&text)?).await?))
}

pub(crate) async fn actions(asking: Asking, At(text): At<String>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let answer = asking.actions(id(&text)?).await?;
    Ok(([etag(answer.revision)], Json(answer)).into_response())
}

pub(crate) async fn drawing(asking: Asking, At(text): At<String>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    Ok(svg(asking.drawing(id(&text)?).await?))
}

pub(super) fn svg(drawn: String) -> Response {
    let headers =
        [(header::CONTENT_TYPE, "image/svg+xml; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (headers, drawn).into_response()
}
