//! The handlers: parse, ask the application, render.

pub(crate) mod actions;
pub(crate) mod clock;
pub(crate) mod cursors;
pub(crate) mod deliveries;
pub(crate) mod endpoints;
pub(crate) mod entries;
pub(crate) mod evidence;
pub(crate) mod export;
pub(crate) mod feed;
pub(crate) mod figures;
pub(crate) mod health;
pub(crate) mod holds;
pub(crate) mod lists;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod operations;
pub(crate) mod pipelines;
pub(crate) mod reviews;
mod stream;
pub(crate) mod submissions;
pub(crate) mod submit;
pub(crate) mod tasks;
pub(crate) mod tokens;

use std::ops::Deref;

use app::{App, Once, Terms, Visitor};
use axum::Json;
use axum::extract::{FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use model::{Code, Refusal, SubmissionId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::api::SubmissionView;

use crate::preconditions;
use crate::problem::{Answer, Refused, invalid, quote};
use crate::query::Params;
use crate::state::Server;

/// The application, as it is open to whoever the door let in.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) server: Server,
    app: App,
}

impl Deref for Asking {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<Server> for Asking {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Refused> {
        let visitor = parts.extensions.get::<Visitor>().cloned().ok_or_else(|| {
            Refusal::new(Code::Internal, "this route is open to everybody and asks in nobody's name")
        })?;
        Ok(Asking { app: App::new(server.engine.clone(), visitor), server: server.clone() })
    }
}

impl Asking {
    /// Returns the terms that a request sets by its headers and its query.
    fn terms(&self, request: &Request, route: &str, body: &[u8]) -> Result<Terms, Refusal> {
        Ok(Terms {
            proof: self.proof(request.uri())?,
            once: self.once_of(request.headers(), route, body)?,
            if_match: preconditions::if_match(request.headers())?,
        })
    }

    /// Tells whether a caller wants its answer only once what it did is under a signed checkpoint: `?wait=proof`.
    fn proof(&self, uri: &Uri) -> Result<bool, Refusal> {
        match Params::read(uri, &["wait"])?.get("wait") {
            None => Ok(false),
            // Where nothing is ever proven, nothing is begun.
            Some("proof") => self.check_proves().map(|()| true),
            Some(other) => Err(invalid(format!("`wait` is `proof`, not {}", quote(other)))),
        }
    }

    /// Returns the mark by which a repeat of a request is known, where it has an `Idempotency-Key`. `route` is method and
    /// path: the same key elsewhere is another.
    fn once_of(&self, headers: &HeaderMap, route: &str, body: &[u8]) -> Result<Option<Once>, Refusal> {
        let key = preconditions::idempotency_key(headers)?;
        key.map(|key| self.once(route, key, body, self.server.options.answers_max)).transpose()
    }
}

/// The named parts of the address.
#[derive(Debug)]
pub(crate) struct At<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Server> for At<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Refused> {
        match Path::from_request_parts(parts, server).await {
            Ok(Path(names)) => Ok(At(names)),
            Err(_) => Err(invalid("the address cannot be read; percent-encode its parts as UTF-8").into()),
        }
    }
}

fn id(text: &str) -> Result<SubmissionId, Refusal> {
    let unknown = || Refusal::new(Code::UnknownSubmission, format!("no submission {}", quote(text)));
    text.parse().map_err(|_| unknown())
}

fn etag(revision: u64) -> (HeaderName, HeaderValue) {
    let value =
        HeaderValue::try_from(format!("\"{revision}\"")).expect("digits and quotes are a header value");
    (header::ETAG, value)
}

/// Answers with a submission and its ETag.
fn shown(view: SubmissionView) -> Answer<Response> {
    Ok(([etag(view.revision)], Json(view)).into_response())
}

/// Answers that something was made, and where it is from now on. `path` ends with an id of ours, which is plain ASCII.
fn created(path: String, body: impl Serialize) -> Answer<Response> {
    let location = HeaderValue::try_from(path).expect("an id is plain ASCII");
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(body)).into_response())
}
