//! Sources of tiles: a folder, a server, a database. Nothing that comes from them is believed.

use super::{Entries, TilePath};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("{0} is not there")]
    Missing(TilePath),
    #[error("{path} cannot be read: {reason}")]
    Failed { path: TilePath, reason: String },
}

pub trait TileSource {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError>;
}

impl<S: TileSource + ?Sized> TileSource for &S {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        (**self).tile(path)
    }
}

/// A tile's bytes. A partial tile may have been removed once the full one was there: then its beginning serves.
fn read(
    source: &dyn TileSource,
    path: &TilePath,
    begin: impl FnOnce(Vec<u8>) -> Vec<u8>,
) -> Result<Vec<u8>, SourceError> {
    match source.tile(path) {
        Err(SourceError::Missing(missing)) if !path.is_full() => match source.tile(&path.whole()) {
            Ok(whole) => Ok(begin(whole)),
            Err(SourceError::Missing(_)) => Err(SourceError::Missing(missing)),
            Err(error) => Err(error),
        },
        other => other,
    }
}

/// The bytes of a tile of hashes.
pub fn read_tile(source: &dyn TileSource, path: &TilePath) -> Result<Vec<u8>, SourceError> {
    read(source, path, |mut whole| {
        whole.truncate(32 * usize::from(path.width));
        whole
    })
}

/// The bytes of an entry bundle.
pub fn read_bundle(source: &dyn TileSource, path: &TilePath) -> Result<Vec<u8>, SourceError> {
    read(source, path, |mut whole| {
        let mut length = 0;
        for entry in Entries::of(&whole).take(usize::from(path.width)) {
            // A broken bundle is handed on as it is, for the reader to find out.
            let Ok(entry) = entry else { return whole };
            length += 2 + entry.len();
        }
        whole.truncate(length);
        whole
    })
}
