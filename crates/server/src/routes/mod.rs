//! The handlers: parse, ask the engine, render.

pub(crate) mod actions;
pub(crate) mod acts;
pub(crate) mod amend;
pub(crate) mod apply;
pub(crate) mod clock;
pub(crate) mod cursors;
pub(crate) mod dead;
pub(crate) mod deliveries;
pub(crate) mod drawing;
pub(crate) mod endpoints;
pub(crate) mod evidence;
pub(crate) mod feed;
pub(crate) mod health;
pub(crate) mod holds;
pub(crate) mod investigations;
pub(crate) mod log;
pub(crate) mod metrics;
mod operation_checks;
pub(crate) mod operations;
pub(crate) mod overdue;
pub(crate) mod pipelines;
pub(crate) mod retire;
pub(crate) mod reviews;
mod schedules;
pub(crate) mod servers;
pub(crate) mod stats;
mod stream;
pub(crate) mod submissions;
pub(crate) mod submit;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod why;
pub(crate) mod workers;

use axum::Extension;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, header};
use model::{Code, Refusal, SubmissionId};

use serde::de::DeserializeOwned;

use crate::access::Visitor;
use crate::app::App;
use crate::problem::{Refused, invalid, quote};

/// Whoever asks; the door has put it there.
pub(crate) type Asking = Extension<Visitor>;

/// The named parts of the address.
#[derive(Debug)]
pub(crate) struct At<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for At<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refused> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(names)) => Ok(At(names)),
            Err(_) => Err(invalid("the address cannot be read; percent-encode its parts as UTF-8").into()),
        }
    }
}

pub(crate) fn etag(revision: u64) -> (HeaderName, HeaderValue) {
    let value =
        HeaderValue::try_from(format!("\"{revision}\"")).expect("digits and quotes are a header value");
    (header::ETAG, value)
}

pub(crate) fn id(text: &str) -> Result<SubmissionId, Refusal> {
    text.parse().map_err(|_| no_submission(text))
}

pub(crate) fn no_submission(id: &str) -> Refusal {
    Refusal::new(Code::UnknownSubmission, format!("no submission {}", quote(id)))
}
