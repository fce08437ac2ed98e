//! Keeping a store from others on its machine: who can read its files sees every submission and every secret.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use store::Error;

use crate::backup::MADE;
use crate::folder::{DATABASE, LOCK};

/// The files beside the database that are the store's own, by how their names begin: the log and its index, the lock, the
/// keys of the audit log and what its signer remembers.
const OURS: [&str; 5] = [DATABASE, LOCK, MADE, "log.key", "log.guard"];

/// A file or folder that more than its owner can use, with its mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    pub path: PathBuf,
    pub mode: u32,
    is_folder: bool,
}

/// Lists what others can use of a store: its folder and its files. A folder that is missing has nothing.
///
/// # Errors
/// When the folder cannot be read.
pub fn exposed(folder: &Path) -> io::Result<Vec<Exposed>> {
    let mut found = Vec::new();
    if !folder.exists() {
        return Ok(found);
    }
    note(folder, true, &mut found)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = OURS.iter().any(|ours| name.to_string_lossy().starts_with(ours));
        if is_ours && entry.file_type()?.is_file() {
            note(&entry.path(), false, &mut found)?;
        }
    }
    Ok(found)
}

/// Takes a store's folder and files from everybody but their owner, and returns those it took.
///
/// A folder with other folders in it, or one that is everybody's, is left as it is: it has other uses, and the files are
/// closed by themselves.
///
/// # Errors
/// When others could still read the files, or put others in their place.
pub fn close(folder: &Path) -> Result<Vec<Exposed>, Error> {
    let unreadable = |error: io::Error| {
        Error::unavailable(format!("cannot look at the data folder {}: {error}", folder.display()))
    };
    let mut closed = Vec::new();
    for open in exposed(folder).map_err(unreadable)? {
        let has_other_uses =
            open.is_folder && (is_shared(&open) || has_folders(folder).map_err(unreadable)?);
        let failed = match has_other_uses {
            true => Some("it has other uses".to_owned()),
            false => shut(&open).err().map(|error| error.to_string()),
        };
        match failed {
            None => closed.push(open),
            Some(_) if open.is_folder && open.mode & OTHERS_WRITE == 0 => {}
            Some(reason) => return Err(refusal(&open, &reason)),
        }
    }
    Ok(closed)
}

/// Tells whether others can use a file that lies elsewhere, such as a key.
///
/// # Errors
/// When the file cannot be looked at.
pub fn exposed_file(path: &Path) -> io::Result<Option<Exposed>> {
    let mut found = Vec::new();
    if path.exists() {
        note(path, false, &mut found)?;
    }
    Ok(found.pop())
}

/// Takes a file that lies elsewhere from everybody but its owner; returns it if others could use it.
///
/// # Errors
/// When others could still read it.
pub fn close_file(path: &Path) -> Result<Option<Exposed>, Error> {
    let found = exposed_file(path)
        .map_err(|error| Error::unavailable(format!("cannot look at {}: {error}", path.display())))?;
    match found.as_ref().map(|open| (open, shut(open))) {
        Some((open, Err(error))) => Err(refusal(open, &error.to_string())),
        _ => Ok(found),
    }
}

fn refusal(open: &Exposed, reason: &str) -> Error {
    let (path, mode) = (open.path.display(), open.mode);
    Error::unavailable(match open.is_folder {
        true => format!(
            "others on this machine can write into the data folder {path} (mode {mode:o}), and that cannot be changed \
             ({reason}); name a folder of its own, such as {path}/milepost"
        ),
        false => format!(
            "others on this machine can read {path} (mode {mode:o}), and that cannot be changed ({reason}); make it the \
             server's own: chown it to the server's user and chmod 600"
        ),
    })
}

const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
#[cfg(unix)]
const STICKY: u32 = 0o1000;

#[cfg(unix)]
fn note(path: &Path, is_folder: bool, found: &mut Vec<Exposed>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    if mode & OTHERS != 0 {
        found.push(Exposed { path: path.to_owned(), mode, is_folder });
    }
    Ok(())
}

/// Tells whether a folder is one where everybody keeps files, such as /tmp.
#[cfg(unix)]
fn is_shared(folder: &Exposed) -> bool {
    folder.mode & STICKY != 0
}

fn has_folders(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if entry?.file_type()?.is_dir() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Some file systems say that they did, and did not: so it is looked at again.
#[cfg(unix)]
fn shut(open: &Exposed) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if open.is_folder { 0o700 } else { 0o600 };
    fs::set_permissions(&open.path, fs::Permissions::from_mode(mode))?;
    match fs::metadata(&open.path)?.permissions().mode() & OTHERS {
        0 => Ok(()),
        _ => Err(io::Error::other("the file system does not keep it")),
    }
}

/// Other systems have no modes; the folder's owner has to see to it.
#[cfg(not(unix))]
fn note(_: &Path, _: bool, _: &mut Vec<Exposed>) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn is_shared(_: &Exposed) -> bool {
    false
}

#[cfg(not(unix))]
fn shut(_: &Exposed) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// A folder with these files, which everybody can read.
    fn open_to_all(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in files {
            fs::write(folder.path().join(name), "x").expect("it can be written");
            set(&folder.path().join(name), 0o644);
        }
        set(folder.path(), 0o755);
        folder
    }

    #[test]
    fn what_others_can_read_is_closed_and_said_once() {
        let folder =
            open_to_all(&["milepost.db", "milepost.db-wal", "milepost.lock", "log.key", "notes.txt"]);
        assert_eq!(close(folder.path()).expect("it is ours").len(), 5);
        assert_eq!(mode(folder.path()), 0o700);
        assert_eq!(mode(&folder.path().join("milepost.db")), 0o600);
        assert_eq!(mode(&folder.path().join("notes.txt")), 0o644, "somebody else's");
        assert_eq!(close(folder.path()).expect("it is ours"), []);
        assert_eq!(close(&folder.path().join("missing")).expect("nothing is there"), []);
    }

    #[test]
    fn folder_with_other_uses_is_left_alone_unless_others_can_write_there() {
        let folder = open_to_all(&["milepost.db"]);
        fs::create_dir(folder.path().join("photos")).expect("it can be made");
        assert_eq!(close(folder.path()).expect("the files are ours").len(), 1);
        assert_eq!((mode(folder.path()), mode(&folder.path().join("milepost.db"))), (0o755, 0o600));
        set(folder.path(), 0o775);
        let refused = close(folder.path()).expect_err("others could replace the files").to_string();
        assert!(refused.contains("mode 775") && refused.contains("/milepost"), "{refused}");
        let shared = open_to_all(&[]);
        set(shared.path(), 0o1777);
        close(shared.path()).expect_err("everybody's");
        assert_eq!(mode(shared.path()), 0o1777);
    }
}
