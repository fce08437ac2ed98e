//! Bodies: bounded while they are read, strict JSON before they are anything else.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, Method, header};
use futures_util::StreamExt as _;
use model::json::{JsonError, Outline};
use model::{Code, Json, Refusal};
use serde::de::DeserializeOwned;

use crate::media;
use crate::problem::{Refused, invalid};
use crate::shares::{Share, Who};
use crate::state::Server;

pub(crate) const ONE_MAX: usize = 1 << 20;
pub(crate) const MANY_MAX: usize = 4 << 20;
/// A body that is too large is still taken in up to here: a caller who is cut off while sending sees a broken
/// connection, not the problem.
const DRAIN_MAX: usize = 16 << 20;

/// A JSON body of at most `MAX` bytes, as the wire type it must have.
#[derive(Debug)]
pub(crate) struct Given<T, const MAX: usize = ONE_MAX>(pub(crate) T);

impl<T: DeserializeOwned, const MAX: usize> FromRequest<Server> for Given<T, MAX> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &Server) -> Result<Self, Refused> {
        let bytes = read_json(&request, MAX)?;
        strict(&bytes)?;
        Ok(Given(shape(&bytes)?))
    }
}

/// Returns a body that says it is JSON.
pub(crate) fn read_json(request: &Request, max: usize) -> Result<Bytes, Refusal> {
    media::require(request.headers(), &["application/json"])?;
    read(request, max)
}

/// Reads a JSON body that may be left out; returns its bytes, too.
pub(crate) fn read_or_default<T: DeserializeOwned + Default>(
    request: &Request,
) -> Result<(Bytes, T), Refusal> {
    let bytes = read(request, ONE_MAX)?;
    if bytes.is_empty() {
        return Ok((bytes, T::default()));
    }
    media::require(request.headers(), &["application/json"])?;
    strict(&bytes)?;
    let given = shape(&bytes)?;
    Ok((bytes, given))
}

/// Returns the body's bytes, whatever they are.
pub(crate) fn read(request: &Request, max: usize) -> Result<Bytes, Refusal> {
    match request.extensions().get::<Arrived>() {
        Some(arrived) if arrived.length > max => Err(too_large(max)),
        Some(arrived) => Ok(arrived.bytes.clone()),
        None => Ok(Bytes::new()),
    }
}

/// The body of a request, as the door puts it beside the request.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    /// Left out where the body is larger than any call takes.
    bytes: Bytes,
    length: usize,
}

/// Receives the whole body of a request. Nothing else is done for a request before that: whoever sends slowly has a
/// connection and some bytes of their own share, and nobody's place.
pub(crate) async fn receive(
    server: &Server,
    who: &Who,
    request: &mut Request,
) -> Result<Option<Share>, Refusal> {
    let reads_only = matches!(*request.method(), Method::GET | Method::HEAD);
    if reads_only || request.body().is_end_stream() {
        return Ok(None);
    }
    let within = server.options.body_within;
    let announced = announced(request.headers());
    if announced.is_some_and(|length| length > DRAIN_MAX) {
        return Err(too_large(MANY_MAX));
    }
    let body = std::mem::take(request.body_mut());
    let receiving = async {
        let room = announced.map_or(MANY_MAX, |length| length.min(MANY_MAX));
        let mut share = server.bytes.wait(who, room, within).await?;
        let arrived = collect(body, announced).await?;
        share.shrink(arrived.bytes.len());
        Ok((arrived, share))
    };
    let received = tokio::time::timeout(within, receiving).await.unwrap_or_else(|_| {
        let seconds = within.as_secs();
        Err(invalid(format!("the body did not arrive within {seconds} seconds; send it again")))
    });
    let (arrived, share) = received?;
    request.extensions_mut().insert(arrived);
    Ok(Some(share))
}

pub(crate) fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn collect(body: Body, announced: Option<usize>) -> Result<Arrived, Refusal> {
    let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(ROOM_AT_ONCE));
    let mut length = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| invalid("the body broke off; send it again"))?;
        length += chunk.len();
        if length > DRAIN_MAX {
            return Err(too_large(MANY_MAX));
        }
        if length <= MANY_MAX {
            bytes.extend_from_slice(&chunk);
        } else {
            bytes = Vec::new();
        }
    }
    Ok(Arrived { bytes: bytes.into(), length })
}

/// The most memory that is set aside for a body before it comes.
const ROOM_AT_ONCE: usize = 64 << 10;

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
