//! Proofs out of a tile log, believed only as far as its key and its own past vouch for them.

use std::path::PathBuf;
use std::sync::Arc;

use tlog::follow::{FolderStore, TileStore as _};
use tlog::note::{Opened, Trust, VerifierKey};
use tlog::tiles::{CheckedTiles, SourceError, TileError, TilePath, TileSource};
use tlog::tree::{leaf_hash, prove_consistency, prove_inclusion, verify_inclusion};
use wire::Digest;

use super::remote::Remote;
use super::seen::{Seen, check_follows};
use super::{Lie, Path, Proof, Standing, Submitted, Unreachable, hashes};

/// The place that a log is read from.
#[derive(Debug, Clone)]
pub enum Source {
    Folder(FolderStore),
    /// The address at which everybody reads it.
    Remote(Remote),
}

/// A reader of one log.
#[derive(Debug, Clone)]
pub struct Reader {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Source,
    trust: Trust,
    seen: Seen,
}

/// The reason why there is no proof.
enum NoProof {
    Unreachable(Unreachable),
    Lie(Lie),
}

impl Reader {
    /// Reads a log with this key. `memory` is the file that keeps the newest head that was believed.
    #[must_use]
    pub fn new(source: Source, key: VerifierKey, memory: PathBuf) -> Reader {
        Reader { inner: Arc::new(Inner { source, trust: Trust::key(key), seen: Seen::at(memory) }) }
    }

    pub(super) async fn prove(&self, submitted: Submitted) -> Result<Standing, Unreachable> {
        let inner = self.inner.clone();
        let proving = tokio::task::spawn_blocking(move || inner.prove(&submitted));
        proving.await.map_err(|_| Unreachable("its reader ended in the middle".to_owned()))?
    }
}

impl Inner {
    fn prove(&self, submitted: &Submitted) -> Result<Standing, Unreachable> {
        let Some(text) = self.source.checkpoint()? else { return Ok(Standing::NotYet) };
        let lie = |reason: String| Standing::Lies(Lie { reason, tree_head: text.clone() });
        let opened = match self.trust.open(text.as_bytes()) {
            Ok(opened) => opened,
            Err(distrust) => return Ok(lie(distrust.to_string())),
        };
        match self.prove_in(&opened, &text, submitted) {
            Ok(Some(proof)) => Ok(Standing::Included(proof)),
            Ok(None) => Ok(Standing::NotYet),
            Err(NoProof::Lie(found)) => Ok(Standing::Lies(found)),
            Err(NoProof::Unreachable(error)) => Err(error),
        }
    }

    /// Proves that the leaf is in the tree of a head that was signed. None: the tree does not go that far yet.
    fn prove_in(&self, opened: &Opened, text: &str, submitted: &Submitted) -> Result<Option<Proof>, NoProof> {
        let (size, root) = opened.checkpoint.tree();
        let doubt = |error: TileError| no_proof(error, text);
        let tiles = CheckedTiles::open(&self.source, size, root).map_err(doubt)?;
        if let Some(last) = self.seen.last().map_err(NoProof::Unreachable)? {
            let proof = prove_consistency(&tiles, last.size, size).map_err(doubt)?;
            let follows = check_follows(&last, &opened.checkpoint, &proof);
            follows.map_err(|reason| NoProof::Lie(Lie { reason, tree_head: text.to_owned() }))?;
        }
        self.seen.remember(&opened.checkpoint).map_err(NoProof::Unreachable)?;
        let leaf = leaf_hash(submitted.leaf.as_bytes());
        let Some(index) = submitted.index.filter(|index| *index < size) else { return Ok(None) };
        let path: Vec<Digest> = prove_inclusion(&tiles, index, size).map_err(doubt)?;
        verify_inclusion(index, (size, root), leaf, &path).map_err(|error| {
            let reason = format!("leaf {index} of the log is not the one that was put there: {error}");
            NoProof::Lie(Lie { reason, tree_head: text.to_owned() })
        })?;
        let proof = Path { index, size, hashes: hashes(&path) };
        Ok(Some(Proof { proof, tree_head: text.to_owned() }))
    }
}

/// Tiles that cannot be had say nothing. Those that are there and are not what the signed root says are a lie.
fn no_proof(error: TileError, tree_head: &str) -> NoProof {
    match error {
        TileError::Source(error) => NoProof::Unreachable(Unreachable(error.to_string())),
        other => NoProof::Lie(Lie { reason: other.to_string(), tree_head: tree_head.to_owned() }),
    }
}

impl Source {
    pub(crate) fn checkpoint(&self) -> Result<Option<String>, Unreachable> {
        match self {
            Source::Folder(folder) => folder.checkpoint().map_err(|error| Unreachable(error.to_string())),
            Source::Remote(remote) => remote.checkpoint(),
        }
    }
}

impl TileSource for Source {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        match self {
            Source::Folder(folder) => folder.tile(path),
            Source::Remote(remote) => remote.tile(path),
        }
    }
}
