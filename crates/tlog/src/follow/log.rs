//! The growing edge of a log, in memory: a few kilobytes, whatever its size.

use wire::Digest;

use crate::tiles::{
    CheckedTiles, Entries, LeafTooLong, Shelf, SourceError, TILE_WIDTH, TileError, TilePath, TileSource,
    check_leaf, edge_width, push_entry, read_bundle,
};
use crate::tree::{Frontier, leaf_hash};

/// The frontier, and the partial tiles that the next leaves fill up.
#[derive(Debug, Clone, Default)]
pub struct Log {
    frontier: Frontier,
    /// The hashes of the last tile of each level, unless it is full.
    edge: Vec<Vec<Digest>>,
    /// The entries of the last bundle, unless it is full.
    bundle: Vec<u8>,
}

/// The change that a batch of leaves makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The index of its first leaf.
    pub from: u64,
    pub size: u64,
    pub root: Digest,
    /// The tiles to keep before a checkpoint of this size is published.
    pub tiles: Vec<(TilePath, Vec<u8>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Tiles(#[from] TileError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("{0} does not hold the entries its tile of hashes was made of")]
    Bundle(TilePath),
}

impl Log {
    #[must_use]
    pub fn new() -> Self {
        Log::default()
    }

    /// Goes on with a log where its checkpoint says it is. What is read is checked against the root.
    pub fn open(source: &dyn TileSource, size: u64, root: &Digest) -> Result<Self, OpenError> {
        let tiles = CheckedTiles::open(source, size, root)?;
        let mut log = Log::default();
        let mut peaks = Vec::new();
        for level in 0..crate::tiles::levels(size) {
            let last = size.checked_shr(8 * u32::from(level) + 8).unwrap_or(0);
            let hashes = match edge_width(size, level) {
                0 => Vec::new(),
                _ => tiles.tile(level, last)?.to_vec(),
            };
            let mut part = Frontier::new();
            hashes.iter().for_each(|hash| part.push(*hash, |_, _| {}));
            peaks.splice(0..0, part.peaks().iter().copied());
            log.edge.push(hashes);
        }
        log.frontier =
            Frontier::from_peaks(size, peaks).expect("a tile has one peak for each bit of its width");
        let width = edge_width(size, 0);
        if width > 0 {
            let path = TilePath { shelf: Shelf::Entries, index: size / u64::from(TILE_WIDTH), width };
            log.bundle = read_bundle(source, &path)?;
            let hashes = Entries::of(&log.bundle).hashes();
            if hashes.as_ref().ok() != log.edge.first() {
                return Err(OpenError::Bundle(path));
            }
        }
        Ok(log)
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        self.frontier.size()
    }

    #[must_use]
    pub fn root(&self) -> Digest {
        self.frontier.root()
    }

    /// Appends leaves in their order. One that does not fit refuses the batch, and nothing of it is appended.
    pub fn append<L: AsRef<[u8]>>(&mut self, leaves: &[L]) -> Result<Batch, LeafTooLong> {
        leaves.iter().try_for_each(|leaf| check_leaf(leaf.as_ref()))?;
        let from = self.size();
        let mut tiles = Vec::new();
        for leaf in leaves {
            push_entry(&mut self.bundle, leaf.as_ref())?;
            let edge = &mut self.edge;
            self.frontier.push(leaf_hash(leaf.as_ref()), |id, hash| {
                if id.level % 8 == 0 {
                    keep(edge, id.level / 8, id.index, hash, &mut tiles);
                }
            });
            if self.size().is_multiple_of(u64::from(TILE_WIDTH)) {
                let index = self.size() / u64::from(TILE_WIDTH) - 1;
                tiles.push((TilePath::full(Shelf::Entries, index), std::mem::take(&mut self.bundle)));
            }
        }
        if !leaves.is_empty() {
            self.partial(from, &mut tiles);
        }
        Ok(Batch { from, size: self.size(), root: self.root(), tiles })
    }

    /// The partial tiles of the new size, where the batch touched them.
    fn partial(&self, from: u64, tiles: &mut Vec<(TilePath, Vec<u8>)>) {
        let size = self.size();
        for (level, hashes) in (0..).zip(&self.edge) {
            let shift = 8 * u32::from(level);
            if !hashes.is_empty() && from >> shift != size >> shift {
                let path =
                    TilePath { shelf: Shelf::Hashes(level), index: size >> shift >> 8, width: width(hashes) };
                tiles.push((path, bytes(hashes)));
            }
        }
        if !self.bundle.is_empty() || edge_width(size, 0) > 0 {
            let index = size / u64::from(TILE_WIDTH);
            let path = TilePath { shelf: Shelf::Entries, index, width: edge_width(size, 0) };
            tiles.push((path, self.bundle.clone()));
        }
    }
}

/// Adds a hash to the last tile of its level, and hands the tile on once it is full.
fn keep(
    edge: &mut Vec<Vec<Digest>>,
    level: u8,
    index: u64,
    hash: &Digest,
    tiles: &mut Vec<(TilePath, Vec<u8>)>,
) {
    let place = usize::from(level);
    if edge.len() == place {
        edge.push(Vec::new());
    }
    edge[place].push(*hash);
    if width(&edge[place]) == TILE_WIDTH {
        let path = TilePath::full(Shelf::Hashes(level), index / u64::from(TILE_WIDTH));
        tiles.push((path, bytes(&edge[place])));
        edge[place].clear();
    }
}

fn width(hashes: &[Digest]) -> u16 {
    u16::try_from(hashes.len()).expect("a tile has at most 256 hashes")
}

fn bytes(hashes: &[Digest]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}
