//! The right edge of a tree: all that is needed to go on growing it.

use wire::Digest;

use super::node_hash;
use super::nodes::{NodeId, fold};

/// The complete nodes that cover a tree, largest first: one for each bit set in its size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Digest>,
}

impl Frontier {
    #[must_use]
    pub fn new() -> Self {
        Frontier::default()
    }

    /// The frontier of a tree of `size` leaves with these peaks, largest first; `None` if there is not one per bit.
    #[must_use]
    pub fn from_peaks(size: u64, peaks: Vec<Digest>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Frontier { size, peaks })
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    #[must_use]
    pub fn peaks(&self) -> &[Digest] {
        &self.peaks
    }

    /// Appends one leaf by its hash. `made` is told of every node that is complete now, from the leaf up.
    pub fn push(&mut self, leaf: Digest, mut made: impl FnMut(NodeId, &Digest)) {
        let mut id = NodeId { level: 0, index: self.size };
        let mut hash = leaf;
        made(id, &hash);
        while id.index & 1 == 1 {
            let left = self.peaks.pop().expect("an odd index has a complete node to its left");
            hash = node_hash(&left, &hash);
            id = NodeId { level: id.level + 1, index: id.index >> 1 };
            made(id, &hash);
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    #[must_use]
    pub fn root(&self) -> Digest {
        fold(&self.peaks)
    }
}
