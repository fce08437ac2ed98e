//! All leaves of the list's own log, believed only as far as its signed head vouches for them.

use tlog::note::{Distrust, Trust};
use tlog::tiles::{Entries, SourceError, TILE_WIDTH, TilePath, read_bundle};
use tlog::tree::{Memory, leaf_hash, prove_inclusion};

use crate::hex::hex;
use crate::log::{Path, Source, Unreachable};

/// The leaves of a log as of one signed head.
#[derive(Debug, Clone)]
pub struct LogLeaves {
    /// The signed head, verbatim; none of a log that has none yet.
    pub tree_head: Option<String>,
    pub leaves: Vec<Vec<u8>>,
    tree: Memory,
}

#[derive(Debug, thiserror::Error)]
pub enum LeavesError {
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    #[error("the head of the log is not to be believed: {0}")]
    Head(#[from] Distrust),
    #[error("the log: {0}")]
    Tiles(#[from] SourceError),
    #[error("entry {0} of the log cannot be read")]
    Entry(u64),
    #[error("the leaves of the log do not add up to the root that its head signs")]
    Root,
}

impl LogLeaves {
    /// Reads a log. Blocks, like all that reads one.
    ///
    /// # Errors
    /// When the log cannot be read, or is not what its signed head says.
    pub fn read(source: &Source, trust: &Trust) -> Result<LogLeaves, LeavesError> {
        let Some(text) = source.checkpoint()? else {
            return Ok(LogLeaves { tree_head: None, leaves: Vec::new(), tree: Memory::new() });
        };
        let head = trust.open(text.as_bytes())?.checkpoint;
        let (mut leaves, mut tree) = (Vec::new(), Memory::new());
        while tree.size() < head.size {
            let path = TilePath::of_entry(tree.size(), head.size);
            let bundle = read_bundle(source, &path)?;
            let before = tree.size();
            for entry in Entries::of(&bundle).take(usize::from(TILE_WIDTH)) {
                let entry = entry.map_err(|_| LeavesError::Entry(tree.size()))?;
                tree.push(leaf_hash(entry));
                leaves.push(entry.to_vec());
            }
            if tree.size() == before {
                return Err(LeavesError::Entry(before));
            }
        }
        match tree.size() == head.size && tree.root() == head.root {
            true => Ok(LogLeaves { tree_head: Some(text), leaves, tree }),
            false => Err(LeavesError::Root),
        }
    }

    /// Returns the way from a leaf to the root.
    pub(super) fn path(&self, index: u64) -> Path {
        let size = self.tree.size();
        let Ok(hashes) = prove_inclusion(&self.tree, index, size);
        Path { index, size, hashes: hashes.iter().map(hex).collect() }
    }
}
