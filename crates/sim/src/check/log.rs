//! The whole log, as a stranger would check it: every leaf in the tree, every chain, every move legal.

use std::fmt;

use audit::follow::{Log, MemoryStore, TileStore as _};
use audit::note::{Algorithm, Checkpoint, SigningKey, Trust, sign_checkpoint};
use audit::tiles::{SourceError, TilePath, TileSource};
use audit::verify::{Definitions, LogOptions, verify_log};
use engine::log::StoreTiles;
use model::Digest;
use store::Store;

use super::{Checked, Ledger, ensure};
use crate::finding::{Finding, finding};

const ORIGIN: &str = "sim.example/log";

struct Published<'a> {
    tiles: MemoryStore,
    store: StoreTiles<'a>,
}

impl TileSource for Published<'_> {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        self.tiles.tile(path)
    }
}

impl Definitions for Published<'_> {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.store.definition(digest)
    }
}

fn unpublished(error: impl fmt::Display) -> Finding {
    finding!("the log cannot be published: {error}")
}

impl Ledger {
    /// Publishes everything that ever happened, and verifies it with the public key alone. Where the clock was set back
    /// between two lives of the process, a wait may look shorter than it was.
    pub(crate) fn verify_log(&self, store: &dyn Store, set_back: bool) -> Checked {
        let key = SigningKey::from_seed(ORIGIN, Algorithm::Ed25519, &[1; 32]);
        let key = key.map_err(unpublished)?;
        let batch = Log::new().append(&self.leaves).map_err(unpublished)?;
        let published = Published { tiles: MemoryStore::new(), store: StoreTiles(store) };
        published.tiles.put(&batch.tiles).map_err(unpublished)?;
        let trust = Trust::key(key.verifier());
        let checkpoint = Checkpoint::new(ORIGIN, batch.size, batch.root);
        let note = sign_checkpoint(&checkpoint, &[Box::new(key)]).map_err(unpublished)?;
        let report = verify_log(&published, &note.to_string(), &trust, &LogOptions::default());
        if let Err(finding) = &report
            && set_back
            && finding.message.starts_with("it was not due before")
        {
            return Ok(());
        }
        let report = report.map_err(|finding| {
            let about = finding.place.index.and_then(|index| self.leaves.get(usize::try_from(index).ok()?));
            let leaf = about.map(|leaf| String::from_utf8_lossy(leaf).into_owned()).unwrap_or_default();
            // The verifier names what kind of thing is wrong.
            let kind = format!("the log does not verify: {}", finding.fault.as_str());
            Finding::new(&kind, format!("the log does not verify: {finding}: {leaf}"))
        })?;
        let (events, known) = (report.events, self.events.len() as u64);
        ensure!(events == known, "the log has {events} events and there were {known}");
        Ok(())
    }
}
