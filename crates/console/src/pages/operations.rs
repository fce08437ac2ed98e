//! Operations: one deed for every submission that a filter finds. First counted, then done, and told one by one.

use askama::Template;
use wire::api::{OperationBody, ResultView};
use wire::operation::{Deed, Filter as Asked, Operation, OperationStatus};
use wire::{Name, Refusal, Role};

use super::PAGE;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::{Fields, address};
use crate::filter::{Filter, term};
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Id, When, number};

#[derive(Template)]
#[template(path = "operations.html")]
struct ListPage {
    operations: Vec<Line>,
    next: String,
}

/// An operation, as lists and its own page have it.
struct Line {
    id: String,
    page: String,
    deed: String,
    filter: String,
    filter_page: String,
    reason: String,
    dry_run: bool,
    status: &'static str,
    tone: &'static str,
    is_running: bool,
    found: String,
    done: String,
    refused: Vec<(String, String)>,
    by: String,
    started: When,
    ended: Option<When>,
}

#[derive(Template)]
#[template(path = "operation.html")]
struct Page {
    line: Line,
    /// The form that does what was only counted.
    again: Option<Vec<(String, String)>>,
    may_stop: bool,
    results: Vec<Told>,
    next: String,
}

struct Told {
    id: Id,
    state: String,
    code: String,
    message: String,
}

pub(crate) async fn list(visit: Visit) -> Result<Answer, Refusal> {
    let eye = visit.eye();
    let found = visit.app.operations(visit.after()?, PAGE).await?;
    let next = found.next.as_ref();
    let page = ListPage {
        operations: found.operations.iter().map(|known| line(&eye, known)).collect(),
        next: next.map_or_else(String::new, |next| address("/console/operations", [("after", &**next)])),
    };
    visit.show(Sheet::new("Operations").live().typed(&visit.ask, "operations", "/v1/operations"), &page)
}

fn line(eye: &Eye, known: &Operation) -> Line {
    let (status, tone) = match known.status {
        OperationStatus::Running => ("running", "open"),
        OperationStatus::Stopped => ("stopped", "held"),
        OperationStatus::Done => ("done", "good"),
    };
    let filter = written(&known.filter);
    Line {
        page: format!("/console/operations/{}", known.id),
        id: known.id.to_string(),
        deed: deed(&known.deed),
        filter_page: address("/console/submissions", [("q", filter.as_str())]),
        filter,
        reason: known.reason.clone().unwrap_or_default(),
        dry_run: known.dry_run,
        status,
        tone,
        is_running: known.status == OperationStatus::Running,
        found: number(known.found),
        done: number(known.done),
        refused: known.refused.iter().map(|(code, count)| (code.clone(), number(*count))).collect(),
        by: known.by.name.to_string(),
        started: eye.when(known.started_at),
        ended: eye.when_if(known.ended_at),
    }
}

fn deed(deed: &Deed) -> String {
    match deed {
        Deed::Act { action, .. } => action.to_string(),
        Deed::Resume { .. } => "resume".to_owned(),
        Deed::Redrive => "redrive".to_owned(),
        Deed::Acknowledge => "acknowledge".to_owned(),
        Deed::Migrate { version, .. } => format!("migrate to version {version}"),
        Deed::ParentCancelled => "parent cancelled".to_owned(),
    }
}

/// Writes what an operation finds in the language of the filter bar.
fn written(asked: &Asked) -> String {
    let text = |key: &str, value: Option<String>| value.map(|value| term(key, &value));
    let mut terms = vec![term("pipeline", &asked.pipeline)];
    terms.extend(text("state", asked.state.as_ref().map(Name::to_string)));
    terms.extend(text("status", asked.status.map(|status| status.as_str().to_owned())));
    terms.extend(text("investigation", asked.investigation.map(|status| status.as_str().to_owned())));
    terms.extend(text("parent", asked.parent.map(|id| id.to_string())));
    terms.extend(text("lane", asked.lane.as_ref().map(Name::to_string)));
    terms.extend(text("error", asked.error.as_ref().map(Name::to_string)));
    terms.extend(text("fingerprint", asked.fingerprint.map(|wanted| wanted.to_string())));
    terms.extend(asked.labels.iter().map(|(label, value)| term(&format!("label.{label}"), value)));
    terms.extend(text("before", asked.created_before.map(|at| at.to_string())));
    terms.extend(text("after", asked.created_after.map(|at| at.to_string())));
    terms.extend(text("since", asked.entered_before.map(|at| at.to_string())));
    terms.extend(text("worker", asked.worker.as_ref().map(Name::to_string)));
    terms.extend(text("version", asked.version.map(|version| version.to_string())));
    terms.join(" ")
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let (id, eye) = (visit.ask.part("operation").to_owned(), visit.eye());
    let known = visit.app.operation(&id).await?;
    let found = visit.app.operation_results(&id, None, visit.after()?, PAGE).await?;
    let caller = &visit.app.visitor().caller;
    let may = caller.role == Role::Admin || caller.name == known.by.name;
    let told = |result: &ResultView| Told {
        id: Id::of(result.submission),
        state: result.result.state.as_deref().unwrap_or_default().to_owned(),
        code: result.result.code.clone().unwrap_or_default(),
        message: result.result.message.clone().unwrap_or_default(),
    };
    let ended = known.dry_run && known.status == OperationStatus::Done;
    let page = Page {
        again: (ended && may && known.done > 0).then(|| again(&known)),
        may_stop: may && known.status == OperationStatus::Running,
        results: found.results.iter().map(told).collect(),
        next: found.next.map_or_else(String::new, |next| {
            address(&format!("/console/operations/{id}"), [("after", next.to_string().as_str())])
        }),
        line: line(&eye, &known),
    };
    let route = format!("/v1/operations/{id}");
    visit.show(
        Sheet::new("Operation").live().typed(&visit.ask, &format!("operations show {id}"), &route),
        &page,
    )
}

/// Returns the fields by which the same is asked for again, to be done now.
fn again(known: &Operation) -> Vec<(String, String)> {
    let mut fields = vec![("q".to_owned(), written(&known.filter)), ("whom".to_owned(), "all".to_owned())];
    fields.extend(known.reason.clone().map(|reason| ("reason".to_owned(), reason)));
    match &known.deed {
        Deed::Act { action, to, .. } => {
            fields.push(("deed".to_owned(), action.to_string()));
            fields.extend(to.as_ref().map(|to| ("to".to_owned(), to.to_string())));
        }
        Deed::Migrate { version, map } => {
            fields.push(("deed".to_owned(), "migrate".to_owned()));
            fields.push(("version".to_owned(), version.to_string()));
            fields.extend(map.iter().map(|(from, to)| (format!("map.{from}"), to.to_string())));
        }
        other => fields.push(("deed".to_owned(), deed(other))),
    }
    fields
}

/// Counts what an operation would find, and shows each before anything is done.
pub(crate) async fn preview(visit: &Visit) -> Result<Answer, Refusal> {
    begin(visit, true).await
}

/// Does it.
pub(crate) async fn start(visit: Visit) -> Result<Answer, Refusal> {
    let is_preview = visit.ask.form().get("dry_run").is_some();
    begin(&visit, is_preview).await
}

async fn begin(visit: &Visit, dry_run: bool) -> Result<Answer, Refusal> {
    let form = visit.ask.form();
    let back = address("/console/submissions", [("q", form.get("q").unwrap_or_default())]);
    let started = match body(visit, &form, dry_run) {
        Ok(body) => visit.app.start_operation(body).await,
        Err(refusal) => Err(refusal),
    };
    match started {
        Ok(operation) => Ok(Answer::to(format!("/console/operations/{}", operation.id))),
        Err(refusal) => visit.again(&refusal, &back),
    }
}

fn body(visit: &Visit, form: &Fields, dry_run: bool) -> Result<OperationBody, Refusal> {
    let text = form.get("q").unwrap_or_default();
    // Versions are a condition of operations alone.
    let (own, rest): (Vec<&str>, Vec<&str>) = text.split(' ').partition(|word| word.starts_with("version:"));
    let filter = Filter::read(&rest.join(" "), visit.app.clock().now);
    if let Some(problem) = filter.problems.first() {
        return Err(app::invalid(problem.clone()));
    }
    let of =
        |key: &str| own.iter().find_map(|word| word.strip_prefix(key)).map(|value| value.trim_matches('"'));
    let pipeline = filter.query.pipeline.clone();
    let pipeline = pipeline
        .ok_or_else(|| app::invalid("say which pipeline: what is done to many is done within one"))?;
    if filter.query.key.is_some() {
        return Err(app::invalid("a key finds one submission: act on its own page"));
    }
    let version = |name: &str, text: Option<&str>| {
        let read = text.map(str::parse).transpose();
        read.map_err(|_| app::invalid(format!("`{name}` is the number of a version")))
    };
    let query = filter.query;
    let named = states(form.get("states").unwrap_or_default())?;
    let map = form.iter().filter_map(|(name, to)| Some((name.strip_prefix("map.")?, to)));
    Ok(OperationBody {
        filter: Asked {
            version: version("version", of("version:"))?,
            state: query.state,
            status: query.status,
            investigation: query.investigation,
            parent: query.parent,
            lane: query.lane,
            labels: query.labels,
            error: query.narrowed.error,
            fingerprint: query.narrowed.fingerprint,
            worker: query.narrowed.worker,
            entered_before: query.narrowed.entered_before,
            created_after: query.created_after,
            created_before: query.created_before,
            ..Asked::of(pipeline)
        },
        action: form.get("deed").ok_or_else(|| app::invalid("say what to do"))?.into(),
        reason: form.get("reason").map(str::to_owned),
        data: None,
        to: form.get("to").map(Into::into),
        version: version("version", form.get("version"))?,
        map: map
            .filter(|(_, to)| !to.is_empty())
            .map(|(from, to)| (from.into(), to.into()))
            .chain(named)
            .collect(),
        dry_run,
    })
}

/// Reads which states have another name in another version: `OLD = NEW`, one a line.
fn states(text: &str) -> Result<Vec<(Name, Name)>, Refusal> {
    let pair = |line: &str| {
        let (old, new) = line.split_once('=').map(|(old, new)| (old.trim(), new.trim()))?;
        (!old.is_empty() && !new.is_empty()).then(|| (old.into(), new.into()))
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = |line| {
        pair(line).ok_or_else(|| {
            app::invalid(format!("{} is no pair of states; write OLD = NEW, one a line", app::quote(line)))
        })
    };
    lines.map(read).collect()
}

pub(crate) async fn stop(visit: Visit) -> Result<Answer, Refusal> {
    let id = visit.ask.part("operation").to_owned();
    let stopped = visit.app.stop_operation(&id).await;
    visit.told(stopped, &format!("/console/operations/{id}"), "stopped")
}
