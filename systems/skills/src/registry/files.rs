//! Files that are replaced whole, under a lock that other processes respect.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tlog::durable;

use super::Error;

/// The most bytes of a file that is read.
const BYTES_MAX: u64 = 64 << 20;

/// Waits until nobody else writes. The lock goes with the file.
pub(super) fn lock(folder: &Path) -> Result<File, Error> {
    fs::create_dir_all(folder).map_err(error_of("."))?;
    let file = File::create(folder.join("lock")).map_err(error_of("lock"))?;
    file.lock().map_err(error_of("lock"))?;
    Ok(file)
}

/// Replaces a file. After a crash it is the old one or the new one.
pub(super) fn write(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), Error> {
    let target = folder.join(path);
    let made = target.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| durable::replace(&target, bytes)).map_err(error_of(path))
}

/// Replaces a file by a document, and returns its bytes.
pub(super) fn write_json(folder: &Path, path: &str, document: &impl Serialize) -> Result<Vec<u8>, Error> {
    let garbled =
        |error: serde_json::Error| Error::Garbled { file: path.to_owned(), reason: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(document).map_err(garbled)?;
    bytes.push(b'\n');
    write(folder, path, &bytes)?;
    Ok(bytes)
}

pub(super) fn read(folder: &Path, path: &str) -> Result<Option<Vec<u8>>, Error> {
    let target = folder.join(path);
    match fs::metadata(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error_of(path)(error)),
        Ok(found) if found.len() > BYTES_MAX => {
            let reason = format!("it has {} bytes", found.len());
            return Err(Error::Garbled { file: path.to_owned(), reason });
        }
        Ok(_) => {}
    }
    fs::read(&target).map(Some).map_err(error_of(path))
}

pub(super) fn read_json<T: DeserializeOwned>(folder: &Path, path: &str) -> Result<Option<T>, Error> {
    let Some(bytes) = read(folder, path)? else { return Ok(None) };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| Error::Garbled { file: path.to_owned(), reason: error.to_string() })
}

fn error_of(file: &str) -> impl FnOnce(io::Error) -> Error {
    let file = file.to_owned();
    |error| Error::File { file, error }
}
