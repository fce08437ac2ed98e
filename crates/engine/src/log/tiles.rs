//! The store as a log's folder: hashes from their table, entries from the sequence of events, definitions from the
//! registry.

use audit::follow::{Swap, TileStore, TileStoreError};
use audit::note::{Checkpoint, Note};
use audit::tiles::{Shelf, SourceError, TILE_WIDTH, TilePath, TileSource, push_entry};
use audit::verify::Definitions;
use model::Digest;
use store::{Changes, Store, Take, Tile};

use crate::core::LOG;
use crate::pipelines::definition_of;
use crate::registry::{Entry, EntryKey, OneEntry};

/// The checkpoint, as a JSON string.
enum PublishedNote {}

impl Entry for PublishedNote {
    const KIND: &'static str = LOG;
    type Body = String;
}

impl OneEntry for PublishedNote {
    const NAME: &'static str = "checkpoint";
}

/// The log's tiles in the store. No reader believes them: the signed root says whether they are right.
#[derive(Debug, Clone, Copy)]
pub struct StoreTiles<'a>(pub &'a dyn Store);

/// The signed note that was published last.
pub(crate) fn checkpoint(store: &dyn Store) -> Result<Option<String>, store::Error> {
    EntryKey::<PublishedNote>::one().get(store)
}

/// Returns the number of leaves a checkpoint covers.
pub(crate) fn size_of(note: &str) -> u64 {
    let checkpoint = Note::parse(note.as_bytes()).ok().and_then(|note| note.text.parse::<Checkpoint>().ok());
    checkpoint.map_or(0, |checkpoint| checkpoint.size)
}

impl StoreTiles<'_> {
    fn hashes(&self, path: &TilePath, level: u8) -> Result<Option<Vec<u8>>, store::Error> {
        let kept = self.0.tile(level, path.index)?;
        let length = 32 * usize::from(path.width);
        Ok(kept.filter(|hashes| hashes.len() >= length).map(|mut hashes| {
            hashes.truncate(length);
            hashes
        }))
    }

    fn entries(&self, path: &TilePath) -> Result<Option<Vec<u8>>, store::Error> {
        let Some(after) = path.index.checked_mul(u64::from(TILE_WIDTH)) else { return Ok(None) };
        let page = self.0.leaves(after, usize::from(path.width))?;
        if page.first != after + 1 || page.leaves.len() < usize::from(path.width) {
            return Ok(None);
        }
        let mut bundle = Vec::new();
        let fits = page.leaves.iter().try_for_each(|leaf| push_entry(&mut bundle, leaf));
        fits.map_err(|error| store::Error::corrupt(error.to_string()))?;
        Ok(Some(bundle))
    }

    fn swap(&self, expected: Option<&str>, next: &str) -> Result<Swap, store::Error> {
        let key = EntryKey::<PublishedNote>::one();
        let take = Take { registry: vec![key.raw()], ..Take::nothing() };
        let mut found = Ok(None);
        let outcome = self.0.transact(&take, &mut |taken| {
            found = key.of(&taken);
            if found.as_ref().is_ok_and(|found| found.as_deref() == expected) {
                let registry = vec![key.change(Some(&next.to_owned()))];
                return Changes { registry, ..Changes::default() };
            }
            Changes::default()
        });
        match outcome {
            Err(store::Error::Conflict(_)) => Ok(Swap::Lost(None)),
            Err(error) => Err(error),
            Ok(_) => {
                let found = found?;
                Ok(if found.as_deref() == expected { Swap::Done } else { Swap::Lost(found) })
            }
        }
    }
}

impl TileSource for StoreTiles<'_> {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        let found = match path.shelf {
            Shelf::Hashes(level) => self.hashes(path, level),
            Shelf::Entries => self.entries(path),
        };
        let failed = |error: store::Error| SourceError::Failed { path: *path, reason: error.to_string() };
        found.map_err(failed)?.ok_or(SourceError::Missing(*path))
    }
}

impl Definitions for StoreTiles<'_> {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        let found = definition_of(self.0, digest).map_err(|error| error.to_string())?;
        Ok(found.map(|definition| definition.as_str().as_bytes().to_vec()))
    }
}

impl TileStore for StoreTiles<'_> {
    /// Entries are in the sequence of events already. A partial tile is the beginning of the full one.
    fn put(&self, tiles: &[(TilePath, Vec<u8>)]) -> Result<(), TileStoreError> {
        let hashes = tiles.iter().filter_map(|(path, hashes)| match path.shelf {
            Shelf::Hashes(level) => Some(Tile { level, index: path.index, hashes: hashes.clone() }),
            Shelf::Entries => None,
        });
        let mut tiles = Some(hashes.collect());
        let put = self.0.transact(&Take::nothing(), &mut |_| Changes {
            tiles: tiles.take().unwrap_or_default(),
            ..Changes::default()
        });
        put.map(drop).map_err(failed)
    }

    fn remove(&self, _: &[TilePath]) -> Result<(), TileStoreError> {
        Err(TileStoreError("entries go with the events they are".to_owned()))
    }

    fn forget_partial(&self, _: &[TilePath]) -> Result<(), TileStoreError> {
        Ok(())
    }

    fn checkpoint(&self) -> Result<Option<String>, TileStoreError> {
        checkpoint(self.0).map_err(failed)
    }

    fn swap_checkpoint(&self, expected: Option<&str>, next: &str) -> Result<Swap, TileStoreError> {
        self.swap(expected, next).map_err(failed)
    }
}

fn failed(error: store::Error) -> TileStoreError {
    TileStoreError(error.to_string())
}
