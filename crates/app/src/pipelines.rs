//! Pipelines: what is in force, and how much is where.

use std::sync::Arc;

use engine::pipelines::Versions;
use model::json::Value;
use model::pipeline::diff::diff;
use model::pipeline::{Source, State as Declared};
use model::{Code, Json, Name, Pipeline, Refusal, Time};
use store::Count;
use wire::api::{DefinitionView, Difference, PipelineList, PipelineView, StateCount, StateView};

use crate::apply::set_params;
use crate::schedules::{self, Served};
use crate::{App, quote};

impl App {
    /// Lists the pipelines that the visitor sees, each as it is in force.
    pub async fn pipelines(&self) -> Result<PipelineList, Refusal> {
        let versions = self.engine.pipelines().current();
        let seen = versions.all().filter(|pipeline| self.visitor.sees(&pipeline.name));
        let seen: Vec<_> = seen.cloned().collect();
        let kept = self.kept(seen.clone()).await?;
        let views = seen.iter().map(|pipeline| view(&versions, pipeline, &kept));
        Ok(PipelineList { pipelines: views.collect() })
    }

    /// Returns the names of the pipelines that the visitor sees.
    #[must_use]
    pub fn names(&self) -> Vec<Name> {
        let versions = self.engine.pipelines().current();
        versions.all().map(|pipeline| pipeline.name.clone()).filter(|name| self.visitor.sees(name)).collect()
    }

    /// Returns what differs between two versions of a pipeline.
    pub fn differences(&self, name: &str, old: u32, new: u32) -> Result<Vec<Difference>, Refusal> {
        let (old, new) = (self.machine(name, Some(old))?, self.machine(name, Some(new))?);
        Ok(diff(&old, &new).differences)
    }

    /// Returns a version of a pipeline, or the one that is in force.
    pub fn machine(&self, name: &str, version: Option<u32>) -> Result<Arc<Pipeline>, Refusal> {
        self.visitor.check_sees(name)?;
        let versions = self.engine.pipelines().current();
        let in_force = self.in_force(&versions, name)?;
        let Some(version) = version else { return Ok(in_force.clone()) };
        let found = versions.version(name, version).cloned();
        found.ok_or_else(|| no_version(&versions, name, version))
    }

    /// Shows a version of a pipeline, with what the store counts of all of them.
    pub async fn pipeline(&self, name: &str, version: Option<u32>) -> Result<PipelineView, Refusal> {
        let pipeline = self.machine(name, version)?;
        let kept = self.kept(vec![pipeline.clone()]).await?;
        Ok(view(&self.engine.pipelines().current(), &pipeline, &kept))
    }

    /// Reads what the store knows of pipelines. Nothing is counted by the labels of a token, and other people's numbers are
    /// not theirs.
    async fn kept(&self, pipelines: Vec<Arc<Pipeline>>) -> Result<Kept, Refusal> {
        let (now, counts_all) = (self.engine.now(), self.visitor.labels.is_empty());
        let read = self.engine.read(move |store| {
            let mut served = Served::new();
            for pipeline in pipelines.iter().filter(|pipeline| !pipeline.schedules.is_empty()) {
                served.extend(schedules::served(store, &pipeline.name)?);
            }
            let counts = if counts_all { Count::by_status(&store.counts()?) } else { Vec::new() };
            Ok(Kept { counts, served, now })
        });
        read.await
    }
}

/// Returns the file a pipeline was read from.
pub fn file(pipeline: &Pipeline) -> Result<String, Refusal> {
    let source = Source::from_definition(&pipeline.definition);
    source.map(|source| source.toml).map_err(|reason| Refusal::new(Code::Internal, reason))
}

/// Returns the parameters of a pipeline as they are in force, each with its value as JSON.
#[must_use]
pub fn params(pipeline: &Pipeline) -> Vec<(String, String)> {
    let Value::Object(members) = &*pipeline.params else { return Vec::new() };
    members.iter().map(|(name, value)| (name.clone(), Json::from_value(value).as_str().to_owned())).collect()
}

fn no_version(versions: &Versions, name: &str, version: u32) -> Refusal {
    let known: Vec<String> = versions.versions(name).map(|pipeline| pipeline.version.to_string()).collect();
    let what = match versions.is_retired(name, version) {
        true => format!("version {version} of pipeline {} was retired", quote(name)),
        false => format!("no version {version} of pipeline {}", quote(name)),
    };
    Refusal::new(Code::UnknownVersion, format!("{what}; there is {}", known.join(", ")))
}

/// The facts that the store knows of pipelines.
struct Kept {
    counts: Vec<Count>,
    served: Served,
    now: Time,
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
        task: state.task().map(|task| task.name.clone()),
        actions: state.actions.iter().map(|action| action.name.clone()).collect(),
        counts: here.iter().map(|count| StateCount { status: count.status, count: count.count }).collect(),
    }
}
