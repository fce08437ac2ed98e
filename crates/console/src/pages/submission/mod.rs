//! The page of one submission: why it is where it is, how it came there, and what can be done.

mod around;
mod facts;

use askama::Template;
use bytes::Bytes;
use wire::api::{EventView, SubmissionView};
use wire::{Refusal, Status};

use super::rows::{Assigned, assigned};
use super::timeline::{Moment, timeline};
use crate::actions::{self, Actions};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Id, Link, State, When, cut, list, pipeline_page};
use crate::raw::Raw;
use around::{Children, Deliveries, Way, children, deliveries, way};
use facts::{Attempt, Lease, Level, Why, acknowledged, attempt, facts, lease, reason};

/// The newest events that the page shows.
const EVENTS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "submission.html")]
struct Page {
    id: Id,
    title: String,
    stands_for: Option<Id>,
    pipeline: Link,
    version: u32,
    state: State,
    status: &'static str,
    revision: u64,
    why: Vec<Why>,
    facts: Vec<(&'static str, String)>,
    labels: Vec<Link>,
    created: When,
    entered: When,
    finished: Option<When>,
    lease: Option<Lease>,
    levels: Vec<Level>,
    parent: Option<Id>,
    children: Option<Children>,
    deliveries: Option<Deliveries>,
    way: Way,
    drawing: String,
    actions: Actions,
    assigned: Option<Assigned>,
    may_hold: bool,
    acknowledged: String,
    amendable: String,
    payload: Option<Raw>,
    outputs: Vec<(String, Raw)>,
    result: Option<Raw>,
    attempts: Vec<Attempt>,
    attempts_left_out: u32,
    moments: Vec<Moment>,
    earlier: u64,
    has_log: bool,
    /// The keys of the log as this server names them.
    keys: Vec<String>,
    approvals: Vec<String>,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (id, eye) = (visit.id()?, visit.eye());
    let view = visit.app.show(id).await?;
    let why = visit.app.why(view.id).await;
    let drawing = visit.app.picture(view.id).await.unwrap_or_default();
    let from = view.revision.saturating_sub(EVENTS_MAX as u64);
    let events = visit.app.events(view.id, from, EVENTS_MAX).await?;
    let page = Page {
        why: why.map(|why| why.reasons.iter().map(reason).collect()).unwrap_or_default(),
        moments: told(&eye, &view, &events.events),
        way: way(&events.events),
        deliveries: deliveries(&visit, &eye, &view).await,
        earlier: from,
        children: children(&visit, &eye, &view).await?,
        may_hold: view.status == Status::Open && visit.app.visitor().caller.role == wire::Role::Admin,
        amendable: actions::amendable(&visit, &view),
        has_log: visit.app.check_proves().is_ok(),
        keys: visit.app.log_standing().await.map(|log| log.keys).unwrap_or_default(),
        actions: actions::actions(&visit, &view).await,
        drawing,
        ..about(&eye, &view)
    };
    let cli = format!("why {}", view.id);
    let live = format!("/console/live?submission={}&revision={}", view.id, view.revision);
    let title = format!("{} {}", view.pipeline, page.title);
    let route = format!("/v1/submissions/{}", view.id);
    visit.show(Sheet::new(title).live_by(live).typed(&visit.ask, &cli, &route), &page)
}

/// Tells events, with what amendments changed.
fn told(eye: &Eye, view: &SubmissionView, events: &[EventView]) -> Vec<Moment> {
    let mut moments = timeline(eye, events);
    let mut amendments = crate::diff::amendments(view);
    for moment in &mut moments {
        moment.changed = amendments.remove(&moment.revision).unwrap_or_default();
    }
    moments
}

/// Returns what the submission itself says.
fn about(eye: &Eye, view: &SubmissionView) -> Page {
    let label = |(name, value): (&wire::Name, &wire::Name)| {
        Link::new(
            format!("{name}: {}", cut(value, 80)),
            list(&view.pipeline, &[(&format!("label.{name}"), value)]),
        )
    };
    Page {
        id: Id { link: String::new(), ..Id::of(view.id) },
        title: view.key.as_deref().map_or_else(|| Id::of(view.id).short, |key| cut(key, 80)),
        stands_for: view.stands_for.map(Id::of),
        pipeline: Link::new(&*view.pipeline, pipeline_page(&view.pipeline)),
        version: view.version,
        state: State::of(view),
        status: view.status.as_str(),
        revision: view.revision,
        why: Vec::new(),
        facts: facts(view),
        labels: view.labels.iter().map(label).collect(),
        created: eye.when(view.created_at),
        entered: eye.when(view.entered_at),
        finished: eye.when_if(view.finished_at),
        lease: view.lease.as_ref().map(|held| lease(eye, held)),
        levels: view
            .sla
            .iter()
            .map(|level| Level {
                name: level.name.to_string(),
                due: eye.when(level.due_at),
                late: level.late,
            })
            .collect(),
        parent: view.parent.map(Id::of),
        children: None,
        deliveries: None,
        way: Way { stops: Vec::new(), before: 0 },
        drawing: String::new(),
        actions: Actions::default(),
        assigned: view.assigned.as_ref().map(|held| assigned(eye, held)),
        may_hold: false,
        acknowledged: acknowledged(eye, view),
        amendable: String::new(),
        payload: view.payload.as_ref().map(Raw::of),
        outputs: view
            .outputs
            .iter()
            .flatten()
            .map(|(state, output)| (state.to_string(), Raw::of(output)))
            .collect(),
        result: view.result.as_ref().map(Raw::of),
        attempts: view.attempts.iter().rev().map(|tried| attempt(eye, tried)).collect(),
        attempts_left_out: view.attempts_left_out,
        moments: Vec::new(),
        earlier: 0,
        has_log: false,
        keys: Vec::new(),
        approvals: actions::approvals(view),
    }
}

/// Gives all of a submission as a document.
pub(crate) async fn raw(visit: Visit) -> Result<Answer, Refusal> {
    let view = visit.app.show(visit.id()?).await?;
    let body = serde_json::to_vec(&view).map_err(|error| {
        Refusal::new(wire::Code::Internal, format!("the submission cannot be written: {error}"))
    })?;
    Ok(Answer::File { kind: "application/json", name: format!("{}.json", view.id), body: Bytes::from(body) })
}

/// Gives the evidence of a submission, to be verified elsewhere.
pub(crate) async fn evidence(visit: Visit) -> Result<Answer, Refusal> {
    let id = visit.id()?;
    let may_reveal = visit.app.evidence_awaited(id).await?;
    let evidence = visit.app.evidence(id, may_reveal, None).await?;
    let body = Bytes::from(evidence.to_text());
    Ok(Answer::File { kind: "application/json", name: format!("{id}.evidence.json"), body })
}
