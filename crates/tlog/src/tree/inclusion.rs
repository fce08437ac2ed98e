//! Inclusion: this leaf is at this place of that tree.

use std::ops::Range;

use wire::Digest;

use super::nodes::{Nodes, split, subtree_hash};
use super::{ProofError, node_hash};

/// The audit path of the leaf at `index` in the tree of `size` leaves, from its sibling up. Empty for an index outside.
pub fn prove_inclusion<N: Nodes + ?Sized>(nodes: &N, index: u64, size: u64) -> Result<Vec<Digest>, N::Error> {
    let mut siblings: Vec<Range<u64>> = Vec::new();
    let mut range = 0..size;
    while range.contains(&index) && range.end - range.start > 1 {
        let middle = range.start + split(range.end - range.start);
        if index < middle {
            siblings.push(middle..range.end);
            range.end = middle;
        } else {
            siblings.push(range.start..middle);
            range.start = middle;
        }
    }
    siblings.into_iter().rev().map(|sibling| subtree_hash(nodes, sibling)).collect()
}

/// The root the path leads to, if it is exactly as long as this place in a tree of this size asks for.
pub fn root_from_inclusion(
    index: u64,
    size: u64,
    leaf: Digest,
    proof: &[Digest],
) -> Result<Digest, ProofError> {
    if index >= size {
        return Err(ProofError::OutOfRange { index, size });
    }
    // Below the level where the path leaves the right edge every node has a sibling; above it only those to the left.
    let last = size - 1;
    let inner = 64 - (index ^ last).leading_zeros();
    let border = (index.checked_shr(inner).unwrap_or(0)).count_ones();
    let expected = (inner + border) as usize;
    if proof.len() != expected {
        return Err(ProofError::Length { expected, found: proof.len() });
    }
    let (below, above) = proof.split_at(inner as usize);
    let mut hash = leaf;
    for (level, sibling) in below.iter().enumerate() {
        hash = if index >> level & 1 == 0 { node_hash(&hash, sibling) } else { node_hash(sibling, &hash) };
    }
    Ok(above.iter().fold(hash, |hash, sibling| node_hash(sibling, &hash)))
}

/// Checks that the leaf with this hash is at `index` of the tree with this size and root.
pub fn verify_inclusion(
    index: u64,
    (size, root): (u64, &Digest),
    leaf: Digest,
    proof: &[Digest],
) -> Result<(), ProofError> {
    if root_from_inclusion(index, size, leaf, proof)? == *root { Ok(()) } else { Err(ProofError::Root) }
}
