//! The signer's own memory, kept outside the store it signs for.
//!
//! A store restored from an old copy would happily grow another history under the same name, and sign it. The guard keeps
//! the last checkpoint that was signed in a file of its own, and signs nothing that does not follow from it. The way out
//! is an explicit fork: an act that names what is given up, and is itself a leaf of the tree that is signed.

use std::fs::File;
use std::path::{Path, PathBuf};

use wire::Digest;

use crate::durable;
use crate::note::{Checkpoint, Note, SignError, Signer, sign_checkpoint};
use crate::tree::{ProofError, leaf_hash, verify_consistency, verify_inclusion};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    #[error(
        "the last signed checkpoint has {signed} leaves and this one {size}: the store was set back; fork to go on"
    )]
    Behind { signed: u64, size: u64 },
    #[error(
        "the tree does not follow from the last signed checkpoint of {signed} leaves ({error}); fork to go on"
    )]
    Forked { signed: u64, error: ProofError },
    #[error("the guard at {path} is for the log {origin}")]
    Origin { path: String, origin: String },
    #[error("the fork must name the checkpoint that was signed last: {signed} leaves")]
    OtherFork { signed: u64 },
    #[error("the fork is not a leaf of the tree that is to be signed: {0}")]
    NotLogged(ProofError),
    #[error("the guard's file {path}: {reason}")]
    File { path: String, reason: String },
    #[error(transparent)]
    Sign(#[from] SignError),
}

/// A decision to go on from an older state of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The size of the checkpoint that is given up.
    pub size: u64,
    pub root: Digest,
    /// The leaf that says so.
    pub leaf: Vec<u8>,
}

/// Signs checkpoints of one log, each following the one before.
pub struct Guard {
    path: PathBuf,
    signers: Vec<Box<dyn Signer>>,
    last: Option<Checkpoint>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("path", &self.path).field("last", &self.last).finish_non_exhaustive()
    }
}

impl Guard {
    /// Opens the memory at `path`, or begins one. Signs with every key, so that keys can overlap.
    pub fn open(path: impl Into<PathBuf>, signers: Vec<Box<dyn Signer>>) -> Result<Self, GuardError> {
        let path = path.into();
        let last = read(&path)?;
        Ok(Guard { path, signers, last })
    }

    /// Reads the memory again and keeps others out until the file is dropped: two processes with one guard take turns.
    fn lock(&mut self) -> Result<File, GuardError> {
        let mut beside = self.path.as_os_str().to_owned();
        beside.push(".lock");
        let locked = File::create(beside).and_then(|file| file.lock().map(|()| file));
        let file = locked.map_err(|error| file_error(&self.path, &error.to_string()))?;
        self.last = read(&self.path)?;
        Ok(file)
    }

    /// The last checkpoint that was signed.
    #[must_use]
    pub fn last(&self) -> Option<&Checkpoint> {
        self.last.as_ref()
    }

    /// Signs a checkpoint that follows the last one. `prove` gives the consistency proof from an older size. The file is
    /// on disk before the signature is out.
    pub fn sign<E: From<GuardError>>(
        &mut self,
        next: &Checkpoint,
        prove: impl FnOnce(u64) -> Result<Vec<Digest>, E>,
    ) -> Result<Note, E> {
        let _lock = self.lock()?;
        if let Some(last) = &self.last {
            self.check_origin(last, next)?;
            let signed = last.size;
            if next.size < signed {
                return Err(GuardError::Behind { signed, size: next.size }.into());
            }
            if signed > 0 {
                let proof = if next.size == signed { Vec::new() } else { prove(signed)? };
                verify_consistency(last.tree(), next.tree(), &proof)
                    .map_err(|error| GuardError::Forked { signed, error })?;
            }
        }
        Ok(self.keep_and_sign(next)?)
    }

    /// Signs a tree that does not follow the last checkpoint, because somebody decided so and the tree says so.
    pub fn sign_fork(
        &mut self,
        next: &Checkpoint,
        fork: &Fork,
        (index, proof): (u64, &[Digest]),
    ) -> Result<Note, GuardError> {
        let _lock = self.lock()?;
        if let Some(last) = &self.last {
            self.check_origin(last, next)?;
            if (fork.size, &fork.root) != last.tree() {
                return Err(GuardError::OtherFork { signed: last.size });
            }
        }
        let leaf = leaf_hash(&fork.leaf);
        verify_inclusion(index, next.tree(), leaf, proof).map_err(GuardError::NotLogged)?;
        self.keep_and_sign(next)
    }

    fn check_origin(&self, last: &Checkpoint, next: &Checkpoint) -> Result<(), GuardError> {
        if last.origin == next.origin {
            return Ok(());
        }
        Err(GuardError::Origin { path: self.path.display().to_string(), origin: last.origin.clone() })
    }

    fn keep_and_sign(&mut self, next: &Checkpoint) -> Result<Note, GuardError> {
        let note = sign_checkpoint(next, &self.signers)?;
        let kept = Checkpoint { extensions: Vec::new(), ..next.clone() };
        durable::replace(&self.path, kept.to_string().as_bytes())
            .map_err(|error| file_error(&self.path, &error.to_string()))?;
        self.last = Some(kept);
        Ok(note)
    }
}

fn read(path: &Path) -> Result<Option<Checkpoint>, GuardError> {
    let text = durable::read(path).map_err(|error| file_error(path, &error.to_string()))?;
    let Some(text) = text else { return Ok(None) };
    let last = text.parse().ok().filter(|last: &Checkpoint| last.to_string() == text);
    let damaged = || file_error(path, "it is damaged; restore it, do not remove it");
    last.map(Some).ok_or_else(damaged)
}

fn file_error(path: &Path, reason: &str) -> GuardError {
    GuardError::File { path: path.display().to_string(), reason: reason.to_owned() }
}
