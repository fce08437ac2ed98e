//! Definitions beside a log in a folder: `definition/<digest>`, where a verifier looks for them.

use model::Digest;
use tlog::follow::{FolderStore, TileStoreError};

use crate::verify::Definitions;

const FOLDER: &str = "definition";

/// Keeps a definition's exact bytes under their digest.
pub fn put_definition(store: &FolderStore, bytes: &[u8]) -> Result<Digest, TileStoreError> {
    store.keep(FOLDER, bytes)
}

impl Definitions for FolderStore {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.kept(FOLDER, digest).map_err(|error| error.to_string())
    }
}
