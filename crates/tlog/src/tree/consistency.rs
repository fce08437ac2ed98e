//! Consistency: the newer tree begins with all of the older one.

use std::ops::Range;

use wire::Digest;

use super::nodes::{Nodes, split, subtree_hash};
use super::{ProofError, node_hash};

/// The proof that the tree of `new` leaves begins with the tree of `old`. Empty where there is nothing to prove.
pub fn prove_consistency<N: Nodes + ?Sized>(nodes: &N, old: u64, new: u64) -> Result<Vec<Digest>, N::Error> {
    if old == 0 || old >= new {
        return Ok(Vec::new());
    }
    let mut parts: Vec<Range<u64>> = Vec::new();
    let mut range = 0..new;
    // Whether the old tree begins where the range does: then its root is known and is not repeated.
    let mut from_start = true;
    while range.end != old {
        let middle = range.start + split(range.end - range.start);
        if old <= middle {
            parts.push(middle..range.end);
            range.end = middle;
        } else {
            parts.push(range.start..middle);
            range.start = middle;
            from_start = false;
        }
    }
    if !from_start {
        parts.push(range);
    }
    parts.into_iter().rev().map(|part| subtree_hash(nodes, part)).collect()
}

/// Checks that the tree `new` (size and root) begins with the tree `old`. An empty old tree is refused: every tree
/// begins with one, so a proof would say nothing.
pub fn verify_consistency(
    (old, old_root): (u64, &Digest),
    (new, new_root): (u64, &Digest),
    proof: &[Digest],
) -> Result<(), ProofError> {
    if old == 0 || old > new {
        return Err(ProofError::Sizes { old, new });
    }
    if old == new {
        return match proof.len() {
            0 if old_root == new_root => Ok(()),
            0 => Err(ProofError::Root),
            found => Err(ProofError::Length { expected: 0, found }),
        };
    }
    let (roots, expected) = walk(old, new, old_root, proof);
    match roots {
        None => Err(ProofError::Length { expected, found: proof.len() }),
        Some((from_old, from_new)) if from_old == *old_root && from_new == *new_root => Ok(()),
        Some(_) => Err(ProofError::Root),
    }
}

/// Both roots the proof leads to, and how long it has to be.
fn walk(old: u64, new: u64, old_root: &Digest, proof: &[Digest]) -> (Option<(Digest, Digest)>, usize) {
    // The node where the right edge of the old tree begins: everything below is inside it.
    let skipped = old.trailing_zeros();
    let (index, last) = ((old - 1) >> skipped, (new - 1) >> skipped);
    let inner = 64 - (index ^ last).leading_zeros();
    let border = index.checked_shr(inner).unwrap_or(0).count_ones();
    let seed_given = !old.is_power_of_two();
    let expected = (inner + border) as usize + usize::from(seed_given);
    if proof.len() != expected {
        return (None, expected);
    }
    let (seed, rest) = if seed_given { (proof[0], &proof[1..]) } else { (*old_root, proof) };
    let (below, above) = rest.split_at(inner as usize);
    let (mut from_old, mut from_new) = (seed, seed);
    for (level, hash) in below.iter().enumerate() {
        if index >> level & 1 == 1 {
            from_old = node_hash(hash, &from_old);
            from_new = node_hash(hash, &from_new);
        } else {
            from_new = node_hash(&from_new, hash);
        }
    }
    for hash in above {
        from_old = node_hash(hash, &from_old);
        from_new = node_hash(hash, &from_new);
    }
    (Some((from_old, from_new)), expected)
}
