//! The audit log as static files, and what its operators ask of it.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use model::{Code, Refusal};
use wire::api::{ActPage, AuditView, ForkBody, LogKeyAnswer, LogKeyBody};

use super::{Asking, At};
use crate::body::Given;
use crate::problem::Answer;
use crate::query::Params;
use crate::state::Server;

const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";
/// The caching of files that never change: they may be kept for ever.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// The caching of files that the next checkpoint replaces.
const FOR_NOW: &str = "no-cache";

fn file(content_type: &'static str, caching: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
    ];
    (headers, body.into()).into_response()
}

/// Serves the newest checkpoint, which is for everybody.
pub(crate) async fn checkpoint(State(server): State<Server>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let note = server.engine.checkpoint().await?;
    let note =
        note.ok_or_else(|| Refusal::new(Code::UnknownTile, "the log has no `checkpoint`, or not yet"))?;
    Ok(file(TEXT, FOR_NOW, note))
}

/// Serves the keys of the log, one a line, which are for everybody.
pub(crate) async fn keys(State(server): State<Server>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let lines: String = server.engine.log_keys()?.iter().map(|key| format!("{key}\n")).collect();
    Ok(file(TEXT, FOR_NOW, lines))
}

pub(crate) async fn tile(asking: Asking, At(rest): At<String>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    Ok(file(BYTES, FOR_EVER, asking.tile(&format!("tile/{rest}")).await?))
}

pub(crate) async fn definition(asking: Asking, At(digest): At<String>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let pipeline = asking.definition(&digest).await?;
    Ok(file("application/json", FOR_EVER, pipeline.definition.as_str().to_owned()))
}

pub(crate) async fn show(asking: Asking, uri: Uri) -> Answer<Json<AuditView>> {
    Params::read(&uri, &[])?;
    Ok(Json(asking.log_standing().await?))
}

pub(crate) async fn records(asking: Asking, uri: Uri) -> Answer<Json<ActPage>> {
    let params = Params::read(&uri, &["limit", "after"])?;
    Ok(Json(asking.log_records(params.parse("after")?, params.limit()?).await?))
}

pub(crate) async fn fork(asking: Asking, Given(body): Given<ForkBody>) -> Answer<Json<AuditView>> {
    Ok(Json(asking.fork(body).await?))
}

pub(crate) async fn change_keys(
    asking: Asking,
    Given(body): Given<LogKeyBody>,
) -> Answer<Json<LogKeyAnswer>> {
    Ok(Json(asking.change_log_keys(body).await?))
}
