//! The page of one submission: why it is where it is, how it came there, and what can be done.

use askama::Template;
use bytes::Bytes;
use wire::api::{Reason, SubmissionView};
use wire::{Investigation, Refusal, Status, SubmissionId};

use super::rows::{Assigned, Rows, assigned};
use super::timeline::{Moment, timeline};
use crate::actions::{self, Actions};
use crate::answer::Answer;
use crate::ask::Visit;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Id, Link, State, When, cut, list, number, pipeline_page};
use crate::raw::Raw;

/// The newest events that the page shows.
const EVENTS_MAX: usize = 100;
/// The children that the page shows; the list has all.
const CHILDREN_MAX: usize = 8;

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
    drawing: String,
    actions: Actions,
    assigned: Option<Assigned>,
    may_hold: bool,
    acknowledged: String,
    amendable: String,
    payload: Option<Raw>,
    outputs: Vec<(String, Raw)>,
    result: Option<Raw>,
    moments: Vec<Moment>,
    earlier: u64,
    has_log: bool,
}

/// A reason, with what it names.
struct Why {
    sentence: String,
    code: String,
    tone: &'static str,
    link: Option<Link>,
}

struct Lease {
    worker: String,
    task: String,
    until: When,
    line: String,
    done: u64,
    total: u64,
    told: Option<When>,
}

struct Level {
    name: String,
    due: When,
    late: bool,
}

struct Children {
    total: String,
    open: u64,
    succeeded: u64,
    failed: u64,
    cancelled: u64,
    sum: u64,
    list: String,
    rows: Rows,
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
        moments: timeline(&eye, &events.events),
        earlier: from,
        children: children(&visit, &eye, &view).await?,
        may_hold: view.status == Status::Open && visit.app.visitor().caller.role == wire::Role::Admin,
        amendable: actions::amendable(&visit, &view),
        has_log: visit.app.check_proves().is_ok(),
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
        moments: Vec::new(),
        earlier: 0,
        has_log: false,
    }
}

fn facts(view: &SubmissionView) -> Vec<(&'static str, String)> {
    let some = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let lane = view.lane.as_ref().map(|lane| {
        let stands = if lane.holds {
            " (holds it)"
        } else if lane.waits {
            " (in line)"
        } else {
            ""
        };
        format!("{}{stands}", lane.key)
    });
    let all = [
        ("Key", some(view.key.as_deref())),
        ("Phase", some(view.phase.as_deref())),
        ("Lane", lane.unwrap_or_default()),
        ("Attempt", if view.attempt > 1 { view.attempt.to_string() } else { String::new() }),
        ("Came back", if view.requeues > 0 { format!("{} times", view.requeues) } else { String::new() }),
        ("Priority", if view.priority == 0 { String::new() } else { view.priority.to_string() }),
        ("Failed in", some(view.failed_from.as_deref())),
        ("Last good", some(view.last_good.as_deref())),
        ("Trace", some(view.traceparent.as_deref())),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn lease(eye: &Eye, held: &wire::api::LeaseView) -> Lease {
    let told = held.progress.as_ref();
    Lease {
        worker: held.worker.to_string(),
        task: held.task.to_string(),
        until: eye.when(held.expires_at),
        line: told.and_then(|told| told.line.clone()).unwrap_or_default(),
        done: told.map_or(0, |told| told.done),
        total: told.and_then(|told| told.total).unwrap_or(0),
        told: told.map(|told| eye.when(told.at)),
    }
}

fn acknowledged(eye: &Eye, view: &SubmissionView) -> String {
    match &view.investigation {
        Some(Investigation::Acknowledged { by, at, note }) => {
            let note = note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
            format!("{by} looked into it {}{note}", eye.when(*at).relative)
        }
        _ => String::new(),
    }
}

/// Marks a reason by what it asks for, and links the submission or hold that it names.
fn reason(reason: &Reason) -> Why {
    let named =
        ["holder", "submission", "blocker"].iter().find_map(|name| reason.details.get(*name)?.as_str());
    let id = named.and_then(|text| text.parse::<SubmissionId>().ok());
    let tone = match &*reason.code {
        "hold" | "held" | "parked" | "limit" => "held",
        "person" | "approval" => "person",
        "dead" | "dead-letter" | "guard-error" => "dead",
        code if code.contains("late") || code.contains("investig") || code.contains("unsent") => "warn",
        "ended" => "off",
        _ => "open",
    };
    Why {
        sentence: reason.sentence.clone(),
        code: reason.code.clone(),
        tone,
        link: id.map(|id| Link::new("see it", Id::of(id).link)),
    }
}

async fn children(visit: &Visit, eye: &Eye, view: &SubmissionView) -> Result<Option<Children>, Refusal> {
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
        sum: counted.total.max(1),
        list: list("", &[("parent", &view.id.to_string())]),
        rows: rows.unwrap_or(Rows { rows: Vec::new(), picks: false }),
    }))
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
