//! `PUT /v1/pipelines/{pipeline}`: brings a new version into force, or says what that would change.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::ApplyError;
use engine::pipelines::Versions;
use model::api::{ApplyAnswer, ApplyBody};
use model::json::Value;
use model::pipeline::diff::diff;
use model::pipeline::{Problems, Source};
use model::{Code, Pipeline, Refusal};
use serde_json::json;

use super::pipelines::{JSON, TOML};
use super::{Asking, At};
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
    let params = Params::read(request.uri(), &["dry_run"])?;
    let dry_run = params.parse("dry_run")?.unwrap_or(false);
    let source = source(&app, &name, request).await?;
    let pipeline = checked(&name, &source).await?;
    let versions = app.engine.pipelines().current();
    let changed = match dry_run {
        true => would_change(&versions, &pipeline)?,
        false => {
            let applied = app.engine.by(&asking.caller).apply(&source).await;
            applied.map_err(|error| refused(error, &source))?.1
        }
    };
    let before = versions.latest(&name).filter(|before| changed && before.version < pipeline.version);
    let diff = before.map(|before| diff(before, &pipeline)).unwrap_or_default();
    let answer = ApplyAnswer {
        name: pipeline.name.clone(),
        version: pipeline.version,
        digest: pipeline.digest,
        changed,
        dry_run,
        compared_to: before.map(|before| before.version),
        lost_states: diff.lost_states().to_vec(),
        diff: diff.differences,
    };
    let status = if changed && !dry_run { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(answer)).into_response())
}

async fn source(app: &App, name: &str, request: Request) -> Result<Source, Refusal> {
    let kind = media::require(request.headers(), &[TOML, JSON])?;
    let bytes = body::read(request, app, body::ONE_MAX).await?;
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

/// What the engine would say, by the versions it has now.
fn would_change(versions: &Versions, pipeline: &Pipeline) -> Result<bool, Refusal> {
    let Pipeline { name, version, .. } = pipeline;
    if let Some(known) = versions.version(name, *version) {
        return match known.definition.as_str() == pipeline.definition.as_str() {
            true => Ok(false),
            false => {
                let message =
                    format!("version {version} of `{name}` was applied with other contents; raise `version`");
                Err(Refusal::new(Code::VersionExists, message))
            }
        };
    }
    match versions.latest(name).filter(|latest| latest.version > *version) {
        None => Ok(true),
        Some(latest) => {
            let message =
                format!("version {} of `{name}` is in force; raise `version` above it", latest.version);
            Err(Refusal::new(Code::VersionOutdated, message))
        }
    }
}

fn refused(error: ApplyError, source: &Source) -> Refusal {
    match error {
        ApplyError::Problems(problems) => bad_definition(&problems, source),
        ApplyError::Refused(refusal) => refusal,
    }
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
