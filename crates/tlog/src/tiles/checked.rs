//! A reader of tiles that have been checked against a signed root, and of nothing else.
//!
//! The tiles at the right edge of the tree add up to the root; they are read first and together, and if they do not give
//! it, nothing is. Every other tile is full, and its hash is an entry of the tile above it, which was checked before. So
//! each hash given out, and each tile remembered, is one the root vouches for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use wire::Digest;

use super::{Shelf, SourceError, TILE_WIDTH, TilePath, TileSource, edge_width, read_tile};
use crate::tree::{Frontier, NodeId, Nodes, node_hash};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("{path} has {bytes} bytes instead of {expected}")]
    Length { path: TilePath, bytes: usize, expected: usize },
    #[error("the tiles at the right edge do not add up to the signed root of {size} leaves")]
    Edge { size: u64 },
    #[error("{0} is not what the signed root says it is")]
    Changed(TilePath),
    #[error("node {index} of level {level} is not complete in a tree of {size}")]
    Incomplete { level: u8, index: u64, size: u64 },
}

/// Tiles that are remembered: 8 MB of them, after which the memory starts anew.
const REMEMBERED_MAX: usize = 1_024;

type Tile = Rc<[Digest]>;

pub struct CheckedTiles<'a> {
    source: &'a dyn TileSource,
    size: u64,
    /// The partial tile at the right of each level; empty where the last one is full.
    edge: Vec<Tile>,
    full: RefCell<HashMap<(u8, u64), Tile>>,
}

impl std::fmt::Debug for CheckedTiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckedTiles").field("size", &self.size).finish_non_exhaustive()
    }
}

impl<'a> CheckedTiles<'a> {
    /// Reads the right edge and checks it against the root, which the caller has from a checkpoint he believes.
    pub fn open(source: &'a dyn TileSource, size: u64, root: &Digest) -> Result<Self, TileError> {
        let mut edge = Vec::new();
        let mut peaks = Vec::new();
        for level in 0..levels(size) {
            let width = edge_width(size, level);
            let index = size.checked_shr(8 * u32::from(level) + 8).unwrap_or(0);
            let tile: Tile = match width {
                0 => Rc::new([]),
                _ => parse(source, TilePath { shelf: Shelf::Hashes(level), index, width })?,
            };
            peaks.splice(0..0, peaks_of(&tile));
            edge.push(tile);
        }
        let frontier =
            Frontier::from_peaks(size, peaks).expect("a tile has one peak for each bit of its width");
        if frontier.root() != *root {
            return Err(TileError::Edge { size });
        }
        Ok(CheckedTiles { source, size, edge, full: RefCell::default() })
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The hashes of a tile: full ones, and the partial ones of this very size.
    pub fn tile(&self, level: u8, index: u64) -> Result<Rc<[Digest]>, TileError> {
        let last = self.size.checked_shr(8 * u32::from(level) + 8).unwrap_or(0);
        if index >= last {
            let edge = self.edge.get(usize::from(level)).filter(|tile| index == last && !tile.is_empty());
            let incomplete = TileError::Incomplete { level: 8 * level, index, size: self.size };
            return edge.cloned().ok_or(incomplete);
        }
        if let Some(tile) = self.full.borrow().get(&(level, index)) {
            return Ok(tile.clone());
        }
        let path = TilePath::full(Shelf::Hashes(level), index);
        let above = self.tile(level + 1, index / u64::from(TILE_WIDTH))?;
        let promised = above[usize::try_from(index % u64::from(TILE_WIDTH)).expect("below 256")];
        let tile = parse(self.source, path)?;
        if hash_of(&tile) != promised {
            return Err(TileError::Changed(path));
        }
        let mut full = self.full.borrow_mut();
        if full.len() >= REMEMBERED_MAX {
            full.clear();
        }
        full.insert((level, index), tile.clone());
        Ok(tile)
    }
}

impl Nodes for CheckedTiles<'_> {
    type Error = TileError;

    fn node(&self, id: NodeId) -> Result<Digest, TileError> {
        let (level, height) = (id.level / 8, u32::from(id.level % 8));
        let first = id.index.checked_shl(height).filter(|first| first >> height == id.index);
        let missing = TileError::Incomplete { level: id.level, index: id.index, size: self.size };
        let first = first.ok_or(missing.clone())?;
        let tile = self.tile(level, first / u64::from(TILE_WIDTH))?;
        let start = usize::try_from(first % u64::from(TILE_WIDTH)).expect("below 256");
        tile.get(start..start + (1 << height)).map(hash_of).ok_or(missing)
    }
}

/// Returns the number of levels of tiles in a tree of this size.
pub(crate) fn levels(size: u64) -> u8 {
    let bits = 64 - size.leading_zeros();
    u8::try_from(bits.div_ceil(8)).expect("at most eight")
}

fn parse(source: &dyn TileSource, path: TilePath) -> Result<Tile, TileError> {
    let bytes = read_tile(source, &path)?;
    let expected = 32 * usize::from(path.width);
    if bytes.len() != expected {
        return Err(TileError::Length { path, bytes: bytes.len(), expected });
    }
    let hashes = bytes.chunks_exact(32).map(|hash| Digest(hash.try_into().expect("chunks of 32")));
    Ok(hashes.collect())
}

/// The hash over a power of two of neighbours.
pub fn hash_of(hashes: &[Digest]) -> Digest {
    debug_assert!(hashes.len().is_power_of_two(), "a node covers a power of two");
    let mut row = hashes.to_vec();
    while row.len() > 1 {
        for pair in 0..row.len() / 2 {
            row[pair] = node_hash(&row[2 * pair], &row[2 * pair + 1]);
        }
        row.truncate(row.len() / 2);
    }
    row[0]
}

/// The complete nodes over a partial tile, largest first.
fn peaks_of(tile: &[Digest]) -> Vec<Digest> {
    let mut frontier = Frontier::new();
    tile.iter().for_each(|hash| frontier.push(*hash, |_, _| {}));
    frontier.peaks().to_vec()
}
