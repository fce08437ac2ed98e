//! The pipelines in force: every applied version, and the newest of each name.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use model::pipeline::Source;
use model::{Code, Digest, Json, Name, Pipeline, Refusal};
use store::{RegistryKey, Store};
use thiserror::Error;

/// Where definitions are registered.
const DEFINITIONS: &str = "pipeline";

/// Why what was applied cannot be brought into force.
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

#[derive(Debug, Clone, Default)]
pub struct Versions {
    by_name: BTreeMap<Name, BTreeMap<u32, Arc<Pipeline>>>,
}

impl Versions {
    #[must_use]
    pub fn latest(&self, name: &str) -> Option<&Arc<Pipeline>> {
        self.by_name.get(name)?.last_key_value().map(|(_, pipeline)| pipeline)
    }

    /// The newest version, or that there is none of this name.
    pub(crate) fn latest_or_refuse(&self, name: &str) -> Result<&Arc<Pipeline>, Refusal> {
        self.latest(name).ok_or_else(|| {
            let known: Vec<&str> = self.all().map(|pipeline| &*pipeline.name).collect();
            let message = format!("no pipeline `{name}`; there is {}", known.join(", "));
            Refusal::new(Code::UnknownPipeline, message)
        })
    }

    #[must_use]
    pub fn version(&self, name: &str, version: u32) -> Option<&Arc<Pipeline>> {
        self.by_name.get(name)?.get(&version)
    }

    /// Whether a registered definition is in force.
    fn is_known(&self, registered: &str) -> bool {
        let (name, version) = registered.rsplit_once('@').unwrap_or((registered, ""));
        version.parse().is_ok_and(|version| self.version(name, version).is_some())
    }

    /// The version whose definition has this digest.
    #[must_use]
    pub fn by_digest(&self, digest: &Digest) -> Option<&Arc<Pipeline>> {
        self.by_name.values().flat_map(BTreeMap::values).find(|pipeline| pipeline.digest == *digest)
    }

    /// The newest version of each, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Pipeline>> {
        self.by_name.values().filter_map(|versions| versions.last_key_value()).map(|(_, pipeline)| pipeline)
    }

    /// The versions of one pipeline, oldest first.
    pub fn versions(&self, name: &str) -> impl Iterator<Item = &Arc<Pipeline>> {
        self.by_name.get(name).into_iter().flat_map(BTreeMap::values)
    }
}

impl Pipelines {
    /// A consistent view, as of now.
    #[must_use]
    pub fn current(&self) -> Arc<Versions> {
        self.inner.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Brings into force what was applied and is not yet known here.
    pub fn catch_up(&self, store: &dyn Store) -> Result<(), LoadError> {
        for (name, definition) in store::registry_all(store, DEFINITIONS)? {
            if self.current().is_known(&name) {
                continue;
            }
            let refuse = |problems: String| LoadError::Definition { name: name.clone(), problems };
            let source =
                Source::from_definition(&definition).map_err(|problem| refuse(problem.to_string()))?;
            let pipeline = model::pipeline::load_applied(&source)
                .map_err(|problems| refuse(problems.render(&source)))?;
            self.insert(Arc::new(pipeline));
        }
        Ok(())
    }

    pub fn insert(&self, pipeline: Arc<Pipeline>) {
        let mut inner = self.inner.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut versions = (**inner).clone();
        versions.by_name.entry(pipeline.name.clone()).or_default().insert(pipeline.version, pipeline);
        *inner = Arc::new(versions);
    }
}

/// The definition with this digest, by looking through all.
pub(crate) fn definition_of(store: &dyn Store, digest: &Digest) -> Result<Option<Json>, store::Error> {
    let all = store::registry_all(store, DEFINITIONS)?.into_iter().map(|(_, definition)| definition);
    Ok(all.into_iter().find(|definition| Digest::of(definition.as_str().as_bytes()) == *digest))
}

/// Where a definition is registered.
pub(crate) fn definition_key(name: &str, version: u32) -> RegistryKey {
    RegistryKey { kind: DEFINITIONS.to_owned(), name: format!("{name}@{version}") }
}
