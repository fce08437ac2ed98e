//! Batches and services as people ask for them: by header, by data change, by service.

use client::{Client, Filter, Page};
use serde::Serialize;
use serde_json::Value;
use wire::api::{SubmissionPage, SubmissionView};
use wire::{Status, SubmissionId, Time};
use worker::Error;

use crate::batch::NO_SERVICE;

pub(crate) const PIPELINE: &str = "ledger-batch";
/// What the name of a data change begins with.
const DATA_CHANGE: &str = "dcid:";
/// Services shown at a time, of each state that keeps a lane.
const SERVICES_MAX: usize = 100;
/// Waiting batches that are counted, of each service.
const WAITING_MAX: usize = 100;
/// The states in which a batch keeps the others of its service waiting.
const KEEPING: [&str; 3] = ["SUBMITTING", "PENDING", "DELAYED"];

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

/// A service with a batch under way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ServiceView {
    pub(crate) service_id: String,
    /// The batch that the others wait for.
    pub(crate) holder: BatchView,
    /// The number of batches that wait behind it, up to a bound.
    pub(crate) waiting: usize,
    /// Set if there are more than were counted.
    pub(crate) more_waiting: bool,
    /// The reasons of the holds that cover it.
    pub(crate) holds: Vec<String>,
}

/// Services, those in trouble first.
#[derive(Debug, Serialize)]
pub(crate) struct Services {
    pub(crate) services: Vec<ServiceView>,
    /// Set if there are more: name one to see it.
    pub(crate) more: bool,
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

/// Lists services with a batch under way: one of them, or as many as are shown at a time.
pub(crate) async fn services(client: &Client, service: Option<&str>) -> Result<Services, Error> {
    let page = Page { limit: Some(SERVICES_MAX), after: None };
    let (mut holders, mut more) = (Vec::new(), false);
    for state in KEEPING {
        let filter = in_state(state, service);
        let found = client.submissions(&filter, &page).await?;
        more |= found.next.is_some();
        holders.extend(found.submissions);
    }
    holders.sort_by_key(|holder| (holder.status != Status::Dead, holder.error.is_none(), holder.entered_at));
    more |= holders.len() > SERVICES_MAX;
    holders.truncate(SERVICES_MAX);
    let mut services = Vec::with_capacity(holders.len());
    for holder in &holders {
        let lane = holder.lane.as_ref().map_or(NO_SERVICE, |lane| &*lane.key);
        let page = Page { limit: Some(WAITING_MAX), after: None };
        let waiting = client.submissions(&in_state("QUEUED", Some(lane)), &page).await?;
        services.push(ServiceView {
            service_id: lane.to_owned(),
            holder: view(holder),
            waiting: waiting.submissions.len(),
            more_waiting: waiting.next.is_some(),
            holds: holder.holds.iter().map(|hold| hold.reason.clone()).collect(),
        });
    }
    Ok(Services { services, more })
}

fn in_state(state: &str, service: Option<&str>) -> Filter {
    Filter {
        pipeline: Some(PIPELINE.to_owned()),
        state: Some(state.to_owned()),
        lane: service.map(str::to_owned),
        ..Filter::default()
    }
}

fn view(submission: &SubmissionView) -> BatchView {
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
