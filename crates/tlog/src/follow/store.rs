//! The store of tiles. Tiles never change once a checkpoint covers them, so writing one twice is harmless; only the
//! checkpoint is fought over.

use crate::tiles::{TilePath, TileSource};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tile store: {0}")]
pub struct TileStoreError(pub String);

/// The result of moving the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    Done,
    /// The checkpoint that is there: somebody else moved it.
    Lost(Option<String>),
}

pub trait TileStore: TileSource {
    /// Keeps the tiles, durably, before it returns.
    fn put(&self, tiles: &[(TilePath, Vec<u8>)]) -> Result<(), TileStoreError>;

    /// Forgets tiles; those that are not there are fine.
    fn remove(&self, tiles: &[TilePath]) -> Result<(), TileStoreError>;

    /// Forgets the partial tiles of these full ones. Whoever still wants a partial one reads the beginning of the full.
    fn forget_partial(&self, full: &[TilePath]) -> Result<(), TileStoreError>;

    fn checkpoint(&self) -> Result<Option<String>, TileStoreError>;

    /// Replaces the checkpoint if it is still `expected`, durably.
    fn swap_checkpoint(&self, expected: Option<&str>, next: &str) -> Result<Swap, TileStoreError>;
}
