//! Nodes of the tree by place, and the hash of any range that is a subtree.

use std::ops::Range;

use wire::Digest;

use super::{empty_root, node_hash};

/// A node over `2^level` leaves, all of them there: it never changes as the tree grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    pub level: u8,
    pub index: u64,
}

/// A source of the hashes of complete nodes.
pub trait Nodes {
    type Error;

    fn node(&self, id: NodeId) -> Result<Digest, Self::Error>;
}

/// The largest power of two smaller than `size`: where RFC 6962 splits a range.
pub(super) fn split(size: u64) -> u64 {
    debug_assert!(size > 1, "a range of one leaf is not split");
    1 << (63 - (size - 1).leading_zeros())
}

/// The hash of the leaves `range`, which must be a subtree: it begins at a multiple of a power of two that is no smaller
/// than it is long.
pub fn subtree_hash<N: Nodes + ?Sized>(nodes: &N, range: Range<u64>) -> Result<Digest, N::Error> {
    if range.is_empty() {
        return Ok(empty_root());
    }
    // From the left, the largest complete nodes that fit; then folded from the right.
    let mut peaks = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let level = 63 - (range.end - start).leading_zeros();
        let level = u8::try_from(level).expect("at most 63");
        peaks.push(nodes.node(NodeId { level, index: start >> level })?);
        start += 1 << level;
    }
    Ok(fold(&peaks))
}

/// The root over complete nodes of falling size.
pub(super) fn fold(peaks: &[Digest]) -> Digest {
    let Some((last, rest)) = peaks.split_last() else { return empty_root() };
    rest.iter().rev().fold(*last, |right, left| node_hash(left, &right))
}
