//! The newest head of a log that was believed: whatever comes later must follow from it.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tlog::durable;
use tlog::note::Checkpoint;
use tlog::tree::verify_consistency;
use wire::Digest;

use super::Unreachable;

/// A head in a file.
#[derive(Debug)]
pub(super) struct Seen {
    file: PathBuf,
    /// Held while the file is read and written.
    turn: Mutex<()>,
}

impl Seen {
    pub(super) fn at(file: PathBuf) -> Seen {
        Seen { file, turn: Mutex::default() }
    }

    pub(super) fn last(&self) -> Result<Option<Checkpoint>, Unreachable> {
        let text = durable::read(&self.file).map_err(|error| self.failed(&error))?;
        text.map(|text| text.parse().map_err(|error| self.failed(&error))).transpose()
    }

    /// Keeps a head, unless a newer one is kept.
    pub(super) fn remember(&self, next: &Checkpoint) -> Result<(), Unreachable> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.last()?.is_some_and(|last| last.size >= next.size) {
            return Ok(());
        }
        let kept = Checkpoint { extensions: Vec::new(), ..next.clone() };
        durable::replace(&self.file, kept.to_string().as_bytes()).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &dyn Display) -> Unreachable {
        Unreachable(format!("its newest head in {}: {error}", self.file.display()))
    }
}

/// Checks by a proof of consistency that a head follows from the one before, and says why where it does not.
pub(super) fn check_follows(last: &Checkpoint, next: &Checkpoint, proof: &[Digest]) -> Result<(), String> {
    let (before, now) = (last.size, next.size);
    if now < before {
        return Err(format!("the log shows a tree of {now} leaves, and had {before} before"));
    }
    if before == 0 {
        return Ok(());
    }
    verify_consistency(last.tree(), next.tree(), proof).map_err(|error| {
        format!("the log's tree does not begin with the one of {before} leaves it had before: {error}")
    })
}
