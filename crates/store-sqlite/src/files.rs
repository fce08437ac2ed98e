//! The files a store has open, and whether their names still lead to them.
//!
//! A file that was deleted or replaced takes writes and syncs as before while it is open, and all of it is gone when it
//! is closed. Nothing of the system tells: somebody has to look. A look is a `stat` of each name, about a microsecond,
//! so there is one after every commit and before its acknowledgement.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use store::Error;

use crate::folder::{DATABASE, LOCK};

#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    opened: Vec<(PathBuf, Identity)>,
}

/// The device and the number of a file there.
#[cfg(unix)]
type Identity = (u64, u64);
/// Elsewhere a file that is open can be neither deleted nor replaced.
#[cfg(not(unix))]
type Identity = ();

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    std::fs::metadata(path).map(drop)
}

impl Files {
    /// Remembers the files of a folder whose database is open: its log and the log's index are there from then on.
    pub(crate) fn opened(folder: &Path) -> Files {
        let names =
            [DATABASE.to_owned(), format!("{DATABASE}-wal"), format!("{DATABASE}-shm"), LOCK.to_owned()];
        let paths = names.into_iter().map(|name| folder.join(name));
        let opened = paths.filter_map(|path| identity(&path).ok().map(|identity| (path, identity)));
        Files { folder: folder.to_owned(), opened: opened.collect() }
    }

    /// Fails if one of them is no longer where it was: what is written to it is lost.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let displaced = self.opened.iter().find_map(|(path, opened)| {
            let what = match identity(path) {
                Ok(found) if found == *opened => return None,
                Ok(_) => "was replaced by another file",
                Err(error) if is_absent(&error) => "was deleted or moved away",
                // No right to look, or a disk that does not answer, says nothing about the file.
                Err(_) => return None,
            };
            Some((path, what))
        });
        match displaced {
            None => Ok(()),
            Some((path, what)) => Err(Error::Corrupt(format!(
                "{} {what} while this server had it open, and what is written now would be lost; put the data folder {} \
                 back if it was moved, or restore a backup, and start again",
                path.display(),
                self.folder.display()
            ))),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::StaleNetworkFileHandle)
}
