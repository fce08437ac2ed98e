//! Letting go of versions: what is retired decides nothing any more, and nothing begins to follow it. Its definition stays
//! in the store, because the log names it.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::pipeline::OnDuplicate;
use model::{Code, Digest, Name, Pipeline, Refusal};
use serde::{Deserialize, Serialize};
use store::Store;

use super::applied::revision_of;
use super::{Pipelines, Versions, loaded, past_key};
use crate::registry::{self, Entry, EntryKey};

#[derive(Debug)]
pub(crate) enum RetiredVersions {}

impl Entry for RetiredVersions {
    const KIND: &'static str = "pipeline-retired";
    type Body = RetiredVersion;
}

/// The part of a retired version that is kept at hand.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RetiredVersion {
    /// The digest of its newest definition.
    definition: Digest,
    /// Set if its submissions queue for the key of another.
    pub(super) queues: bool,
    /// Set if some of its states lead somewhere when the parent is cancelled.
    pub(super) follows_parent: bool,
}

impl RetiredVersion {
    pub(crate) fn of(pipeline: &Pipeline) -> Self {
        RetiredVersion {
            definition: pipeline.digest,
            queues: queues(pipeline),
            follows_parent: follows_parent(pipeline),
        }
    }
}

pub(super) fn queues(pipeline: &Pipeline) -> bool {
    pipeline.on_duplicate == OnDuplicate::Queue
}

pub(super) fn follows_parent(pipeline: &Pipeline) -> bool {
    pipeline.states.iter().any(|state| !state.on_parent_cancelled.is_empty())
}

/// Returns the key that a version is listed under once it is retired.
pub(crate) fn retired_key(name: &str, version: u32) -> EntryKey<RetiredVersions> {
    EntryKey::new(format!("{name}@{version}"))
}

/// The parts of the name that a version is registered under.
pub(super) fn name_and_version(registered: &str) -> (Name, u32) {
    let (name, version) = registered.rsplit_once('@').unwrap_or((registered, ""));
    (name.into(), version.parse().unwrap_or(0))
}

/// Reads which versions are retired.
pub(super) fn remember(store: &dyn Store, versions: &mut Versions) -> Result<(), store::Error> {
    for (registered, retired) in registry::all::<RetiredVersions>(store)? {
        let (name, version) = name_and_version(&registered);
        versions.retire(&name, version, retired?);
    }
    Ok(())
}

impl Versions {
    /// A version that may be retired as far as the other versions go, or why not. `None`: it was retired before.
    pub fn retirable(&self, name: &str, version: u32) -> Result<Option<&Arc<Pipeline>>, Refusal> {
        let in_force = self.in_force_or_refuse(name)?.version;
        if self.is_retired(name, version) {
            return Ok(None);
        }
        let Some(pipeline) = self.kept(name, version) else {
            let known: Vec<String> = self.versions(name).map(|known| known.version.to_string()).collect();
            let message = format!("no version {version} of `{name}`; there is {}", known.join(", "));
            return Err(Refusal::new(Code::UnknownVersion, message));
        };
        if version == in_force {
            let message = format!("version {version} of `{name}` is in force; apply another one first");
            return Err(Refusal::new(Code::VersionInUse, message));
        }
        if self.before(name) == Some(version) {
            let message = format!(
                "version {version} of `{name}` was in force before version {in_force}, and is what `milepost apply --rollback` \
                 would go back to; retire it once another version was applied"
            );
            return Err(Refusal::new(Code::VersionInUse, message));
        }
        Ok(Some(pipeline))
    }

    /// The version that was in force before the one that is.
    fn before(&self, name: &str) -> Option<u32> {
        let in_force = self.in_force(name)?.version;
        let others = self.history(name).iter().rev().map(|applied| applied.version);
        others.into_iter().find(|version| *version != in_force)
    }
}

impl Pipelines {
    /// Has retired versions at hand again: something came to follow them while they were retired. They are let go of with
    /// the next change of definitions or holds, and are here again when they are needed.
    pub(crate) fn recall(
        &self,
        store: &dyn Store,
        missing: &BTreeSet<(Name, u32)>,
    ) -> Result<(), store::Error> {
        let mut versions = Versions::clone(&self.current());
        for (name, version) in missing {
            let unknown =
                || store::Error::corrupt(format!("the retired version {version} of `{name}` is not kept"));
            let digest = versions.retired_version(name, *version).ok_or_else(unknown)?.definition;
            let definition = past_key(&digest).get(store)?.ok_or_else(unknown)?;
            let mut pipeline = loaded(&definition, &digest)?;
            pipeline.revision = revision_of(versions.history(name), *version).max(1);
            tracing::warn!(
                pipeline = &**name,
                version,
                "a submission follows a version that was retired; it is loaded again"
            );
            versions.recall(Arc::new(pipeline));
        }
        self.replace(versions);
        Ok(())
    }
}
