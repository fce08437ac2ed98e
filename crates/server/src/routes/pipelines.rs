//! Pipelines: what is in force, and bringing new versions into force.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::pipelines::Versions;
use engine::{ApplyError, Engine};
use model::api::{ApplyAnswer, ApplyBody, PipelineList, PipelineView, StateCount, StateView};
use model::json::Value;
use model::pipeline::{Problems, Source, State as Declared, draw};
use model::{Code, Pipeline, Refusal};
use serde_json::json;
use store::Count;

use super::submissions::no_pipeline;
use super::{Asking, At};
use crate::app::App;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;
use crate::{body, media};

const JSON: &str = "application/json";
const TOML: &str = "application/toml";
const MERMAID: &str = "text/vnd.mermaid";
const MERMAID_PLAIN: &str = "text/plain+mermaid";

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<PipelineList>> {
    Params::read(&uri, &[])?;
    let counts = app.engine.read(|store| store.counts()).await?;
    let versions = app.engine.pipelines().current();
    let seen = versions.all().filter(|pipeline| asking.sees(&pipeline.name));
    Ok(Json(PipelineList { pipelines: seen.map(|pipeline| view(&versions, pipeline, &counts)).collect() }))
}

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Response> {
    asking.check_sees(&name)?;
    let params = Params::read(&uri, &["version"])?;
    let versions = app.engine.pipelines().current();
    let latest = versions.latest(&name).ok_or_else(|| no_pipeline(&versions, &name))?;
    let pipeline = match params.parse("version")? {
        None => latest,
        Some(version) => {
            versions.version(&name, version).ok_or_else(|| no_version(&versions, &name, version))?
        }
    };
    let typed = |kind: &'static str, text: String| ([(header::CONTENT_TYPE, kind)], text).into_response();
    Ok(match media::preferred(&headers, &[JSON, TOML, MERMAID, MERMAID_PLAIN]) {
        TOML => typed("application/toml; charset=utf-8", file(pipeline)?),
        MERMAID => typed("text/vnd.mermaid; charset=utf-8", draw::mermaid(pipeline)),
        MERMAID_PLAIN => typed("text/plain; charset=utf-8", draw::mermaid(pipeline)),
        _ => {
            let counts = app.engine.read(|store| store.counts()).await?;
            Json(view(&versions, pipeline, &counts)).into_response()
        }
    })
}

fn no_version(versions: &Versions, name: &str, version: u32) -> Refusal {
    let known: Vec<String> = versions.versions(name).map(|pipeline| pipeline.version.to_string()).collect();
    Refusal::new(
        Code::UnknownPipeline,
        format!("no version {version} of pipeline {}; there is {}", quote(name), known.join(", ")),
    )
}

fn file(pipeline: &Pipeline) -> Result<String, Refusal> {
    let source = Source::from_definition(&pipeline.definition);
    source.map(|source| source.toml).map_err(|reason| Refusal::new(Code::Internal, reason))
}

fn view(versions: &Versions, pipeline: &Pipeline, counts: &[Count]) -> PipelineView {
    let here: Vec<&Count> = counts.iter().filter(|count| count.pipeline == pipeline.name).collect();
    let mut states: Vec<&Declared> = pipeline.states.iter().collect();
    // Submissions stay with the version they were made under: its states are not lost with the next version.
    for count in &here {
        if !states.iter().any(|state| state.name == count.state) {
            states.extend(
                versions.versions(&pipeline.name).filter_map(|older| older.state(&count.state)).last(),
            );
        }
    }
    PipelineView {
        name: pipeline.name.clone(),
        title: pipeline.title.clone(),
        version: pipeline.version,
        versions: versions.versions(&pipeline.name).map(|pipeline| pipeline.version).collect(),
        digest: pipeline.digest,
        states: states.into_iter().map(|state| state_view(state, &here)).collect(),
    }
}

fn state_view(state: &Declared, counts: &[&Count]) -> StateView {
    let mut here: Vec<&&Count> = counts.iter().filter(|count| count.state == state.name).collect();
    here.sort();
    StateView {
        name: state.name.clone(),
        title: state.title.clone(),
        phase: state.phase.clone(),
        kind: state.kind.as_str().to_owned(),
        actions: state.actions.iter().map(|action| action.name.clone()).collect(),
        counts: here.iter().map(|count| StateCount { status: count.status, count: count.count }).collect(),
    }
}

pub(crate) async fn apply(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    request: Request,
) -> Answer<Response> {
    asking.check_sees(&name)?;
    let source = source(&app, &name, request).await?;
    let (pipeline, changed) = check_and_apply(&app.engine, &name, source).await?;
    let answer = ApplyAnswer {
        name: pipeline.name.clone(),
        version: pipeline.version,
        digest: pipeline.digest,
        changed,
    };
    let status = if changed { StatusCode::CREATED } else { StatusCode::OK };
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
async fn check_and_apply(
    engine: &Engine,
    name: &str,
    source: Source,
) -> Result<(std::sync::Arc<Pipeline>, bool), Refusal> {
    let loading = source.clone();
    let loaded = tokio::task::spawn_blocking(move || model::pipeline::load(&loading)).await;
    let loaded =
        loaded.map_err(|_| Refusal::new(Code::Internal, "loading the file did not end as it should"))?;
    let pipeline = loaded.map_err(|problems| bad_definition(&problems, &source))?;
    if &*pipeline.name != name {
        return Err(invalid(format!(
            "the file is of pipeline {}, the address of {}; put it to /v1/pipelines/{}",
            quote(&pipeline.name),
            quote(name),
            pipeline.name
        )));
    }
    engine.apply(&source).await.map_err(|error| match error {
        ApplyError::Problems(problems) => bad_definition(&problems, &source),
        ApplyError::Refused(refusal) => refusal,
    })
}

fn bad_definition(problems: &Problems, source: &Source) -> Refusal {
    let list: Vec<_> = problems
        .located(source)
        .map(|(at, problem)| {
            json!({
                "code": problem.code,
                "message": problem.message,
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
