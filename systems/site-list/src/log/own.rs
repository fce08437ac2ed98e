//! The list's own log: one folder of tiles, written by one process at a time.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tlog::durable;
use tlog::follow::{FolderStore, PublishError, Publisher};
use tlog::guard::{Guard, GuardError};
use tlog::note::{Signer, SigningKey, VerifierKey};
use tlog::tiles::{Entries, TilePath, TileSource, read_bundle};
use tlog::tree::leaf_hash;
use wire::Digest;

use super::{Submitted, Taken, Unreachable};

/// The writer of a log. Several processes may have one for the same folder: a file's lock makes them take turns, and what
/// one left undone the next completes.
#[derive(Debug, Clone)]
pub struct Own {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// The signer's memory, kept outside of the folder that it signs for.
    guard: PathBuf,
    key: SigningKey,
    known: Mutex<Known>,
}

/// The leaves of the log, so that none gets in twice.
#[derive(Debug, Default)]
struct Known {
    size: u64,
    places: HashMap<Digest, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error("{0}")]
    Folder(String),
    #[error(
        "the folder {} has a log of {found} leaves, and others of this fleet have written {expected}: let all servers share \
         one folder",
        .folder.display()
    )]
    Behind { folder: PathBuf, found: u64, expected: u64 },
}

impl Own {
    #[must_use]
    pub fn new(folder: PathBuf, guard: PathBuf, key: SigningKey) -> Own {
        Own { inner: Arc::new(Inner { folder, guard, key, known: Mutex::default() }) }
    }

    /// Returns the key by which everybody verifies the log. Its name is the log's origin.
    #[must_use]
    pub fn verifier(&self) -> VerifierKey {
        Signer::verifier(&self.inner.key)
    }

    pub(super) async fn submit(&self, leaf: &str, size_min: u64) -> Result<Taken, Unreachable> {
        let (inner, text) = (self.inner.clone(), leaf.to_owned());
        let written = tokio::task::spawn_blocking(move || inner.append(text.as_bytes(), size_min)).await;
        match written.map_err(|_| Unreachable("its writer ended in the middle".to_owned()))? {
            Ok(index) => {
                let leaf = leaf.to_owned();
                Ok(Taken::Accepted(Submitted { leaf, index: Some(index), signature: None }))
            }
            // A signer that refuses says that the folder was set back. Another try would not change that.
            Err(WriteError::Publish(PublishError::Guard(
                error @ (GuardError::Behind { .. } | GuardError::Forked { .. }),
            ))) => Ok(Taken::Rejected(error.to_string())),
            Err(WriteError::Publish(PublishError::Leaf(error))) => Ok(Taken::Rejected(error.to_string())),
            Err(error) => Err(Unreachable(error.to_string())),
        }
    }

    /// Appends a leaf unless it is there, and returns its place.
    ///
    /// # Errors
    /// When the folder cannot be written, or the signer refuses what is in it.
    pub fn append(&self, leaf: &[u8]) -> Result<u64, WriteError> {
        self.inner.append(leaf, 0)
    }
}

impl Inner {
    fn append(&self, leaf: &[u8], size_min: u64) -> Result<u64, WriteError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        fs::create_dir_all(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let _turn = self.turn()?;
        let store = FolderStore::create(&self.folder).map_err(PublishError::from)?;
        let signers: Vec<Box<dyn Signer>> = vec![Box::new(self.key.clone())];
        let guard = Guard::open(&self.guard, signers).map_err(PublishError::from)?;
        let origin = Signer::verifier(&self.key).name().to_owned();
        let mut publisher = Publisher::open(&store, &origin, guard)?;
        known.catch_up(&store, publisher.size())?;
        self.complete(&mut known, &mut publisher)?;
        // A folder that is not the fleet's would become a second log under the same key.
        let (found, expected) = (publisher.size(), size_min);
        if found < expected {
            return Err(WriteError::Behind { folder: self.folder.clone(), found, expected });
        }
        if let Some(index) = known.places.get(&leaf_hash(leaf)) {
            return Ok(*index);
        }
        // Whoever stops between the signature and the checkpoint leaves a signed tree that only this leaf leads to.
        let begun = self.begun();
        durable::replace(&begun, leaf).map_err(|error| failed(&begun, &error))?;
        let index = known.publish(&mut publisher, leaf)?;
        fs::remove_file(&begun).map_err(|error| failed(&begun, &error))?;
        Ok(index)
    }

    /// Appends the leaf that somebody began to append and did not get to the end of.
    fn complete(&self, known: &mut Known, publisher: &mut Publisher<'_>) -> Result<(), WriteError> {
        let begun = self.begun();
        let leaf = match fs::read(&begun) {
            Ok(leaf) => leaf,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(&begun, &error)),
        };
        if !known.places.contains_key(&leaf_hash(&leaf)) {
            known.publish(publisher, &leaf)?;
        }
        fs::remove_file(&begun).map_err(|error| failed(&begun, &error))
    }

    fn begun(&self) -> PathBuf {
        self.folder.join("begun")
    }

    /// Waits for the others that write this folder.
    fn turn(&self) -> Result<File, WriteError> {
        let path = self.folder.join("write.lock");
        let locked = File::create(&path).and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| failed(&path, &error))
    }
}

impl Known {
    /// Reads the leaves that others appended.
    fn catch_up(&mut self, store: &dyn TileSource, size: u64) -> Result<(), WriteError> {
        while self.size < size {
            let path = TilePath::of_entry(self.size, size);
            let bundle = read_bundle(store, &path).map_err(|error| WriteError::Folder(error.to_string()))?;
            let first = path.index * u64::from(tlog::tiles::TILE_WIDTH);
            for (index, entry) in (first..).zip(Entries::of(&bundle)) {
                let entry = entry.map_err(|error| WriteError::Folder(error.to_string()))?;
                self.places.insert(leaf_hash(entry), index);
            }
            self.size = first + u64::from(path.width);
        }
        Ok(())
    }

    fn publish(&mut self, publisher: &mut Publisher<'_>, leaf: &[u8]) -> Result<u64, WriteError> {
        let index = publisher.advance(&[leaf])?.from;
        self.places.insert(leaf_hash(leaf), index);
        self.size = index + 1;
        Ok(index)
    }
}

fn failed(path: &Path, error: &std::io::Error) -> WriteError {
    WriteError::Folder(format!("{}: {error}", path.display()))
}
