//! The trace a request is part of.

use axum::http::HeaderMap;
use model::Trace;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// Reads the trace from the headers, if they say it well. Two `traceparent` are none.
pub(crate) fn of(headers: &HeaderMap) -> Option<Trace> {
    let mut parents = headers.get_all(PARENT).iter();
    let (Some(parent), None) = (parents.next(), parents.next()) else { return None };
    let states = headers.get_all(STATE).iter().map(|value| value.to_str().unwrap_or_default());
    Trace::read(parent.to_str().ok()?, states)
}
