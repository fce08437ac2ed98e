//! Reviews that people take on, hand over and let go; and notes.

use axum::extract::Request;
use axum::response::Response;

use super::{Asking, At, id, shown};
use crate::body;
use crate::problem::Answer;

pub(crate) async fn claim(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    let id = id(&text)?;
    let (bytes, given) = body::read_or_default(&request)?;
    let terms = asking.terms(&request, &format!("POST /v1/submissions/{id}/review/claim"), &bytes)?;
    shown(asking.claim_review(id, given, terms).await?)
}

pub(crate) async fn hand_over(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    let id = id(&text)?;
    let bytes = body::read(&request, body::ONE_MAX)?;
    let terms = asking.terms(&request, &format!("POST /v1/submissions/{id}/review/hand-over"), &bytes)?;
    shown(asking.hand_over_review(id, body::shape(&bytes)?, terms).await?)
}

pub(crate) async fn release(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    let id = id(&text)?;
    let (bytes, _) = body::read_or_default::<ReleaseBody>(&request)?;
    let terms = asking.terms(&request, &format!("POST /v1/submissions/{id}/review/release"), &bytes)?;
    shown(asking.release_review(id, terms).await?)
}

pub(crate) async fn note(asking: Asking, At(text): At<String>, request: Request) -> Answer<Response> {
    let id = id(&text)?;
    let bytes = body::read(&request, body::ONE_MAX)?;
    let terms = asking.terms(&request, &format!("POST /v1/submissions/{id}/notes"), &bytes)?;
    shown(asking.note(id, body::shape(&bytes)?, terms).await?)
}

/// Nothing is said with a release.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseBody {}
