//! Holds: what is stopped, by whom, why and until when; placing and releasing them.

use askama::Template;
use wire::api::{HoldBody, HoldView, PipelineView};
use wire::{Millis, Refusal, Role, Status};

use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::Fields;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Id, Link, When, list, number, pipeline_page};

#[derive(Template)]
#[template(path = "holds.html")]
struct Page {
    holds: Vec<Hold>,
    may: bool,
    pipelines: Vec<String>,
    /// The submission to hold, where its page leads here.
    submission: String,
    chosen: String,
}

/// A hold, as its card shows it.
pub(super) struct Hold {
    pub(super) id: String,
    pub(super) short: Id,
    pub(super) pipeline: Option<Link>,
    pub(super) submission: Option<Id>,
    pub(super) conditions: Vec<String>,
    pub(super) covers: String,
    /// The number that it covers, where the store counts those.
    pub(super) count: String,
    pub(super) reason: String,
    pub(super) owner: String,
    pub(super) since: When,
    pub(super) until: Option<When>,
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (query, eye) = (visit.ask.query(), visit.eye());
    let holds = visit.app.holds().await?.holds;
    let pipelines = visit.app.pipelines().await?.pipelines;
    let counted = |view: &HoldView| Hold { count: count(view, &pipelines), ..hold(&eye, view) };
    let page = Page {
        holds: holds.iter().map(counted).collect(),
        may: visit.app.visitor().caller.role == Role::Admin,
        pipelines: visit.app.names().iter().map(|name| name.to_string()).collect(),
        submission: query.get("submission").unwrap_or_default().to_owned(),
        chosen: query.get("pipeline").unwrap_or_default().to_owned(),
    };
    visit.show(Sheet::new("Holds").live().typed(&visit.ask, "holds", "/v1/holds"), &page)
}

pub(super) fn hold(eye: &Eye, view: &HoldView) -> Hold {
    let mut terms: Vec<(String, String)> =
        view.labels.iter().map(|(label, value)| (format!("label.{label}"), value.to_string())).collect();
    terms.extend(view.lane.as_ref().map(|lane| ("lane".to_owned(), lane.to_string())));
    let covers: Vec<(&str, &str)> = terms.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    Hold {
        short: Id::named(&view.id, String::new()),
        id: view.id.to_string(),
        pipeline: view.pipeline.as_ref().map(|name| Link::new(&**name, pipeline_page(name))),
        submission: view.submission.map(Id::of),
        covers: match view.submission {
            Some(id) => Id::of(id).link,
            None => list(
                view.pipeline.as_deref().unwrap_or_default(),
                &[&covers[..], &[("status", "open")]].concat(),
            ),
        },
        count: String::new(),
        conditions: terms.iter().map(|(key, value)| format!("{key}: {value}")).collect(),
        reason: view.reason.clone(),
        owner: view.owner.name.to_string(),
        since: eye.when(view.created_at),
        until: eye.when_if(view.expires_at),
    }
}

/// Returns how many a hold covers that is for a whole pipeline. By labels and lanes nothing is counted.
fn count(hold: &HoldView, pipelines: &[PipelineView]) -> String {
    let is_narrowed = !hold.labels.is_empty() || hold.lane.is_some() || hold.submission.is_some();
    let of = |view: &&PipelineView| hold.pipeline.as_deref().is_none_or(|name| name == &*view.name);
    let counts = pipelines.iter().filter(of).flat_map(|view| &view.states).flat_map(|state| &state.counts);
    let open = counts.filter(|count| count.status == Status::Open).map(|count| count.count).sum();
    if is_narrowed { String::new() } else { number(open) }
}

/// Places a hold as its form says.
pub(crate) async fn place(visit: Visit) -> Result<Answer, Refusal> {
    let form = visit.ask.form();
    let placed = match body(&form, &visit) {
        Ok(body) => visit.app.hold(body).await,
        Err(refusal) => Err(refusal),
    };
    visit.told(placed, "/console/holds", "held")
}

fn body(form: &Fields, visit: &Visit) -> Result<HoldBody, Refusal> {
    let text = |name: &str| form.get(name).map(str::to_owned);
    let label = match (form.get("label"), form.get("value")) {
        (Some(label), Some(value)) => Some((label.to_owned(), value.to_owned())),
        (None, None) => None,
        _ => return Err(app::invalid("a label needs its name and its value")),
    };
    let span: Option<Millis> = form.get("for").map(str::parse).transpose().map_err(|error| {
        app::invalid(format!("{error}; say how long the hold lasts as `2h` or `3d`, or leave it open"))
    })?;
    let submission = form.get("submission").map(str::parse).transpose();
    let now = visit.app.clock().now;
    Ok(HoldBody {
        pipeline: text("pipeline"),
        labels: label.into_iter().collect(),
        lane: text("lane"),
        submission: submission
            .map_err(|_| app::invalid("the submission to hold is named by its whole id"))?,
        reason: text("reason").unwrap_or_default(),
        expires_at: span.map(|span| now.plus(span)),
    })
}

pub(crate) async fn release(visit: Visit) -> Result<Answer, Refusal> {
    let released = visit.app.release(visit.ask.part("hold")).await;
    visit.told(released, "/console/holds", "released")
}
