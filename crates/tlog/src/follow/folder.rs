//! A log as a folder: `checkpoint`, `tile/..`, and whatever is kept beside it, ready to be served as static files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use wire::Digest;

use super::store::{Swap, TileStore, TileStoreError};
use crate::durable;
use crate::tiles::{SourceError, TilePath, TileSource};

#[derive(Debug, Clone)]
pub struct FolderStore {
    root: PathBuf,
}

impl FolderStore {
    pub fn create(root: impl Into<PathBuf>) -> Result<Self, TileStoreError> {
        let root = root.into();
        fs::create_dir_all(&root).map_err(|error| failed(&root, &error))?;
        Ok(FolderStore { root })
    }

    /// A folder that is only read.
    #[must_use]
    pub fn open(root: impl Into<PathBuf>) -> Self {
        FolderStore { root: root.into() }
    }

    /// Keeps bytes beside the log under their digest, for whoever has the digest from a leaf.
    pub fn keep(&self, folder: &str, bytes: &[u8]) -> Result<Digest, TileStoreError> {
        let digest = Digest::of(bytes);
        let path = self.kept_path(folder, &digest);
        self.place(&path, bytes).map_err(|error| failed(&path, &error))?;
        durable::sync_folder_of(&path).map_err(|error| failed(&path, &error))?;
        Ok(digest)
    }

    /// Returns the bytes that were kept under a digest, or that there are none.
    pub fn kept(&self, folder: &str, digest: &Digest) -> Result<Option<Vec<u8>>, TileStoreError> {
        let path = self.kept_path(folder, digest);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    fn kept_path(&self, folder: &str, digest: &Digest) -> PathBuf {
        self.root.join(folder).join(digest.to_string())
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match durable::place(path, bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
                durable::place(path, bytes)
            }
            other => other,
        }
    }

    fn swap(&self, expected: Option<&str>, next: &str) -> io::Result<Swap> {
        // Held until dropped: two processes on one folder take turns.
        let lock = File::create(self.root.join("checkpoint.lock"))?;
        lock.lock()?;
        let path = self.root.join("checkpoint");
        let current = durable::read(&path)?;
        if current.as_deref() != expected {
            return Ok(Swap::Lost(current));
        }
        durable::replace(&path, next.as_bytes())?;
        Ok(Swap::Done)
    }
}

fn failed(path: &Path, error: &io::Error) -> TileStoreError {
    TileStoreError(format!("{}: {error}", path.display()))
}

impl TileSource for FolderStore {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        fs::read(self.root.join(path.to_string())).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SourceError::Missing(*path),
            _ => SourceError::Failed { path: *path, reason: error.to_string() },
        })
    }
}

impl TileStore for FolderStore {
    fn put(&self, tiles: &[(TilePath, Vec<u8>)]) -> Result<(), TileStoreError> {
        let mut folders = BTreeSet::new();
        for (tile, bytes) in tiles {
            let path = self.root.join(tile.to_string());
            self.place(&path, bytes).map_err(|error| failed(&path, &error))?;
            // A new folder is an entry of the one above it, and so on up.
            folders.extend(
                path.ancestors().skip(1).take_while(|folder| *folder != self.root).map(PathBuf::from),
            );
        }
        folders.insert(self.root.clone());
        for folder in folders {
            let synced = File::open(&folder).and_then(|folder| folder.sync_all());
            synced.map_err(|error| failed(&folder, &error))?;
        }
        Ok(())
    }

    fn remove(&self, tiles: &[TilePath]) -> Result<(), TileStoreError> {
        for tile in tiles {
            let path = self.root.join(tile.to_string());
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn forget_partial(&self, full: &[TilePath]) -> Result<(), TileStoreError> {
        for tile in full {
            let path = self.root.join(format!("{}.p", tile.whole()));
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path, &error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn checkpoint(&self) -> Result<Option<String>, TileStoreError> {
        let path = self.root.join("checkpoint");
        durable::read(&path).map_err(|error| failed(&path, &error))
    }

    fn swap_checkpoint(&self, expected: Option<&str>, next: &str) -> Result<Swap, TileStoreError> {
        self.swap(expected, next).map_err(|error| failed(&self.root, &error))
    }
}
