//! All versions of all pipelines, as of one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use model::pipeline::PayloadCheck;
use model::{Code, Digest, Name, Pipeline, Refusal};

use super::AppliedVersion;
use super::retire::{RetiredVersion, follows_parent, queues};

/// The number of versions of one pipeline that are kept, unless a deployment says otherwise.
pub const VERSIONS_MAX: usize = 500;

#[derive(Debug, Clone)]
pub struct Versions {
    by_name: BTreeMap<Name, Line>,
    /// The number of versions of one pipeline that are kept.
    pub(super) max: usize,
    by_task: ByTask,
    /// The checks of payloads that systems of this server bring, by pipeline.
    checks: Arc<PayloadChecks>,
}

/// Checks of payloads, by the pipeline whose payloads they are.
pub type PayloadChecks = BTreeMap<Name, PayloadCheck>;

/// The pipelines that run a task in some version, by the task's name. Made when it is first asked for, and not copied:
/// whoever copies versions is about to change them.
#[derive(Debug, Default)]
struct ByTask(OnceLock<BTreeMap<Name, BTreeSet<Name>>>);

impl Clone for ByTask {
    fn clone(&self) -> Self {
        ByTask::default()
    }
}

impl Default for Versions {
    fn default() -> Self {
        Versions::new(VERSIONS_MAX, Arc::default())
    }
}

/// One pipeline's versions.
#[derive(Debug, Clone, Default)]
struct Line {
    /// The newest revision of each.
    kept: BTreeMap<u32, Arc<Pipeline>>,
    /// The versions that nothing begins to follow any more.
    retired: BTreeMap<u32, RetiredVersion>,
    /// The retired versions that something was found to follow all the same.
    recalled: BTreeMap<u32, Arc<Pipeline>>,
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
    pub(super) fn new(max: usize, checks: Arc<PayloadChecks>) -> Self {
        Versions { by_name: BTreeMap::new(), max, by_task: ByTask::default(), checks }
    }

    /// Returns none, by the same settings.
    pub(super) fn none_like(&self) -> Self {
        Versions::new(self.max, self.checks.clone())
    }

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
        let line = self.by_name.get(name)?;
        line.kept.get(&version).or_else(|| line.recalled.get(&version))
    }

    /// A version that submissions may begin to follow.
    #[must_use]
    pub fn kept(&self, name: &str, version: u32) -> Option<&Arc<Pipeline>> {
        self.by_name.get(name)?.kept.get(&version)
    }

    /// Tells whether a version was retired: nothing begins to follow it any more.
    #[must_use]
    pub fn is_retired(&self, name: &str, version: u32) -> bool {
        self.retired_version(name, version).is_some()
    }

    pub(super) fn retired_version(&self, name: &str, version: u32) -> Option<RetiredVersion> {
        self.by_name.get(name)?.retired.get(&version).copied()
    }

    /// The versions of one pipeline that were retired, oldest first.
    pub fn retired(&self, name: &str) -> impl Iterator<Item = u32> {
        self.by_name.get(name).into_iter().flat_map(|line| line.retired.keys().copied())
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

    /// Tells whether some version runs a task, of these pipelines or, with none named, of any.
    #[must_use]
    pub fn have_task(&self, task: &str, pipelines: &[Name]) -> bool {
        let by_task = self.by_task.0.get_or_init(|| {
            let mut by_task: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
            for (name, line) in &self.by_name {
                let versions = line.kept.values().chain(line.recalled.values());
                for task in versions.flat_map(|pipeline| pipeline.tasks()) {
                    by_task.entry(task.name.clone()).or_default().insert(name.clone());
                }
            }
            by_task
        });
        by_task.get(task).is_some_and(|have| {
            pipelines.is_empty() || pipelines.iter().any(|pipeline| have.contains(pipeline))
        })
    }

    /// Tells whether submissions of some version queue for the key of another.
    pub(crate) fn queue_for_keys(&self, name: &str) -> bool {
        self.any(name, queues, |retired| retired.queues)
    }

    /// Tells whether submissions of some version go somewhere when their parent is cancelled.
    pub(crate) fn follow_parents(&self, name: &str) -> bool {
        self.any(name, follows_parent, |retired| retired.follows_parent)
    }

    /// Tells whether a version is so, those included that were retired: something may follow them all the same.
    fn any(&self, name: &str, kept: fn(&Pipeline) -> bool, retired: fn(&RetiredVersion) -> bool) -> bool {
        self.by_name.get(name).is_some_and(|line| {
            line.kept.values().any(|pipeline| kept(pipeline)) || line.retired.values().any(retired)
        })
    }

    /// Returns the versions that were applied of a pipeline, in order.
    #[must_use]
    pub fn history(&self, name: &str) -> &[AppliedVersion] {
        self.by_name.get(name).map_or(&[], |line| &line.history)
    }

    /// Keeps a version, whether it is in force or not.
    pub(super) fn keep(&mut self, mut pipeline: Arc<Pipeline>) {
        if let (Some(check), None) = (self.checks.get(&pipeline.name), &pipeline.payload_check) {
            Arc::make_mut(&mut pipeline).payload_check = Some(check.clone());
        }
        let line = self.by_name.entry(pipeline.name.clone()).or_default();
        line.kept.insert(pipeline.version, pipeline);
    }

    /// Lets go of a version.
    pub(crate) fn retire(&mut self, name: &str, version: u32, retired: RetiredVersion) {
        if let Some(line) = self.by_name.get_mut(name) {
            line.kept.remove(&version);
            line.retired.insert(version, retired);
        }
    }

    /// Has a version that was retired at hand again, for what follows it.
    pub(super) fn recall(&mut self, pipeline: Arc<Pipeline>) {
        if let Some(line) = self.by_name.get_mut(&pipeline.name) {
            line.recalled.insert(pipeline.version, pipeline);
        }
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
