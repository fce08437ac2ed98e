//! The live tail: events as they happen.

use app::FeedQuery;
use askama::Template;
use wire::Refusal;
use wire::api::EventView;

use super::dead::chosen;
use super::timeline::said;
use crate::answer::Answer;
use crate::ask::Visit;
use crate::fields::address;
use crate::layout::Sheet;
use crate::look::Eye;
use crate::parts::{Id, When, cut};

/// The events that are there before anything happens, and those among which they are looked for.
const SHOWN_AT_FIRST: usize = 50;
const LOOKED_AT: usize = 200;

#[derive(Template)]
#[template(path = "tail.html")]
struct Page {
    pipelines: Vec<String>,
    pipeline: String,
    states: Vec<String>,
    state: String,
    /// As it was typed: `NAME:VALUE`.
    label: String,
    stream: String,
    rows: Vec<Row>,
    passed: u64,
}

/// One event.
pub(crate) struct Row {
    pub(crate) seq: u64,
    pub(crate) at: When,
    /// The same as how long ago it was.
    pub(crate) ago: When,
    pub(crate) pipeline: String,
    pub(crate) id: Id,
    pub(crate) what: &'static str,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) trigger: String,
    pub(crate) actor: String,
    pub(crate) error: String,
    pub(crate) tone: &'static str,
}

/// Reads which events a reader wants.
pub(crate) fn filter(visit: &Visit) -> FeedQuery {
    let query = visit.ask.query();
    let pipeline = chosen(visit, query.get("pipeline"));
    let state = query.get("state").filter(|_| pipeline.is_some());
    let label = query.get("label").and_then(|text| text.split_once(':'));
    let labels = label.into_iter().filter(|(name, value)| !name.is_empty() && !value.is_empty());
    FeedQuery {
        pipeline: pipeline.map(Into::into),
        state: state.map(Into::into),
        labels: labels.map(|(name, value)| (name.trim().into(), value.trim().into())).collect(),
        ..FeedQuery::default()
    }
}

pub(crate) async fn show(visit: Visit) -> Result<Answer, Refusal> {
    let wanted = filter(&visit);
    let end = visit.app.follow(since(&wanted, "end".to_owned())).await?.position();
    let mut rows = before(&visit, &wanted, end, LOOKED_AT).await?;
    rows.truncate(SHOWN_AT_FIRST);
    // What has happened between the two looks is streamed.
    let after = rows.first().map_or(end, |newest| newest.seq.max(end));
    let (pipeline, state) =
        (wanted.pipeline.as_deref().unwrap_or_default(), wanted.state.as_deref().unwrap_or_default());
    let after = after.to_string();
    let machine = visit.app.machine(pipeline, None).ok();
    let label =
        wanted.labels.iter().map(|(name, value)| format!("{name}:{value}")).next().unwrap_or_default();
    let page = Page {
        pipelines: visit.app.names().iter().map(|name| name.to_string()).collect(),
        states: machine
            .iter()
            .flat_map(|machine| &machine.states)
            .map(|state| state.name.to_string())
            .collect(),
        stream: address(
            "/console/tail/stream",
            [("pipeline", pipeline), ("state", state), ("label", &label), ("after", &after)],
        ),
        pipeline: pipeline.to_owned(),
        state: state.to_owned(),
        label: label.clone(),
        rows,
        passed: 0,
    };
    let route =
        address("/v1/feed", [("after", "end"), ("pipeline", pipeline), ("state", state), ("wait", "20s")]);
    visit.show(Sheet::new("Live tail").typed(&visit.ask, "tail", &route), &page)
}

/// Returns the newest events of what a reader sees, the newest first.
pub(crate) async fn newest(visit: &Visit, count: usize) -> Result<Vec<Row>, Refusal> {
    let wanted = FeedQuery { pipeline: chosen(visit, None).map(Into::into), ..FeedQuery::default() };
    let end = visit.app.follow(since(&wanted, "end".to_owned())).await?.position();
    let visitor = visit.app.visitor();
    let all_are_shown = visitor.pipelines.is_none() && visitor.labels.is_empty();
    let mut rows = before(visit, &wanted, end, if all_are_shown { count } else { LOOKED_AT }).await?;
    rows.truncate(count);
    Ok(rows)
}

fn since(wanted: &FeedQuery, after: String) -> FeedQuery {
    FeedQuery { after: Some(after), limit: LOOKED_AT, ..wanted.clone() }
}

/// Returns those of so many events before a position that somebody wants, the newest first.
async fn before(visit: &Visit, wanted: &FeedQuery, end: u64, looked_at: usize) -> Result<Vec<Row>, Refusal> {
    let begin = end.saturating_sub(looked_at as u64).to_string();
    // What was retired is not there to be shown, and no reason to show nothing.
    let found = match visit.app.follow(since(wanted, begin)).await?.next().await {
        Ok(page) => page.events,
        Err(_) => Vec::new(),
    };
    let mut rows = rows(&visit.eye(), &found);
    rows.reverse();
    Ok(rows)
}

/// Writes events as rows, the oldest first.
pub(crate) fn rows(eye: &Eye, events: &[EventView]) -> Vec<Row> {
    let row = |event: &EventView| Row {
        seq: event.seq,
        at: eye.clock(event.at),
        ago: eye.when(event.at),
        pipeline: event.pipeline.as_deref().unwrap_or_default().to_owned(),
        id: Id::of(event.submission),
        what: said(event.kind),
        from: event.from.as_deref().filter(|from| **from != *event.to).unwrap_or_default().to_owned(),
        to: event.to.to_string(),
        trigger: event.trigger.to_string(),
        actor: event.actor.name.to_string(),
        error: event
            .error
            .as_ref()
            .map(|error| cut(&format!("{}: {}", error.code, error.message), 140))
            .unwrap_or_default(),
        tone: if event.error.is_some() { "bad" } else { "open" },
    };
    events.iter().map(row).collect()
}
