//! Tiles in memory, for tests and for logs that are kept elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::store::{Swap, TileStore, TileStoreError};
use crate::tiles::{SourceError, TilePath, TileSource};

#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    tiles: BTreeMap<TilePath, Vec<u8>>,
    checkpoint: Option<String>,
}

impl MemoryStore {
    #[must_use]
    pub fn new() -> Self {
        MemoryStore::default()
    }

    /// Returns every tile in the store, by path.
    #[must_use]
    pub fn tiles(&self) -> BTreeMap<TilePath, Vec<u8>> {
        self.kept().tiles.clone()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Every change is one insert or removal: a panic elsewhere leaves nothing half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TileSource for MemoryStore {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        self.kept().tiles.get(path).cloned().ok_or(SourceError::Missing(*path))
    }
}

impl TileStore for MemoryStore {
    fn put(&self, tiles: &[(TilePath, Vec<u8>)]) -> Result<(), TileStoreError> {
        self.kept().tiles.extend(tiles.iter().cloned());
        Ok(())
    }

    fn remove(&self, tiles: &[TilePath]) -> Result<(), TileStoreError> {
        let mut kept = self.kept();
        tiles.iter().for_each(|path| drop(kept.tiles.remove(path)));
        Ok(())
    }

    fn forget_partial(&self, full: &[TilePath]) -> Result<(), TileStoreError> {
        self.kept().tiles.retain(|path, _| path.is_full() || !full.contains(&path.whole()));
        Ok(())
    }

    fn checkpoint(&self) -> Result<Option<String>, TileStoreError> {
        Ok(self.kept().checkpoint.clone())
    }

    fn swap_checkpoint(&self, expected: Option<&str>, next: &str) -> Result<Swap, TileStoreError> {
        let mut kept = self.kept();
        if kept.checkpoint.as_deref() != expected {
            return Ok(Swap::Lost(kept.checkpoint.clone()));
        }
        kept.checkpoint = Some(next.to_owned());
        Ok(Swap::Done)
    }
}
