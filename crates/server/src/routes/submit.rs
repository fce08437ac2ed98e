//! Submitting, one or many.

use app::Submitting;
use axum::Json;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::Refusal;
use wire::api::SubmitAnswer;

use super::{Asking, At, etag};
use crate::problem::Answer;
use crate::{body, trace};

/// Larger bodies are read beside the threads that answer.
const ASIDE_BYTES: usize = 64 << 10;

pub(crate) async fn submit(asking: Asking, At(pipeline): At<String>, request: Request) -> Answer<Response> {
    // Before the body is read, which takes its time.
    asking.check_submits_to(&pipeline)?;
    let proof = asking.proof(request.uri())?;
    let bytes = body::read_json(&request, body::MANY_MAX)?;
    let (bytes, many) = is_of_many(&asking, bytes).await?;
    let route = format!("POST /v1/pipelines/{pipeline}/submissions");
    let once = asking.once_of(request.headers(), &route, &bytes)?;
    let terms = Submitting { once, proof, trace: trace::of(request.headers()) };
    if many {
        return Ok(Json(asking.submit_many(&pipeline, body::shape(&bytes)?, terms).await?).into_response());
    }
    if bytes.len() > body::ONE_MAX {
        return Err(body::too_large(body::ONE_MAX).into());
    }
    let answer = asking.submit(&pipeline, body::shape(&bytes)?, terms).await?;
    let status = if answer.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, [location(&answer), etag(answer.revision)], Json(answer)).into_response())
}

/// Checks that a body is strict JSON, and tells whether it has many submissions. Reading a large one takes long enough for
/// others to notice.
async fn is_of_many(asking: &Asking, bytes: Bytes) -> Result<(Bytes, bool), Refusal> {
    let look = |bytes: &Bytes| Ok(body::strict(bytes)?.has("submissions"));
    if bytes.len() <= ASIDE_BYTES {
        let many = look(&bytes)?;
        return Ok((bytes, many));
    }
    let caller = &asking.visitor().caller.name;
    asking.server.engine.aside(caller, move || look(&bytes).map(|many| (bytes, many))).await?
}

fn location(answer: &SubmitAnswer) -> (HeaderName, HeaderValue) {
    let path = format!("/v1/submissions/{}", answer.id);
    (header::LOCATION, HeaderValue::try_from(path).expect("an id is plain ASCII"))
}
