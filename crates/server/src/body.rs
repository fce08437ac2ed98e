//! Bodies: bounded while they are read, strict JSON before they are anything else.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use futures_util::StreamExt as _;
use model::json::{JsonError, Outline};
use model::{Code, Json, Refusal};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::media;
use crate::problem::{Refused, invalid};

pub(crate) const ONE_MAX: usize = 1 << 20;
pub(crate) const MANY_MAX: usize = 4 << 20;
/// A body that is too large is still taken in up to here: a caller who is cut off while sending sees a broken
/// connection, not the problem.
const DRAIN_MAX: usize = 16 << 20;

/// A JSON body of at most `MAX` bytes, as the wire type it must have.
#[derive(Debug)]
pub(crate) struct Given<T, const MAX: usize = ONE_MAX>(pub(crate) T);

impl<T: DeserializeOwned, const MAX: usize> FromRequest<App> for Given<T, MAX> {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refused> {
        let bytes = read_json(request, app, MAX).await?;
        strict(&bytes)?;
        Ok(Given(shape(&bytes)?))
    }
}

/// A body that says it is JSON.
pub(crate) async fn read_json(request: Request, app: &App, max: usize) -> Result<Bytes, Refusal> {
    media::require(request.headers(), &["application/json"])?;
    read(request, app, max).await
}

/// A JSON body that may be left out, and its bytes.
pub(crate) async fn read_or_default<T: DeserializeOwned + Default>(
    request: Request,
    app: &App,
) -> Result<(Bytes, T), Refusal> {
    let headers = request.headers().clone();
    let bytes = read(request, app, ONE_MAX).await?;
    if bytes.is_empty() {
        return Ok((bytes, T::default()));
    }
    media::require(&headers, &["application/json"])?;
    strict(&bytes)?;
    let given = shape(&bytes)?;
    Ok((bytes, given))
}

/// The body's bytes, whatever they are.
pub(crate) async fn read(request: Request, app: &App, max: usize) -> Result<Bytes, Refusal> {
    let within = app.options.body_within;
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(within, collect(&parts.headers, body, max)).await {
        Ok(collected) => collected,
        Err(_) => Err(invalid(format!(
            "the body did not arrive within {} seconds; send it again",
            within.as_secs()
        ))),
    }
}

async fn collect(headers: &HeaderMap, body: Body, max: usize) -> Result<Bytes, Refusal> {
    let announced = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > DRAIN_MAX) {
        return Err(too_large(max));
    }
    let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(max));
    let mut length = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| invalid("the body broke off; send it again"))?;
        length += chunk.len();
        if length > DRAIN_MAX {
            return Err(too_large(max));
        }
        if length <= max {
            bytes.extend_from_slice(&chunk);
        }
    }
    if length > max { Err(too_large(max)) } else { Ok(bytes.into()) }
}

pub(crate) fn too_large(max: usize) -> Refusal {
    Refusal::new(Code::TooLarge, format!("the body is over {max} bytes; send less, or in parts"))
        .with("max_bytes", max)
}

/// Refuses what `serde_json` would let pass: duplicate keys at any depth, and more depth than anyone needs.
pub(crate) fn strict(bytes: &[u8]) -> Result<Outline<'_>, Refusal> {
    Json::check_bytes(bytes).map_err(|error| not_json(&error))
}

fn not_json(error: &JsonError) -> Refusal {
    Refusal::new(Code::InvalidJson, format!("the body is not strict JSON: {error}"))
        .with("line", error.line)
        .with("column", error.column)
}

/// Reads strict JSON as a wire type. The type's raw documents keep the very bytes.
pub(crate) fn shape<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
        invalid(format!("the body has another shape than this call takes: {message}"))
            .with("line", line)
            .with("column", column)
    })
}
