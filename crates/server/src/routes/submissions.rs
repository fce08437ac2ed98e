//! Looking at submissions: one, a page of them, one's history.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::pipelines::Versions;
use model::event::Change;
use model::owed::{self, DELIVERY};
use model::{Code, Documents, Event, InvestigationStatus, Refusal, Status, Submission, SubmissionId};
use serde_json::json;
use store::{Query, Store};
use wire::api::{EventPage, SubmissionPage, SubmissionView};

use super::{Asking, At, etag, id, no_submission};
use crate::access::Visitor;
use crate::app::App;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let id = id(&text)?;
    let (found, end) = app.engine.read(move |store| lookup(store, id)).await?;
    let seen = found.filter(|(row, _)| asking.sees_row(row));
    let Some((row, documents)) = seen else {
        let end = end.filter(|event| {
            event.unborn_pipeline().is_some_and(|name| asking.sees_with(name, &BTreeMap::new()))
        });
        return Err(end.as_ref().and_then(refusal).unwrap_or_else(|| no_submission(&text)).into());
    };
    let mut view = model::view::with_documents(view(&app, &row), documents).standing_for(id);
    if &*row.pipeline == DELIVERY && !asking.delivers() {
        view.payload = view.payload.map(|payload| owed::shown(&payload));
    }
    let path = format!("/v1/submissions/{}", row.id);
    let path = HeaderValue::try_from(path).expect("an id is plain ASCII");
    Ok(([etag(row.revision), (header::CONTENT_LOCATION, path)], Json(view)).into_response())
}

type Found = Option<(Submission, Documents)>;

/// A submission, or the one that stands for it; and the event of what never became one.
fn lookup(store: &dyn Store, id: SubmissionId) -> Result<(Found, Option<Event>), store::Error> {
    if let Some(found) = store.submission(id)? {
        return Ok((Some(found), None));
    }
    let end = store.history(id, 0, 1)?.pop().map(|recorded| recorded.event);
    let found = match end.as_ref().map(|event| &event.detail.change) {
        Some(Change::Merged { into, .. }) => store.submission(*into)?,
        _ => None,
    };
    Ok((found, end))
}

/// Returns the reason why what was sent under an id is no submission.
fn refusal(event: &Event) -> Option<Refusal> {
    let Change::Refused { pipeline, error } = &event.detail.change else { return None };
    let message = format!("what was sent under this id was refused: {}", error.message);
    let refusal = Refusal::new(Code::Refused, message);
    Some(
        refusal
            .with("submission", event.leaf.submission.to_string())
            .with("pipeline", &**pipeline)
            .with("refused_at", event.leaf.at.to_string())
            .with("error", json!({ "code": &*error.code, "message": error.message })),
    )
}

pub(super) fn view(app: &App, row: &Submission) -> SubmissionView {
    let versions = app.engine.pipelines().current();
    let pipeline = versions.version(&row.pipeline, row.version);
    model::view::submission(row, pipeline.map(|pipeline| &**pipeline))
        .with_holds(super::holds::over(app, row))
}

const FILTERS: [&str; 11] = [
    "pipeline",
    "state",
    "status",
    "investigation",
    "key",
    "parent",
    "lane",
    "label.",
    "created_before",
    "after",
    "limit",
];

/// The kind of submissions a list is of, whatever else is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Only {
    Anything,
    Of(Status),
    Investigated(InvestigationStatus),
}

impl Only {
    /// The filters that are left to whoever asks.
    fn filters(self) -> Vec<&'static str> {
        let settled = |filter: &&str| match self {
            Only::Anything => false,
            Only::Of(_) => matches!(*filter, "status" | "investigation"),
            Only::Investigated(_) => *filter == "investigation",
        };
        FILTERS.into_iter().filter(|filter| !settled(filter)).collect()
    }
}

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    Ok(Json(page(&app, &asking, &uri, Only::Anything).await?))
}

/// A page of submissions that fit what is asked for.
pub(super) async fn page(
    app: &App,
    visitor: &Visitor,
    uri: &Uri,
    only: Only,
) -> Result<SubmissionPage, Refusal> {
    let params = Params::read(uri, &only.filters())?;
    let mut query = query(&params)?;
    match only {
        Only::Anything => {}
        Only::Of(status) => query.status = Some(status),
        Only::Investigated(status) => query.investigation = Some(status),
    }
    query.pipeline = pipeline(visitor, query.pipeline)?;
    visitor.narrow_labels(&mut query.labels)?;
    check_names(visitor, &app.engine.pipelines().current(), &query)?;
    let page = app.engine.read(move |store| store.find(&query)).await?;
    let next = page.rows.last().filter(|_| page.more).map(|row| row.id);
    Ok(SubmissionPage { submissions: page.rows.iter().map(|row| view(app, row)).collect(), next })
}

fn query(params: &Params) -> Result<Query, Refusal> {
    Ok(Query {
        pipeline: params.name("pipeline"),
        state: params.name("state"),
        status: params.parse("status")?,
        investigation: params.parse("investigation")?,
        key: params.name("key"),
        parent: params.parse("parent")?,
        lane: params.name("lane"),
        labels: params.under("label."),
        created_before: params.parse("created_before")?,
        after: params.parse("after")?,
        limit: params.limit()?,
    })
}

/// The one pipeline to look at: whoever may see some only has to say which.
pub(super) fn pipeline(
    visitor: &Visitor,
    given: Option<model::Name>,
) -> Result<Option<model::Name>, Refusal> {
    match (&visitor.pipelines, given) {
        (None, given) => Ok(given),
        (Some(_), Some(name)) => visitor.check_sees(&name).map(|()| Some(name)),
        (Some(scope), None) => match &scope[..] {
            [only] => Ok(Some(only.clone())),
            _ => Err(invalid(format!(
                "this token is for the pipelines {}; say which with `pipeline`",
                scope.join(", ")
            ))),
        },
    }
}

/// A misspelt filter finds nothing, which looks like an answer: better to say so.
pub(super) fn check_names(visitor: &Visitor, versions: &Versions, query: &Query) -> Result<(), Refusal> {
    if let Some(name) = &query.pipeline
        && versions.in_force(name).is_none()
    {
        return Err(no_pipeline(visitor, versions, name));
    }
    let Some(state) = &query.state else { return Ok(()) };
    let mut names = versions.all().map(|pipeline| &pipeline.name);
    let has = |name: &str| versions.versions(name).any(|pipeline| pipeline.state(state).is_some());
    let known = match &query.pipeline {
        Some(name) => has(name),
        None => names.any(|name| has(name)),
    };
    if known { Ok(()) } else { Err(invalid(format!("no state {}; see `GET /v1/pipelines`", quote(state)))) }
}

/// Names those there are that the visitor may know of.
pub(super) fn no_pipeline(visitor: &Visitor, versions: &Versions, name: &str) -> Refusal {
    let names = versions.all().map(|pipeline| &*pipeline.name);
    let known: Vec<&str> = names.filter(|known| visitor.sees(known)).collect();
    let there_is = if known.is_empty() {
        "none is applied yet".to_owned()
    } else {
        format!("there is {}", known.join(", "))
    };
    Refusal::new(Code::UnknownPipeline, format!("no pipeline {}; {there_is}", quote(name)))
}

pub(crate) async fn events(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Json<EventPage>> {
    let params = Params::read(&uri, &["after", "limit"])?;
    let (after, limit) = (params.parse("after")?.unwrap_or(0), params.limit()?);
    let id = id(&text)?;
    let found = app.engine.read(move |store| {
        let events = store.history(id, after, limit)?;
        // A page ends by its size, too.
        let more = match events.last() {
            Some(last) => !store.history(id, last.event.leaf.revision, 1)?.is_empty(),
            None => false,
        };
        let about = match store.submission(id)? {
            Some((row, _)) => Some((row.pipeline, row.labels)),
            None => events
                .first()
                .and_then(|first| Some((first.event.unborn_pipeline()?.clone(), BTreeMap::new()))),
        };
        Ok(about.map(|about| (about, events, more)))
    });
    let seen = found.await?.filter(|((pipeline, labels), ..)| asking.sees_with(pipeline, labels));
    let (_, recorded, more) = seen.ok_or_else(|| no_submission(&text))?;
    let events: Vec<_> =
        recorded.iter().map(|recorded| model::view::event(recorded.seq, &recorded.event)).collect();
    let next = events.last().filter(|_| more).map(|event| event.revision);
    Ok(Json(EventPage { events, next }))
}
