//! Small files that are replaced whole: after a crash there is the old text or the new one, never a mixture.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The text of a file, or that there is none.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes beside, syncs, renames over, syncs the folder.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    place(path, bytes)?;
    sync_folder_of(path)
}

/// `replace` without the last step, for callers with many files in one folder.
pub fn place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
