//! `PUT /v1/pipelines/{pipeline}`: brings a definition into force, or says what that would change.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::pipelines::{Apply, Brought, Intent, Versions};
use model::json::Value;
use model::pipeline::diff::diff;
use model::pipeline::{Problems, Source};
use model::{Code, Pipeline, Refusal};
use serde_json::json;
use wire::api::{ApplyAnswer, ApplyBody};

use super::pipelines::{JSON, TOML};
use super::{Asking, At};
use crate::access::Visitor;
use crate::app::App;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;
use crate::{body, media};

pub(crate) async fn apply(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    request: Request,
) -> Answer<Response> {
    asking.check_sees(&name)?;
    asking.check_all_labels()?;
    let params = Params::read(request.uri(), &["dry_run", "rollback"])?;
    let dry_run = params.parse("dry_run")?.unwrap_or(false);
    let rollback = params.parse("rollback")?.unwrap_or(false);
    let source = source(&name, &request)?;
    let apply = Apply {
        pipeline: checked(&name, &source).await?,
        params: source.params.as_object().cloned().unwrap_or_default(),
        intent: if rollback { Intent::Rollback } else { Intent::Forward },
    };
    check_reach(&app.engine.pipelines().current(), &asking, &apply.pipeline)?;
    let brought = match dry_run {
        true => app.engine.pipelines().current().bring(&apply)?,
        false => {
            let brought = app.engine.by(&asking.caller).bring_loaded(apply).await;
            brought.map_err(|refusal| unnamed(&asking, refusal))?
        }
    };
    let status = if brought.changed && !dry_run { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(answer(&brought, dry_run))).into_response())
}

/// Refuses a definition by which a token would reach pipelines that it is not for: submissions made there as children, and
/// workers whose tasks have the same names.
fn check_reach(versions: &Versions, visitor: &Visitor, pipeline: &Pipeline) -> Result<(), Refusal> {
    pipeline.child().map_or(Ok(()), |child| visitor.check_sees(child))?;
    let theirs = |task: &str| {
        let others = versions.all().filter(|other| !visitor.sees(&other.name));
        others.flat_map(|other| versions.versions(&other.name)).any(|other| other.has_task(task))
    };
    match pipeline.tasks().find(|task| theirs(&task.name)) {
        None => Ok(()),
        Some(task) => Err(Refusal::new(
            Code::RoleRequired,
            format!(
                "a pipeline that this token is not for has the task {}; call it otherwise, or have an admin without a \
                 scope apply this",
                quote(&task.name)
            ),
        )),
    }
}

/// A refusal without the name of a pipeline that a token may not know of.
fn unnamed(visitor: &Visitor, refusal: Refusal) -> Refusal {
    if refusal.code != Code::MetricTaken || visitor.is_unlimited() {
        return refusal;
    }
    let metric = refusal.details.get("metric").and_then(serde_json::Value::as_str).unwrap_or_default();
    let message = format!(
        "the metric {} takes a name that another pipeline has; call it something else",
        quote(metric)
    );
    Refusal { message, ..refusal }
}

fn answer(brought: &Brought, dry_run: bool) -> ApplyAnswer {
    let pipeline = &brought.pipeline;
    let before = brought.before.as_ref().filter(|_| brought.changed);
    let diff = before.map(|before| diff(before, pipeline)).unwrap_or_default();
    ApplyAnswer {
        name: pipeline.name.clone(),
        version: pipeline.version,
        revision: pipeline.revision,
        digest: pipeline.digest,
        params: set_params(pipeline),
        changed: brought.changed,
        dry_run,
        rolled_back: brought.is_rollback(),
        compared_to: before.map(|before| before.version),
        lost_states: diff.lost_states().to_vec(),
        diff: diff.differences,
    }
}

/// The parameters that are set in place of their defaults.
pub(super) fn set_params(pipeline: &Pipeline) -> BTreeMap<String, model::Json> {
    let set = pipeline.set_params.iter();
    set.map(|(name, value)| (name.clone(), model::Json::from_value(value))).collect()
}

fn source(name: &str, request: &Request) -> Result<Source, Refusal> {
    let kind = media::require(request.headers(), &[TOML, JSON])?;
    let bytes = body::read(request, body::ONE_MAX)?;
    let file = format!("{name}.toml");
    if kind == TOML {
        let toml = std::str::from_utf8(&bytes).map_err(|_| invalid("the file is not UTF-8"))?;
        return Ok(Source::new(file, toml));
    }
    body::strict(&bytes)?;
    let given: ApplyBody = body::shape(&bytes)?;
    let params = given.params.map_or_else(|| Value::Object(Default::default()), |params| params.value());
    if params.as_object().is_none() {
        return Err(invalid("`params` must be an object"));
    }
    Ok(Source { file, toml: given.toml, files: given.files, params })
}

/// The file must be the one the address names, which only a loaded one tells. Loading is work for a thread of its own.
async fn checked(name: &str, source: &Source) -> Result<Arc<Pipeline>, Refusal> {
    let loading = source.clone();
    let loaded = tokio::task::spawn_blocking(move || model::pipeline::load(&loading)).await;
    let loaded =
        loaded.map_err(|_| Refusal::new(Code::Internal, "loading the file did not end as it should"))?;
    let pipeline = loaded.map_err(|problems| bad_definition(&problems, source))?;
    if &*pipeline.name != name {
        return Err(invalid(format!(
            "the file is of pipeline {}, the address of {}; put it to /v1/pipelines/{}",
            quote(&pipeline.name),
            quote(name),
            pipeline.name
        )));
    }
    Ok(Arc::new(pipeline))
}

fn bad_definition(problems: &Problems, source: &Source) -> Refusal {
    let list: Vec<_> = problems
        .located(source)
        .map(|(at, problem)| {
            json!({
                "code": problem.code,
                "message": problem.message,
                "file": problem.file,
                "line": at.line,
                "column": at.column,
                "help": problem.help,
            })
        })
        .collect();
    Refusal::new(
        Code::InvalidDefinition,
        format!("the file has {} problems; none of it was applied", list.len()),
    )
    .with("problems", list)
    .with("rendered", problems.render(source))
}
