//! Holds: placing, listing and releasing them.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::Hold;
use engine::holds::HOLDS;
use engine::pipelines::Versions;
use model::admit::{KEY_BYTES_MAX, REASON_BYTES_MAX};
use model::{Actor, Code, Name, Refusal, Submission};
use wire::api::{Held, HoldBody, HoldList, HoldView};

use super::submissions::no_pipeline;
use super::{Asking, At, no_submission};
use crate::access::Visitor;
use crate::app::App;
use crate::body::Given;
use crate::conditions;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

const LABELS_MAX: usize = 16;

pub(crate) async fn place(
    State(app): State<App>,
    asking: Asking,
    headers: HeaderMap,
    Given(body): Given<HoldBody>,
) -> Answer<Response> {
    conditions::never_once(&headers)?;
    check_size(&body)?;
    if body.expires_at.is_some_and(|at| at <= app.engine.now()) {
        return Err(invalid("`expires_at` is over already: such a hold would stop nothing").into());
    }
    let pipeline = scope(&app, &asking, &body).await?;
    check_names(&asking, &app.engine.pipelines().current(), pipeline.as_ref(), &body)?;
    let mut labels = body.labels.into_iter().map(|(label, value)| (label.into(), value.into())).collect();
    asking.narrow_labels(&mut labels)?;
    let hold = Hold {
        id: app.engine.fresh_id().to_string().into(),
        pipeline,
        labels,
        lane: body.lane.map(Name::from),
        submission: body.submission,
        reason: body.reason,
        owner: Actor { kind: asking.caller.role.into(), name: asking.caller.name.clone() },
        created_at: app.engine.now(),
        expires_at: body.expires_at,
    };
    let view = view(&asking.asks(&app.engine).hold(hold).await?);
    let path = format!("/v1/holds/{}", view.id);
    let location = HeaderValue::try_from(path).expect("an id is plain ASCII");
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(view)).into_response())
}

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<HoldList>> {
    Params::read(&uri, &[])?;
    let holds = app.engine.holds().current();
    let holds: Vec<Hold> = holds.all().filter(|hold| concerns(&asking, hold)).cloned().collect();
    let seen = seen(&app, &asking, holds).await?;
    Ok(Json(HoldList { holds: seen.iter().map(view).collect() }))
}

pub(crate) async fn release(
    State(app): State<App>,
    asking: Asking,
    At(id): At<String>,
    headers: HeaderMap,
) -> Answer<Json<HoldView>> {
    conditions::never_once(&headers)?;
    // Not what this server knows: another one may have placed it a moment ago, and its end would be decided all the same.
    let name = id.clone();
    let kept = app.engine.read(move |store| store::registry_entry(store, HOLDS, &name)).await?;
    let hold: Option<Hold> = kept.and_then(|body| serde_json::from_str(body.as_str()).ok());
    if hold.is_none_or(|hold| !owns(&asking, &hold)) {
        return Err(Refusal::new(Code::UnknownHold, format!("no hold {}", quote(&id))).into());
    }
    Ok(Json(view(&app.engine.by(&asking.caller).release(&id).await?)))
}

fn view(hold: &Hold) -> HoldView {
    let Hold { id, pipeline, labels, lane, submission, reason, owner, created_at, expires_at } = hold.clone();
    HoldView { id, pipeline, labels, lane, submission, reason, owner, created_at, expires_at }
}

/// Every hold over a submission, as those see it who look at the submission.
pub(super) fn over(app: &App, row: &Submission) -> Vec<Held> {
    let short = |hold: &Hold| Held {
        id: hold.id.clone(),
        reason: hold.reason.clone(),
        owner: hold.owner.clone(),
        expires_at: hold.expires_at,
    };
    app.engine.holds().current().over(row).map(short).collect()
}

/// Tells whether the hold stops something the visitor may see.
fn concerns(visitor: &Visitor, hold: &Hold) -> bool {
    hold.pipeline.as_ref().is_none_or(|pipeline| visitor.sees(pipeline)) && visitor.may_cover(&hold.labels)
}

/// Those of some holds that name no submission, or one the visitor sees: a hold does not say which labels that has.
async fn seen(app: &App, visitor: &Visitor, holds: Vec<Hold>) -> Result<Vec<Hold>, Refusal> {
    if visitor.labels.is_empty() {
        return Ok(holds);
    }
    let visitor = visitor.clone();
    let read = app.engine.read(move |store| {
        let mut seen = Vec::new();
        for hold in holds {
            let row = match hold.submission {
                Some(id) => store.submission(id)?.map(|(row, _)| row),
                None => None,
            };
            if hold.submission.is_none() || row.is_some_and(|row| visitor.sees_row(&row)) {
                seen.push(hold);
            }
        }
        Ok(seen)
    });
    read.await
}

/// Tells whether everything the hold stops is the visitor's business.
fn owns(visitor: &Visitor, hold: &Hold) -> bool {
    let pipeline = match &hold.pipeline {
        Some(pipeline) => visitor.sees(pipeline),
        None => visitor.pipelines.is_none(),
    };
    pipeline && visitor.covers(&hold.labels)
}

fn check_size(body: &HoldBody) -> Result<(), Refusal> {
    if body.reason.trim().is_empty() {
        return Err(Refusal::new(Code::ReasonRequired, "a hold needs a reason: whoever finds it reads it"));
    }
    if body.reason.len() > REASON_BYTES_MAX {
        let message = format!("the reason is over {REASON_BYTES_MAX} bytes");
        return Err(Refusal::new(Code::TooLarge, message).with("max_bytes", REASON_BYTES_MAX));
    }
    let nothing = body.pipeline.is_none() && body.labels.is_empty() && body.lane.is_none();
    if nothing && body.submission.is_none() {
        return Err(invalid(
            "this hold names nothing and would stop everything; name a `pipeline`, `labels`, a `lane` or a `submission`",
        ));
    }
    let mut words = body.labels.values().chain(&body.lane);
    if body.labels.len() > LABELS_MAX || words.clone().any(|word| word.len() > KEY_BYTES_MAX) {
        let message =
            format!("a hold has at most {LABELS_MAX} labels, and values up to {KEY_BYTES_MAX} bytes");
        return Err(Refusal::new(Code::TooLarge, message));
    }
    match words.any(String::is_empty) {
        true => Err(invalid("an empty label or lane holds nothing; leave it out")),
        false => Ok(()),
    }
}

/// The pipeline it is for: a submission has one, and whoever has a token for some pipelines must say which.
async fn scope(app: &App, visitor: &Visitor, body: &HoldBody) -> Result<Option<Name>, Refusal> {
    let given = body.pipeline.as_deref().map(Name::from);
    if let Some(id) = body.submission {
        let found = app.engine.read(move |store| store.submission(id)).await?;
        let row = found.map(|(row, _)| row).filter(|row| visitor.sees_row(row));
        let row = row.ok_or_else(|| no_submission(&id.to_string()))?;
        return match given {
            Some(name) if name != row.pipeline => {
                Err(invalid(format!("submission {id} is one of `{}`; leave `pipeline` out", row.pipeline)))
            }
            _ => Ok(Some(row.pipeline)),
        };
    }
    super::submissions::pipeline(visitor, given)
}

/// A misspelt hold stops nothing, which nobody would notice.
fn check_names(
    visitor: &Visitor,
    versions: &Versions,
    pipeline: Option<&Name>,
    body: &HoldBody,
) -> Result<(), Refusal> {
    if let Some(name) = pipeline.filter(|name| versions.in_force(name).is_none()) {
        return Err(no_pipeline(visitor, versions, name));
    }
    let names = versions.all().map(|latest| &latest.name);
    let names: Vec<_> = names.filter(|name| pipeline.is_none_or(|wanted| wanted == *name)).collect();
    let candidates: Vec<_> = names.iter().flat_map(|name| versions.versions(name)).collect();
    for label in body.labels.keys() {
        let has = |pipeline: &model::Pipeline| pipeline.labels.iter().any(|(name, _)| **name == **label);
        if !candidates.iter().any(|pipeline| has(pipeline)) {
            return Err(invalid(format!("no submission there has a label {}", quote(label))));
        }
    }
    if body.lane.is_some() && !candidates.iter().any(|pipeline| pipeline.lane.is_some()) {
        return Err(invalid("no submission there has a lane; hold by pipeline, label or submission"));
    }
    Ok(())
}
