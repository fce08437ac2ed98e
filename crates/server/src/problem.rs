//! Refusals as the problems of RFC 9457.

pub(crate) use app::{invalid, quote};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::Refusal;
use model::refusal::Class;
use wire::api::Problem;

/// A refusal on its way to the caller.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Refusal);

pub(crate) type Answer<T> = Result<T, Refused>;

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Refused(refusal)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let number = Problem::from(&self.0).status;
        self.with_status(number)
    }
}

impl Refused {
    /// Returns the answer with this status, where HTTP has a closer one than the code's own.
    pub(crate) fn with_status(self, number: u16) -> Response {
        let problem = Problem { status: number, ..Problem::from(&self.0) };
        let body = serde_json::to_vec(&problem).expect("a problem has only string keys");
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status(problem.status);
        // For the pages, which show it to people.
        response.extensions_mut().insert(self.0.clone());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self.0.code.class() {
            Class::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Class::TooMany => {
                let seconds = self.0.details.get("retry_after_s").and_then(serde_json::Value::as_u64);
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.unwrap_or(1)));
            }
            Class::Unauthorized => {
                headers
                    .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"milepost\""));
            }
            _ => {}
        }
        response
    }
}

pub(crate) fn status(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
