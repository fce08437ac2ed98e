//! The surroundings of a submission: its way so far, its children, the messages about it.

use app::DeliveryQuery;
use model::owed::DELIVERY;
use wire::api::{DeliveryView, EventView, SubmissionView};
use wire::{Millis, Refusal};

use crate::ask::Visit;
use crate::fields::address;
use crate::look::{Eye, span};
use crate::pages::rows::Rows;
use crate::parts::{Id, When, list, number, of_status};

/// The children that the page shows; the list has all.
const CHILDREN_MAX: usize = 8;
/// The messages that the page shows; the list has all.
const DELIVERIES_MAX: usize = 8;
/// The newest stops of the way that are shown at once.
const STOPS_MAX: usize = 14;

pub(super) struct Children {
    pub(super) total: String,
    pub(super) open: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    pub(super) bar: Vec<Part>,
    pub(super) list: String,
    pub(super) rows: Rows,
}

/// A part of a bar: where it begins and how wide it is, in a hundred.
pub(super) struct Part {
    pub(super) tone: &'static str,
    pub(super) x: f64,
    pub(super) width: f64,
}

/// Lays children side by side by how they fare. Those that are still to be made leave room.
fn bar(counted: wire::submission::Children) -> Vec<Part> {
    let all = [
        ("good", counted.succeeded),
        ("bad", counted.failed),
        ("off", counted.cancelled),
        ("open", counted.open),
    ];
    let mut x = 0.0;
    let part = |(tone, count): (&'static str, u64)| {
        let width = count as f64 * 100.0 / counted.total.max(1) as f64;
        let part = Part { tone, x, width };
        x += width;
        part
    };
    all.into_iter().filter(|(_, count)| *count > 0).map(part).collect()
}

/// A message about the submission.
pub(super) struct Delivery {
    pub(super) id: Id,
    pub(super) name: String,
    pub(super) channel: String,
    pub(super) to: String,
    pub(super) status: &'static str,
    pub(super) tone: &'static str,
    pub(super) error: String,
    pub(super) next_try: Option<When>,
}

pub(super) struct Deliveries {
    pub(super) deliveries: Vec<Delivery>,
    pub(super) all: String,
}

/// The states it went through, in order.
pub(super) struct Way {
    pub(super) stops: Vec<Stop>,
    /// The number of stops before those.
    pub(super) before: usize,
}

pub(super) struct Stop {
    pub(super) state: String,
    pub(super) trigger: String,
    /// The time it stayed; empty where it is now.
    pub(super) stayed: String,
}

/// Tells the states that events lead through, and how long it stayed in each.
pub(super) fn way(events: &[EventView]) -> Way {
    let moves: Vec<&EventView> =
        events.iter().filter(|event| event.from.as_deref() != Some(&*event.to)).collect();
    let ends = moves.iter().skip(1).map(|event| Some(event.at)).chain([None]);
    let stop = |(event, left): (&&EventView, Option<wire::Time>)| {
        let stayed = left.map(|left| left.millis().saturating_sub(event.at.millis()));
        Stop {
            state: event.to.to_string(),
            trigger: event.trigger.to_string(),
            stayed: stayed
                .map(|millis| span(Millis::new(u64::try_from(millis).unwrap_or(0))))
                .unwrap_or_default(),
        }
    };
    let mut stops: Vec<Stop> = moves.iter().zip(ends).map(stop).collect();
    let before = stops.len().saturating_sub(STOPS_MAX);
    stops.drain(..before);
    Way { stops, before }
}

/// Returns the messages about a submission, where they are for this reader.
pub(super) async fn deliveries(visit: &Visit, eye: &Eye, view: &SubmissionView) -> Option<Deliveries> {
    if !visit.app.visitor().sees(DELIVERY) || &*view.pipeline == DELIVERY {
        return None;
    }
    let query =
        DeliveryQuery { submission: Some(view.id), limit: DELIVERIES_MAX, ..DeliveryQuery::default() };
    let found = visit.app.deliveries(query).await.ok()?.deliveries;
    let all = address("/console/deliveries", [("submission", view.id.to_string().as_str())]);
    let deliveries: Vec<Delivery> = found.iter().map(|known| delivery(eye, known)).collect();
    (!deliveries.is_empty()).then_some(Deliveries { deliveries, all })
}

fn delivery(eye: &Eye, known: &DeliveryView) -> Delivery {
    let text = |name: &Option<wire::Name>| name.as_deref().unwrap_or_default().to_owned();
    let error = known.error.as_ref().map(|error| format!("{}: {}", error.code, error.message));
    Delivery {
        id: Id::of(known.id),
        name: text(&known.name),
        channel: text(&known.channel),
        to: known.to.clone().unwrap_or_default(),
        status: known.status.as_str(),
        tone: of_status(known.status),
        error: error.unwrap_or_default(),
        next_try: eye.when_if(known.next_try_at),
    }
}

pub(super) async fn children(
    visit: &Visit,
    eye: &Eye,
    view: &SubmissionView,
) -> Result<Option<Children>, Refusal> {
    let counted = view.children;
    if counted.is_none() {
        return Ok(None);
    }
    let machine = visit.app.machine(&view.pipeline, Some(view.version)).ok();
    let child = machine.as_ref().and_then(|pipeline| pipeline.child()).cloned();
    let query =
        app::Query { pipeline: child, parent: Some(view.id), limit: CHILDREN_MAX, ..app::Query::default() };
    // A token may be for the parent's pipeline alone.
    let rows = visit.app.list(query).await.map(|page| Rows::of(eye, &page.submissions));
    Ok(Some(Children {
        total: number(counted.total),
        open: counted.open,
        succeeded: counted.succeeded,
        failed: counted.failed,
        cancelled: counted.cancelled,
        bar: bar(counted),
        list: list("", &[("parent", &view.id.to_string())]),
        rows: rows.unwrap_or(Rows { rows: Vec::new(), picks: false }),
    }))
}
