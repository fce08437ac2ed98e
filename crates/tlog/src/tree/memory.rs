//! A tree that keeps every complete node: for tests, and for logs small enough.

use std::convert::Infallible;

use wire::Digest;

use super::{Frontier, NodeId, Nodes, subtree_hash};

#[derive(Debug, Clone, Default)]
pub struct Memory {
    frontier: Frontier,
    levels: Vec<Vec<Digest>>,
}

impl Memory {
    #[must_use]
    pub fn new() -> Self {
        Memory::default()
    }

    pub fn push(&mut self, leaf: Digest) {
        let levels = &mut self.levels;
        self.frontier.push(leaf, |id, hash| {
            if levels.len() == usize::from(id.level) {
                levels.push(Vec::new());
            }
            levels[usize::from(id.level)].push(*hash);
        });
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        self.frontier.size()
    }

    #[must_use]
    pub fn root(&self) -> Digest {
        self.frontier.root()
    }

    /// The root it had when it was of this size.
    ///
    /// # Panics
    /// When it never was that large.
    #[must_use]
    pub fn root_at(&self, size: u64) -> Digest {
        assert!(size <= self.size(), "the tree has not grown that far");
        let Ok(root) = subtree_hash(self, 0..size);
        root
    }
}

impl Nodes for Memory {
    type Error = Infallible;

    fn node(&self, id: NodeId) -> Result<Digest, Infallible> {
        let index = usize::try_from(id.index).expect("a tree in memory is smaller than memory");
        Ok(self.levels[usize::from(id.level)][index])
    }
}
