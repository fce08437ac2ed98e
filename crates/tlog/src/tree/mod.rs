//! The hash tree of RFC 6962: hashing, growing, proving. Pure; where hashes are kept is somebody else's business.

mod consistency;
mod frontier;
mod inclusion;
mod memory;
mod nodes;

pub use consistency::{prove_consistency, verify_consistency};
pub use frontier::Frontier;
pub use inclusion::{prove_inclusion, root_from_inclusion, verify_inclusion};
pub use memory::Memory;
pub use nodes::{NodeId, Nodes, subtree_hash};

use wire::Digest;

/// The hash of a leaf's exact bytes.
#[must_use]
pub fn leaf_hash(bytes: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], bytes])
}

/// The hash of two neighbours.
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    let mut input = [1; 65];
    input[1..33].copy_from_slice(&left.0);
    input[33..].copy_from_slice(&right.0);
    Digest::of(&input)
}

/// The root of a tree without leaves.
#[must_use]
pub fn empty_root() -> Digest {
    Digest::of(&[])
}

/// The reason why a proof proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    #[error("index {index} is not in a tree of {size}")]
    OutOfRange { index: u64, size: u64 },
    #[error("a tree of {old} cannot become one of {new}")]
    Sizes { old: u64, new: u64 },
    #[error("the proof has {found} hashes where {expected} are needed")]
    Length { expected: usize, found: usize },
    #[error("the proof leads to another root")]
    Root,
}
