//! The folder of pipeline files that a server applies when it starts.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use engine::pipelines::{Apply, Intent};
use model::pipeline::Source;
use model::{Code, Pipeline};
use system::System;

use crate::exit::Stop;
use crate::local_server::{self, Node};
use crate::settings::{ConfigFile, Fault, Params, Public};
use crate::source;
use crate::systems;

/// The pipelines of a folder, in the order of their files' names, and those of systems.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    sources: Vec<Source>,
    pipelines: Vec<Arc<Pipeline>>,
}

impl Folder {
    /// Reads every *.toml of a folder and loads it with its parameters as they are.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Folder> {
        let read = || format!("cannot read the folder {}", path.display());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path).with_context(read)? {
            let path = entry.with_context(read)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
        files.sort();
        let mut folder = Folder::default();
        for file in files {
            folder.load(source::read(&file)?)?;
        }
        if folder.sources.is_empty() {
            tracing::warn!(folder = %path.display(), "there is no pipeline file (*.toml) here");
        }
        Ok(folder)
    }

    /// Adds the pipelines that systems carry.
    pub(crate) fn add<'a>(
        &mut self,
        mut systems: impl Iterator<Item = &'a dyn System>,
    ) -> anyhow::Result<()> {
        systems.try_for_each(|system| systems::sources(system).try_for_each(|source| self.load(source)))
    }

    /// Returns the pipelines as their files have them.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.pipelines.iter().map(|pipeline| &**pipeline)
    }

    fn load(&mut self, source: Source) -> anyhow::Result<()> {
        let loaded = model::pipeline::load(&source);
        self.pipelines
            .push(Arc::new(loaded.map_err(|problems| local_server::problematic(&source, &problems))?));
        self.sources.push(source);
        Ok(())
    }

    /// Lists settings for pipelines, parameters, states or fields that the folder does not have.
    pub(crate) fn faults(&self, params: &Params, public: &Public) -> Vec<Fault> {
        let mut faults = params.faults(&self.pipelines);
        faults.extend(public.faults(&self.pipelines));
        faults.sort_by_key(|fault| fault.line);
        faults
    }

    /// Applies what is new. What is older than what is in force is told, and changes nothing.
    pub(crate) async fn apply(&self, node: &Node, settings: Option<&ConfigFile>) -> anyhow::Result<()> {
        let none = ConfigFile::default();
        let settings = settings.unwrap_or(&none);
        if let Some(fault) = self.faults(&settings.params, &settings.public).first() {
            return Err(Stop::usage(fault.told(&settings.path)).into());
        }
        for (source, pipeline) in self.sources.iter().zip(&self.pipelines) {
            let (pipeline, params) = (pipeline.clone(), settings.params.of(&pipeline.name));
            start_with(node, source, Apply { pipeline, params, intent: Intent::Start }).await?;
        }
        Ok(())
    }
}

async fn start_with(node: &Node, source: &Source, apply: Apply) -> anyhow::Result<()> {
    let file = apply.pipeline.clone();
    match node.bring(apply).await {
        Ok(brought) => {
            let in_force = &brought.pipeline;
            let what = match (brought.changed, in_force.revision) {
                (false, _) => "in force already",
                (true, 1) => "applied",
                (true, _) => "its parameters were set",
            };
            let (pipeline, version, revision) = (&*in_force.name, in_force.version, in_force.revision);
            tracing::info!(pipeline, version, revision, "{what}");
            Ok(())
        }
        Err(refusal) if refusal.code == Code::VersionOutdated => {
            let (pipeline, version) = (&*file.name, file.version);
            tracing::warn!(pipeline, version, file = source.file, "not applied: {}", refusal.message);
            Ok(())
        }
        Err(refusal) => Err(local_server::refused(source, &refusal)),
    }
}
