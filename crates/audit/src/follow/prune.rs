//! Retention: entries below a minimum index may go, once the log itself says so. Hash tiles stay, so every proof does.

use crate::leaf::Pruned;
use crate::tiles::{Shelf, TILE_WIDTH, TilePath};
use crate::tree::{ProofError, leaf_hash, verify_inclusion};
use tlog::follow::{TileStore, TileStoreError};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PruneError {
    #[error("the policy is not in the log yet ({0}); log it first and prune after the next checkpoint")]
    NotLogged(#[from] ProofError),
    #[error(transparent)]
    Store(#[from] TileStoreError),
}

/// Removes the full bundles that lie below the policy's minimum index, after checking that the policy is logged in the
/// tree (size and root): `index` and `proof` say where. Returns how many bundles went.
pub fn prune(
    store: &dyn TileStore,
    policy: &Pruned,
    (size, root): (u64, &model::Digest),
    (index, proof): (u64, &[model::Digest]),
) -> Result<u64, PruneError> {
    let leaf = crate::leaf::Record::Pruned(policy.clone()).bytes();
    verify_inclusion(index, (size, root), leaf_hash(&leaf), proof)?;
    let bundles = policy.minimum_index.min(size) / u64::from(TILE_WIDTH);
    let paths: Vec<TilePath> = (0..bundles).map(|index| TilePath::full(Shelf::Entries, index)).collect();
    store.remove(&paths)?;
    Ok(bundles)
}
