//! One step of the log: leaves in, tiles kept, checkpoint signed and moved.

use super::log::{Log, OpenError};
use super::store::{Swap, TileStore, TileStoreError};
use crate::guard::{Fork, Guard, GuardError};
use crate::note::{Checkpoint, MalformedCheckpoint, MalformedNote, Note};
use crate::tiles::{CheckedTiles, LeafTooLong, TileError, TilePath};
use crate::tree::{prove_consistency, prove_inclusion};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Leaf(#[from] LeafTooLong),
    #[error(transparent)]
    Store(#[from] TileStoreError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Tiles(#[from] TileError),
    #[error(transparent)]
    Guard(#[from] GuardError),
    #[error(transparent)]
    Note(#[from] MalformedNote),
    #[error(transparent)]
    Checkpoint(#[from] MalformedCheckpoint),
    #[error("somebody else moved the checkpoint; open the log again and go on from there")]
    Moved,
    #[error("the log in the store is {found}, not {origin}")]
    Origin { origin: String, found: String },
}

/// The result of publishing leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The index of the first new leaf.
    pub from: u64,
    pub checkpoint: Checkpoint,
    /// The signed note.
    pub text: String,
    /// Tiles that are full now: their partial ones may be forgotten ([`TileStore::forget_partial`]).
    pub full: Vec<TilePath>,
}

/// Grows one log in one store. Tiles first, then the guard's signature, then the checkpoint: whatever is interrupted, the
/// published checkpoint has all its tiles, and a restart makes the same tiles of the same leaves.
pub struct Publisher<'a> {
    store: &'a dyn TileStore,
    origin: String,
    guard: Guard,
    log: Log,
    /// The checkpoint in the store, as it is there.
    current: Option<String>,
}

impl std::fmt::Debug for Publisher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publisher")
            .field("origin", &self.origin)
            .field("size", &self.log.size())
            .finish_non_exhaustive()
    }
}

impl<'a> Publisher<'a> {
    pub fn open(store: &'a dyn TileStore, origin: &str, guard: Guard) -> Result<Self, PublishError> {
        let current = store.checkpoint()?;
        let log = match &current {
            None => Log::new(),
            Some(text) => {
                let checkpoint: Checkpoint = Note::parse(text.as_bytes())?.text.parse()?;
                if checkpoint.origin != origin {
                    return Err(PublishError::Origin { origin: origin.to_owned(), found: checkpoint.origin });
                }
                Log::open(store, checkpoint.size, &checkpoint.root)?
            }
        };
        Ok(Publisher { store, origin: origin.to_owned(), guard, log, current })
    }

    /// Returns the number of published leaves: the next leaf's index.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.log.size()
    }

    /// Returns how many leaves the next batch must have at least. Above zero after a stop between a signature and its
    /// checkpoint: those leaves are committed, and only a tree that has them follows what was signed.
    #[must_use]
    pub fn owed(&self) -> u64 {
        self.guard.last().map_or(0, |last| last.size.saturating_sub(self.log.size()))
    }

    /// Publishes leaves. After an error the publisher is as it was before.
    pub fn advance<L: AsRef<[u8]>>(&mut self, leaves: &[L]) -> Result<Published, PublishError> {
        self.publish(leaves, |guard, next, tiles| {
            guard.sign(next, |old| Ok(prove_consistency(tiles, old, next.size)?))
        })
    }

    /// Goes on although the guard remembers more: its leaf comes after `leaves`, and says so.
    pub fn fork(&mut self, leaves: &[Vec<u8>], fork: &Fork) -> Result<Published, PublishError> {
        let mut leaves = leaves.to_vec();
        leaves.push(fork.leaf.clone());
        self.publish(&leaves, |guard, next, tiles| {
            let index = next.size - 1;
            let proof = prove_inclusion(tiles, index, next.size)?;
            Ok(guard.sign_fork(next, fork, (index, &proof))?)
        })
    }

    /// Returns the checkpoint that the guard signed last: the one a fork has to name.
    #[must_use]
    pub fn last_signed(&self) -> Option<&Checkpoint> {
        self.guard.last()
    }

    fn publish<L: AsRef<[u8]>>(
        &mut self,
        leaves: &[L],
        sign: impl FnOnce(&mut Guard, &Checkpoint, &CheckedTiles<'_>) -> Result<Note, PublishError>,
    ) -> Result<Published, PublishError> {
        let mut log = self.log.clone();
        let batch = log.append(leaves)?;
        self.store.put(&batch.tiles)?;
        let checkpoint = Checkpoint::new(&self.origin, batch.size, batch.root);
        // Read back what was kept: a store that lost a tile is found out before anything is signed.
        let source: &dyn crate::tiles::TileSource = &self.store;
        let tiles = CheckedTiles::open(source, batch.size, &batch.root)?;
        let note = sign(&mut self.guard, &checkpoint, &tiles)?;
        let text = note.to_string();
        match self.store.swap_checkpoint(self.current.as_deref(), &text)? {
            Swap::Done => {
                self.log = log;
                self.current = Some(text.clone());
                let full = batch.tiles.iter().map(|(path, _)| *path).filter(TilePath::is_full).collect();
                Ok(Published { from: batch.from, checkpoint, text, full })
            }
            Swap::Lost(_) => Err(PublishError::Moved),
        }
    }

    /// Replaces the checkpoint by the same one with cosignatures under it.
    pub fn cosigned(&mut self, note: &Note) -> Result<(), PublishError> {
        let text = note.to_string();
        match self.store.swap_checkpoint(self.current.as_deref(), &text)? {
            Swap::Done => {
                self.current = Some(text);
                Ok(())
            }
            Swap::Lost(_) => Err(PublishError::Moved),
        }
    }
}
