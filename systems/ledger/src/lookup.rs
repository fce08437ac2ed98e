//! Batches as people ask for them: by header, by data change.

use client::{Client, Filter, Page};
use serde::Serialize;
use serde_json::Value;
use wire::api::{SubmissionPage, SubmissionView};
use wire::{Status, SubmissionId, Time};
use worker::Error;

use crate::batch::NO_SERVICE;

pub(crate) const PIPELINE: &str = "ledger-batch";
/// The beginning of the name of a data change.
const DATA_CHANGE: &str = "dcid:";
/// A batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BatchView {
    pub(crate) id: SubmissionId,
    pub(crate) service_id: Option<String>,
    pub(crate) batch_header: String,
    pub(crate) data_change_id: Option<String>,
    pub(crate) state: String,
    pub(crate) status: Status,
    /// The pair by which the queuer's document knows the state.
    pub(crate) submitted: bool,
    pub(crate) batch_status: Option<&'static str>,
    /// The code and the words of the last error.
    pub(crate) error: Option<String>,
    /// Set once it has been in its state for longer than its service level allows.
    pub(crate) overdue: bool,
    pub(crate) created_at: Time,
    pub(crate) entered_at: Time,
}

/// A page of batches, newest first.
#[derive(Debug, Serialize)]
pub(crate) struct Batches {
    pub(crate) batches: Vec<BatchView>,
    /// The value to give as `after` for the next page; null at the end.
    pub(crate) next: Option<SubmissionId>,
}

/// Finds batches by header or data change, also those that have ended.
pub(crate) async fn batches(
    client: &Client,
    name: &str,
    after: Option<SubmissionId>,
) -> Result<Batches, Error> {
    let label = if name.starts_with(DATA_CHANGE) { "dcid" } else { "header" };
    let mut filter = Filter { pipeline: Some(PIPELINE.to_owned()), ..Filter::default() };
    filter.labels.insert(label.to_owned(), name.to_owned());
    let SubmissionPage { submissions, next } =
        client.submissions(&filter, &Page { limit: None, after }).await?;
    Ok(Batches { batches: submissions.iter().map(view).collect(), next })
}

/// Shows a submission as a batch.
pub(crate) fn view(submission: &SubmissionView) -> BatchView {
    let label = |name: &str, none: &str| {
        submission.labels.get(name).map(|value| value.to_string()).filter(|value| value != none)
    };
    let (submitted, batch_status) = seen(submission);
    BatchView {
        id: submission.id,
        service_id: label("service", NO_SERVICE),
        batch_header: label("header", "").unwrap_or_default(),
        data_change_id: label("dcid", "none"),
        state: submission.state.to_string(),
        status: submission.status,
        submitted,
        batch_status,
        error: submission.error.as_ref().map(|error| format!("{}: {}", error.code, error.message)),
        overdue: submission.sla.iter().any(|level| level.late),
        created_at: submission.created_at,
        entered_at: submission.entered_at,
    }
}

/// Returns the state of a batch in the words of the queuer's document.
fn seen(submission: &SubmissionView) -> (bool, Option<&'static str>) {
    match &*submission.state {
        "SUBMITTING" => (submission.lease.is_some(), None),
        "PENDING" => (true, Some("Pending")),
        "UNKNOWN" => (false, Some("Unknown")),
        "DELAYED" => (false, Some("Delayed")),
        "VALID" => (true, Some("Valid")),
        "COMMITTED" | "REORGED" => (true, Some("Committed")),
        "INVALID" => (true, Some("Invalid")),
        _ => (false, None),
    }
}

/// Reads payloads: one, or a list of them.
pub(crate) fn payloads(json: Value) -> Vec<Value> {
    match json {
        Value::Array(payloads) => payloads,
        payload => vec![payload],
    }
}
