//! Uploads: bodies of whatever size, streamed into files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bounds of the uploads to one route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upload {
    /// The most bytes of one upload.
    pub bytes_max: u64,
    /// The time that one upload may take. Beside that, a sender who is slower than 16 KB a second on the whole is cut off.
    pub within: Duration,
}

impl Upload {
    /// Allows so many bytes, in six hours at most.
    #[must_use]
    pub const fn of(bytes_max: u64) -> Upload {
        Upload { bytes_max, within: Duration::from_secs(6 * 3_600) }
    }

    /// Sets the time that one upload may take.
    #[must_use]
    pub const fn within(self, within: Duration) -> Upload {
        Upload { within, ..self }
    }
}

/// A body that was streamed into a file and is on disk. The file goes with this unless it is kept.
#[derive(Debug)]
pub struct Uploaded {
    path: PathBuf,
    bytes: u64,
}

impl Uploaded {
    /// Takes a file of so many bytes over.
    #[must_use]
    pub fn new(path: PathBuf, bytes: u64) -> Uploaded {
        Uploaded { path, bytes }
    }

    /// Returns where the file is for now.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes that came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Moves the file to a place of the system's own, such as one in its folder, in place of a file that is there. The move
    /// is on disk when this returns. The place must be in the same file system.
    ///
    /// # Errors
    /// When the file cannot be moved there; it goes with this then.
    pub fn keep(self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        match to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
            _ => Ok(()),
        }
    }
}

impl Drop for Uploaded {
    fn drop(&mut self) {
        // One that was kept is not there any more.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_goes_unless_it_is_kept() {
        let folder = tempfile::tempdir().expect("there is room");
        let (path, kept) = (folder.path().join("a"), folder.path().join("kept"));
        let made = || {
            fs::write(&path, "abc").expect("there is room");
            Uploaded::new(path.clone(), 3)
        };
        drop(made());
        assert!(!path.exists());
        made().keep(&kept).expect("it can be moved");
        assert_eq!((path.exists(), fs::read(&kept).expect("it is kept")), (false, b"abc".to_vec()));
        assert!(made().keep(&folder.path().join("none/kept")).is_err());
        assert!(!path.exists(), "one that cannot be kept goes, too");
    }
}
