//! The pipelines in force: every version that submissions may follow, and the one of each name that new ones get.

mod applied;
mod bring;
mod retire;
mod versions;

pub use applied::AppliedVersion;
pub(crate) use applied::{histories, history_key};
pub use bring::{Apply, Brought, Intent};
pub(crate) use retire::{RetiredVersion, retired_key};
pub use versions::{PayloadChecks, VERSIONS_MAX, Versions};

use std::sync::{Arc, RwLock};

use model::pipeline::Source;
use model::{Digest, Json, Pipeline};
use store::Store;
use thiserror::Error;

use crate::registry::{self, Entry, EntryKey};

/// The newest definition of each version, as its exact text: that is what its digest is of.
#[derive(Debug)]
pub(crate) enum Definitions {}

impl Entry for Definitions {
    const KIND: &'static str = "pipeline";
    type Body = Json;

    fn write(body: &Json) -> Json {
        body.clone()
    }

    fn read(body: &Json) -> Result<Json, serde_json::Error> {
        Ok(body.clone())
    }
}

/// Definitions, by digest, that decide nothing any more: the log names them.
#[derive(Debug)]
pub(crate) enum PastDefinitions {}

impl Entry for PastDefinitions {
    const KIND: &'static str = "pipeline-past";
    type Body = Json;

    fn write(body: &Json) -> Json {
        body.clone()
    }

    fn read(body: &Json) -> Result<Json, serde_json::Error> {
        Ok(body.clone())
    }
}

/// The reason why an applied definition cannot be brought into force.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("the stored definition {name} does not load:\n{problems}")]
    Definition { name: String, problems: String },
}

/// Shared between those who check at the door and the core that decides. Read often, changed by `apply` alone.
#[derive(Debug, Clone, Default)]
pub struct Pipelines {
    inner: Arc<RwLock<Arc<Versions>>>,
}

impl Pipelines {
    /// Makes the pipelines of a server that keeps so many versions of each, and checks their payloads so.
    #[must_use]
    pub fn new(max: usize, checks: PayloadChecks) -> Self {
        let pipelines = Pipelines::default();
        pipelines.replace(Versions::new(max, Arc::new(checks)));
        pipelines
    }

    /// A consistent view, as of now.
    #[must_use]
    pub fn current(&self) -> Arc<Versions> {
        self.inner.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Brings into force what was applied and is not yet known here.
    pub fn catch_up(&self, store: &dyn Store) -> Result<(), LoadError> {
        self.catch_up_by(store, &|definition| load(definition).map(Arc::new))
    }

    /// The same, by another way to load a definition.
    pub fn catch_up_by(
        &self,
        store: &dyn Store,
        load: &dyn Fn(&Json) -> Result<Arc<Pipeline>, String>,
    ) -> Result<(), LoadError> {
        let histories = histories(store)?;
        let known = self.current();
        let mut versions = known.none_like();
        let mut registered = registry::readable::<Definitions>(store)?;
        // One after the other: a version shares what it has in common with the one that was loaded before it.
        registered.sort_by_cached_key(|(name, _)| retire::name_and_version(name));
        for (registered, definition) in registered {
            let (name, version) = retire::name_and_version(&registered);
            let digest = Digest::of(definition.as_str().as_bytes());
            let mut pipeline = match known.kept(&name, version).filter(|known| known.digest == digest) {
                Some(known) => known.clone(),
                None => load(&definition)
                    .map_err(|problems| LoadError::Definition { name: registered.clone(), problems })?,
            };
            let history = histories.get(&*name).map_or(&[][..], Vec::as_slice);
            let revision = applied::revision_of(history, version).max(1);
            if pipeline.revision != revision {
                Arc::make_mut(&mut pipeline).revision = revision;
            }
            versions.keep(pipeline);
        }
        for (name, history) in histories {
            versions.remember(&name, history);
        }
        retire::remember(store, &mut versions)?;
        versions.adopt(&known);
        self.replace(versions);
        Ok(())
    }

    /// Brings a pipeline into force that nobody keeps.
    pub fn insert(&self, pipeline: Arc<Pipeline>) {
        let mut versions = Versions::clone(&self.current());
        versions.bring_in(pipeline);
        self.replace(versions);
    }

    pub(crate) fn replace(&self, versions: Versions) {
        *self.inner.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(versions);
    }
}

fn load(definition: &Json) -> Result<Pipeline, String> {
    let source = Source::from_definition(definition)?;
    model::pipeline::load_applied(&source).map_err(|problems| problems.render(&source))
}

/// The definition with this digest, whether it decides anything still or not.
pub(crate) fn definition_of(store: &dyn Store, digest: &Digest) -> Result<Option<Json>, store::Error> {
    let is_it = |definition: &Json| Digest::of(definition.as_str().as_bytes()) == *digest;
    let all = registry::readable::<Definitions>(store)?.into_iter().map(|(_, definition)| definition);
    if let Some(found) = all.into_iter().find(is_it) {
        return Ok(Some(found));
    }
    past_key(digest).get(store)
}

/// The pipeline that a definition with this digest is of, whether it decides anything still or not.
pub(crate) fn pipeline_of(
    store: &dyn Store,
    versions: &Versions,
    digest: &Digest,
) -> Result<Option<Arc<Pipeline>>, store::Error> {
    if let Some(known) = versions.by_digest(digest) {
        return Ok(Some(known.clone()));
    }
    definition_of(store, digest)?.map(|definition| loaded(&definition, digest).map(Arc::new)).transpose()
}

fn loaded(definition: &Json, digest: &Digest) -> Result<Pipeline, store::Error> {
    load(definition).map_err(|problems| {
        store::Error::corrupt(format!("the stored definition {digest} does not load:\n{problems}"))
    })
}

/// Returns the key of the newest definition of a version.
pub(crate) fn definition_key(name: &str, version: u32) -> EntryKey<Definitions> {
    EntryKey::new(format!("{name}@{version}"))
}

/// Returns the key under which a definition is kept once another takes its place.
pub(crate) fn past_key(digest: &Digest) -> EntryKey<PastDefinitions> {
    EntryKey::new(digest.to_string())
}
