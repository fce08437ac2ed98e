//! The data folder: made if it is missing, and ours alone while it is open.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use store::Error;

pub(crate) const DATABASE: &str = "milepost.db";
pub(crate) const LOCK: &str = "milepost.lock";

/// Held open for as long as the store is. The lock goes with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |doing: &str, error: io::Error| {
            Error::unavailable(format!("cannot {doing} the data folder {}: {error}", path.display()))
        };
        make(path).map_err(|error| failed("make", error))?;
        let lock = private(&path.join(LOCK)).map_err(|error| failed("write to", error))?;
        match lock.try_lock() {
            Ok(()) => {
                // Made here, because its log and its index get the mode that it has.
                private(&path.join(DATABASE)).map_err(|error| failed("write to", error))?;
                Ok(Folder { path: path.to_owned(), _lock: lock })
            }
            Err(TryLockError::WouldBlock) => Err(Error::unavailable(format!(
                "the data folder {} is in use by another process; stop that one or choose another folder",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed("lock", error)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Makes the names of new files durable: syncing a file does not sync the folder that names it.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        sync(&self.path).map_err(|error| {
            Error::unavailable(format!("cannot sync the data folder {}: {error}", self.path.display()))
        })
    }
}

/// Makes the folder and every missing one above it, for nobody but its owner, and makes their names durable.
fn make(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)?;
    for made in missing {
        if let Some(above) = made.parent() {
            sync(if above.as_os_str().is_empty() { Path::new(".") } else { above })?;
        }
    }
    Ok(())
}

/// Opens a file for writing. One that is made is for nobody but its owner.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
