//! All versions of all pipelines, as of one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Code, Digest, Name, Pipeline, Refusal};

use super::AppliedVersion;

#[derive(Debug, Clone, Default)]
pub struct Versions {
    by_name: BTreeMap<Name, Line>,
}

/// One pipeline's versions.
#[derive(Debug, Clone, Default)]
struct Line {
    /// The newest revision of each.
    kept: BTreeMap<u32, Arc<Pipeline>>,
    /// Everything that was ever applied, in order: the last is in force.
    history: Vec<AppliedVersion>,
}

impl Line {
    fn in_force(&self) -> Option<&Arc<Pipeline>> {
        let applied = self.history.last().and_then(|applied| self.kept.get(&applied.version));
        applied.or_else(|| self.kept.last_key_value().map(|(_, pipeline)| pipeline))
    }
}

impl Versions {
    /// The version that new submissions get.
    #[must_use]
    pub fn in_force(&self, name: &str) -> Option<&Arc<Pipeline>> {
        self.by_name.get(name)?.in_force()
    }

    /// The version in force, or that there is none of this name.
    pub(crate) fn in_force_or_refuse(&self, name: &str) -> Result<&Arc<Pipeline>, Refusal> {
        self.in_force(name).ok_or_else(|| {
            let known: Vec<&str> = self.all().map(|pipeline| &*pipeline.name).collect();
            let message = format!("no pipeline `{name}`; there is {}", known.join(", "));
            Refusal::new(Code::UnknownPipeline, message)
        })
    }

    /// The newest revision of a version: what decides for the submissions that follow it.
    #[must_use]
    pub fn version(&self, name: &str, version: u32) -> Option<&Arc<Pipeline>> {
        self.by_name.get(name)?.kept.get(&version)
    }

    /// The version whose newest definition has this digest.
    #[must_use]
    pub fn by_digest(&self, digest: &Digest) -> Option<&Arc<Pipeline>> {
        self.by_name.values().flat_map(|line| line.kept.values()).find(|pipeline| pipeline.digest == *digest)
    }

    /// Lists the definitions in force, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Pipeline>> {
        self.by_name.values().filter_map(Line::in_force)
    }

    /// The versions of one pipeline, oldest first.
    pub fn versions(&self, name: &str) -> impl Iterator<Item = &Arc<Pipeline>> {
        self.by_name.get(name).into_iter().flat_map(|line| line.kept.values())
    }

    /// Returns the versions that were applied of a pipeline, in order.
    #[must_use]
    pub fn history(&self, name: &str) -> &[AppliedVersion] {
        self.by_name.get(name).map_or(&[], |line| &line.history)
    }

    /// Keeps a version, whether it is in force or not.
    pub(super) fn keep(&mut self, pipeline: Arc<Pipeline>) {
        let line = self.by_name.entry(pipeline.name.clone()).or_default();
        line.kept.insert(pipeline.version, pipeline);
    }

    /// Keeps what was applied of a pipeline, if any of it is here.
    pub(super) fn remember(&mut self, name: &Name, history: Vec<AppliedVersion>) {
        if let Some(line) = self.by_name.get_mut(name) {
            line.history = history;
        }
    }

    /// Keeps pipelines of others whose names are not here.
    pub(super) fn adopt(&mut self, others: &Versions) {
        for (name, line) in &others.by_name {
            self.by_name.entry(name.clone()).or_insert_with(|| line.clone());
        }
    }

    /// Keeps a version and has it in force.
    pub(crate) fn bring_in(&mut self, pipeline: Arc<Pipeline>) {
        let applied = AppliedVersion::from(&*pipeline);
        let name = pipeline.name.clone();
        self.keep(pipeline);
        self.by_name.entry(name).or_default().history.push(applied);
    }
}
