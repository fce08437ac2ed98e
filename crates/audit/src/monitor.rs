//! A monitor: remembers the last checkpoint it saw, and raises the alarm when the next one does not follow from it.

use std::path::PathBuf;

use crate::durable;
use crate::note::{Distrust, Opened, Trust};
use crate::tiles::{CheckedTiles, TileError, TileSource};
use crate::tree::subtree_hash;

/// The result of a look at the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// The first checkpoint: there is nothing to compare it with.
    First {
        size: u64,
    },
    Same {
        size: u64,
    },
    Grown {
        from: u64,
        to: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Alarm {
    /// Both checkpoints carry the log's signature: whoever holds them can show it to anyone.
    #[error("the log signed two histories: {reason}\n--- seen before\n{before}--- seen now\n{now}")]
    Inconsistent { reason: String, before: String, now: String },
    #[error("{0}")]
    Distrusted(#[from] Distrust),
    #[error("{0}")]
    Tiles(#[from] TileError),
    #[error("the monitor's memory {path}: {reason}")]
    Memory { path: String, reason: String },
}

#[derive(Debug)]
pub struct Monitor {
    path: PathBuf,
    trust: Trust,
}

impl Monitor {
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, trust: Trust) -> Self {
        Monitor { path: path.into(), trust }
    }

    /// Looks at a checkpoint and the tiles behind it. Only a checkpoint that follows from the last one is remembered.
    pub fn look(&self, checkpoint: &str, source: &dyn TileSource) -> Result<Seen, Alarm> {
        let now = self.trust.open(checkpoint.as_bytes())?;
        let (size, root) = now.checkpoint.tree();
        let before = durable::read(&self.path).map_err(|error| self.memory(&error.to_string()))?;
        let Some(before) = before else {
            CheckedTiles::open(source, size, root)?;
            self.remember(checkpoint)?;
            return Ok(Seen::First { size });
        };
        // Its own memory is believed only with the log's signature: else it would be no evidence.
        let known = self.trust.open(before.as_bytes()).map_err(|error| self.memory(&error.to_string()))?;
        let inconsistent = |reason: String| Alarm::Inconsistent {
            reason,
            before: before.clone(),
            now: checkpoint.to_owned(),
        };
        self.compare(&known, &now, source).map_err(|trouble| match trouble {
            Trouble::Reason(reason) => inconsistent(reason),
            Trouble::Tiles(error) => Alarm::Tiles(error),
        })?;
        self.remember(checkpoint)?;
        let from = known.checkpoint.size;
        Ok(if from == size { Seen::Same { size } } else { Seen::Grown { from, to: size } })
    }

    fn compare(&self, known: &Opened, now: &Opened, source: &dyn TileSource) -> Result<(), Trouble> {
        let ((old, old_root), (new, new_root)) = (known.checkpoint.tree(), now.checkpoint.tree());
        if known.checkpoint.origin != now.checkpoint.origin {
            return Err(Trouble::Reason(format!(
                "it was {} and is {}",
                known.checkpoint.origin, now.checkpoint.origin
            )));
        }
        if new < old {
            return Err(Trouble::Reason(format!("it had {old} leaves and has {new}")));
        }
        if new == old && new_root != old_root {
            return Err(Trouble::Reason(format!("two roots of {new} leaves")));
        }
        // The tiles are checked against the new root; the root of their beginning must be the old one.
        let tiles = CheckedTiles::open(source, new, new_root)?;
        if subtree_hash(&tiles, 0..old)? != *old_root {
            return Err(Trouble::Reason(format!("its first {old} leaves are not what they were")));
        }
        Ok(())
    }

    fn remember(&self, checkpoint: &str) -> Result<(), Alarm> {
        durable::replace(&self.path, checkpoint.as_bytes()).map_err(|error| self.memory(&error.to_string()))
    }

    fn memory(&self, reason: &str) -> Alarm {
        Alarm::Memory { path: self.path.display().to_string(), reason: reason.to_owned() }
    }
}

enum Trouble {
    Reason(String),
    Tiles(TileError),
}

impl From<TileError> for Trouble {
    fn from(error: TileError) -> Self {
        Trouble::Tiles(error)
    }
}
