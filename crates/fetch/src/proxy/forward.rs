//! Plain HTTP: a request in full is made again, by the rules of every request.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, TRANSFER_ENCODING};
use hyper::http::uri::Scheme;
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::Instant;

use super::Shared;
use super::caller::{Answer, Refused};
use crate::error::Error;
use crate::exchange::OF_ONE_HOP;
use crate::request;
use crate::upload::Upload;

pub(super) async fn forward(shared: &Arc<Shared>, request: Request<Incoming>) -> Result<Answer, Refused> {
    let (head, body) = request.into_parts();
    if head.uri.scheme() != Some(&Scheme::HTTP) {
        let reason = "a proxy takes CONNECT, and http:// addresses in full".to_owned();
        return Err(Refused { status: StatusCode::BAD_REQUEST, reason });
    }
    if !matches!(head.method, Method::GET | Method::HEAD | Method::POST) {
        let reason = format!("{} is not passed on: GET, HEAD and POST are", head.method);
        return Err(Refused { status: StatusCode::METHOD_NOT_ALLOWED, reason });
    }
    let url = head.uri.to_string();
    let host = head.uri.host().unwrap_or_default().to_owned();
    let upload = Upload::of(body.map_err(|error| {
        Error::beneath(&error).unwrap_or_else(|| Error::Upload("the caller stopped sending it".to_owned()))
    }));
    let limits = request::Limits {
        within: shared.ends_at.saturating_duration_since(Instant::now()),
        idle: shared.limits.idle,
        body_bytes_max: shared.limits.bytes_max,
    };
    let headers = end_to_end(head.headers);
    let passed_on = request::Request::new(head.method, url, upload).headers(headers).limits(limits);
    let (head, body) = shared.fetch.send(passed_on).await.map_err(|error| {
        shared.failed(&host, &error);
        Refused::from(error)
    })?;
    let told = shared.clone();
    let body = body.map_err(move |error| {
        told.failed(&host, &error);
        error
    });
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = StatusCode::from_u16(head.status).map_err(|_| Refused::from(Error::Garbled))?;
    *answer.headers_mut() = end_to_end(head.headers);
    Ok(answer)
}

/// Leaves out what was said to this side alone: also what the other side named as such.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // How long a message is concerns all who read it.
        .filter(|name| *name != CONTENT_LENGTH && *name != TRANSFER_ENCODING)
        .collect();
    for name in OF_ONE_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    headers
}
