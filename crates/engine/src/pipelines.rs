//! The pipelines in force: every applied version, and the newest of each name.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use model::{Name, Pipeline};

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

    #[must_use]
    pub fn version(&self, name: &str, version: u32) -> Option<&Arc<Pipeline>> {
        self.by_name.get(name)?.get(&version)
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

    pub fn insert(&self, pipeline: Arc<Pipeline>) {
        let mut inner = self.inner.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut versions = (**inner).clone();
        versions.by_name.entry(pipeline.name.clone()).or_default().insert(pipeline.version, pipeline);
        *inner = Arc::new(versions);
    }
}
