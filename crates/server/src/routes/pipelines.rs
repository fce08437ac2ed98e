//! Pipelines: what is in force, in the form that is asked for.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::pipelines::Versions;
use model::pipeline::{Source, State as Declared};
use model::{Code, Pipeline, Refusal, Time};
use store::Count;
use wire::api::{DefinitionView, PipelineList, PipelineView, StateCount, StateView};

use super::apply::set_params;
use super::schedules::{self, Served};
use super::submissions::no_pipeline;
use super::{Asking, At, drawing};
use crate::access::Visitor;
use crate::app::App;
use crate::media;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;

pub(super) const JSON: &str = "application/json";
pub(super) const TOML: &str = "application/toml";
const MERMAID: &str = "text/vnd.mermaid";
const MERMAID_PLAIN: &str = "text/plain+mermaid";
const SVG: &str = "image/svg+xml";
/// For links and people at a browser, who cannot choose by `Accept`.
const FORMATS: [(&str, &str); 4] = [("json", JSON), ("toml", TOML), ("mermaid", MERMAID_PLAIN), ("svg", SVG)];

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<PipelineList>> {
    Params::read(&uri, &[])?;
    let versions = app.engine.pipelines().current();
    let seen: Vec<_> = versions.all().filter(|pipeline| asking.sees(&pipeline.name)).cloned().collect();
    let kept = kept(&app, seen.clone()).await?.seen_by(&asking);
    Ok(Json(PipelineList {
        pipelines: seen.iter().map(|pipeline| view(&versions, pipeline, &kept)).collect(),
    }))
}

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Response> {
    asking.check_sees(&name)?;
    let params = Params::read(&uri, &["version", "format"])?;
    let versions = app.engine.pipelines().current();
    let in_force = versions.in_force(&name).ok_or_else(|| no_pipeline(&asking, &versions, &name))?;
    let pipeline = match params.parse("version")? {
        None => in_force,
        Some(version) => {
            versions.version(&name, version).ok_or_else(|| no_version(&versions, &name, version))?
        }
    };
    let typed = |kind: &'static str, text: String| ([(header::CONTENT_TYPE, kind)], text).into_response();
    Ok(match format(&params, &headers)? {
        TOML => typed("application/toml; charset=utf-8", file(pipeline)?),
        MERMAID => typed("text/vnd.mermaid; charset=utf-8", draw::mermaid(pipeline)),
        MERMAID_PLAIN => typed("text/plain; charset=utf-8", draw::mermaid(pipeline)),
        SVG => drawing::answer(pipeline.clone(), None).await?,
        _ => {
            let kept = kept(&app, vec![pipeline.clone()]).await?.seen_by(&asking);
            Json(view(&versions, pipeline, &kept)).into_response()
        }
    })
}

fn format(params: &Params, headers: &HeaderMap) -> Result<&'static str, Refusal> {
    let Some(given) = params.get("format") else {
        return Ok(media::preferred(headers, &[JSON, TOML, MERMAID, MERMAID_PLAIN, SVG]));
    };
    let found = FORMATS.iter().find(|(name, _)| *name == given);
    found.map(|(_, kind)| *kind).ok_or_else(|| {
        let names = FORMATS.map(|(name, _)| name);
        invalid(format!("no `format` {}; there is {}", quote(given), names.join(", ")))
            .with("known", names.to_vec())
    })
}

fn no_version(versions: &Versions, name: &str, version: u32) -> Refusal {
    let known: Vec<String> = versions.versions(name).map(|pipeline| pipeline.version.to_string()).collect();
    let what = match versions.is_retired(name, version) {
        true => format!("version {version} of pipeline {} was retired", quote(name)),
        false => format!("no version {version} of pipeline {}", quote(name)),
    };
    Refusal::new(Code::UnknownVersion, format!("{what}; there is {}", known.join(", ")))
}

fn file(pipeline: &Pipeline) -> Result<String, Refusal> {
    let source = Source::from_definition(&pipeline.definition);
    source.map(|source| source.toml).map_err(|reason| Refusal::new(Code::Internal, reason))
}

/// The facts that the store knows of pipelines.
struct Kept {
    counts: Vec<Count>,
    served: Served,
    now: Time,
}

impl Kept {
    /// Nothing is counted by the labels of a token, and other people's numbers are not theirs.
    fn seen_by(mut self, visitor: &Visitor) -> Kept {
        if !visitor.labels.is_empty() {
            self.counts.clear();
        }
        self
    }
}

async fn kept(app: &App, pipelines: Vec<Arc<Pipeline>>) -> Result<Kept, Refusal> {
    let now = app.engine.now();
    let read = app.engine.read(move |store| {
        let mut served = Served::new();
        for pipeline in pipelines.iter().filter(|pipeline| !pipeline.schedules.is_empty()) {
            served.extend(schedules::served(store, &pipeline.name)?);
        }
        Ok(Kept { counts: Count::by_status(&store.counts()?), served, now })
    });
    read.await
}

fn view(versions: &Versions, pipeline: &Pipeline, kept: &Kept) -> PipelineView {
    let here: Vec<&Count> = kept.counts.iter().filter(|count| count.pipeline == pipeline.name).collect();
    let mut states: Vec<&Declared> = pipeline.states.iter().map(|state| &**state).collect();
    // Submissions stay with the version they were made under: its states are not lost with the next version.
    for count in &here {
        if !states.iter().any(|state| state.name == count.state) {
            states.extend(
                versions.versions(&pipeline.name).filter_map(|older| older.state(&count.state)).last(),
            );
        }
    }
    let in_force = versions.in_force(&pipeline.name).map_or(pipeline.version, |known| known.version);
    PipelineView {
        name: pipeline.name.clone(),
        title: pipeline.title.clone(),
        version: pipeline.version,
        revision: pipeline.revision,
        in_force,
        versions: versions.versions(&pipeline.name).map(|pipeline| pipeline.version).collect(),
        definitions: versions.versions(&pipeline.name).map(|pipeline| definition(pipeline)).collect(),
        retired: versions.retired(&pipeline.name).collect(),
        digest: pipeline.digest,
        states: states.into_iter().map(|state| state_view(state, &here)).collect(),
        schedules: schedules::views(pipeline, in_force == pipeline.version, &kept.served, kept.now),
    }
}

fn definition(pipeline: &Pipeline) -> DefinitionView {
    let Pipeline { version, revision, digest, .. } = *pipeline;
    DefinitionView { version, revision, digest, params: set_params(pipeline) }
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
