//! The epoch: which state of the registry the holds and definitions at hand were read at.
//!
//! Every commit reads it, so that a hold placed by another server, or a definition applied there, is in force here
//! from the next commit on. On one machine it never changes behind our back, and reading it costs one lookup a batch.

use store::Taken;

use super::Core;
use super::commit::Commit;
use crate::holds::InForce;
use crate::registry::{Entry, EntryKey, OneEntry};

pub(super) enum Epoch {}

impl Entry for Epoch {
    const KIND: &'static str = "epoch";
    type Body = u64;
}

impl OneEntry for Epoch {
    const NAME: &'static str = "engine";
}

pub(super) fn key() -> EntryKey<Epoch> {
    EntryKey::one()
}

/// Zero before anything was registered.
pub(super) fn of(taken: &Taken) -> u64 {
    key().of(taken).ok().flatten().unwrap_or(0)
}

impl Core {
    /// Reads again what is kept at hand. The epoch was read before, so what is read now is of that epoch or later.
    pub(super) fn catch_up(&mut self, epoch: u64) -> Result<(), store::Error> {
        self.holds.replace(InForce::stored(&*self.store)?);
        self.pipelines.catch_up(&*self.store).map_err(|error| match error {
            crate::pipelines::LoadError::Store(error) => error,
            crate::pipelines::LoadError::Definition { name, problems } => {
                tracing::error!(name, problems, "a definition applied elsewhere does not load here");
                store::Error::unavailable("a definition applied elsewhere does not load here")
            }
        })?;
        self.trust.catch_up(&*self.store)?;
        self.epoch = Some(epoch);
        Ok(())
    }
}

impl Commit<'_> {
    /// Makes this batch rely on the epoch: its commit holds only while nobody changes what it was decided by.
    pub(super) fn rely_on_epoch(&mut self) {
        if self.changes.relies_on.is_empty() {
            self.changes.relies_on.push(key().raw());
        }
    }

    /// Tells every server to read holds and definitions again.
    pub(super) fn next_epoch(&mut self) {
        if self.epoch_moved {
            return;
        }
        self.epoch_moved = true;
        self.epoch += 1;
        self.put(&key(), &self.epoch.clone());
    }
}
