//! A log behind an address. What comes from there is bounded in size and time, and believed by nobody before it was
//! checked: bytes are handed to the verifier once, and kept nowhere.

use std::cell::RefCell;
use std::collections::VecDeque;

use audit::note::NOTE_BYTES_MAX;
use audit::tiles::{LEAF_BYTES_MAX, Shelf, SourceError, TILE_WIDTH, TilePath, TileSource};
use audit::verify::Definitions;
use client::{Client, Error};
use model::Digest;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::exit::{Exit, Stop};

/// Bundles that are asked for before they are needed.
const AHEAD: u64 = 6;
const HASHES_BYTES_MAX: usize = 32 * TILE_WIDTH as usize;
const ENTRIES_BYTES_MAX: usize = (2 + LEAF_BYTES_MAX) * TILE_WIDTH as usize;
/// Far more than a server takes when a pipeline is applied.
const DEFINITION_BYTES_MAX: usize = 16 << 20;

type Fetched = Result<Option<Vec<u8>>, Error>;

#[derive(Debug)]
pub(crate) struct Served {
    client: Client,
    runtime: Runtime,
    /// Full bundles before this index may be asked for ahead of time.
    bundles: u64,
    ahead: RefCell<VecDeque<(TilePath, JoinHandle<Fetched>)>>,
    /// The error of the last fetch that failed: a log that cannot be reached is not a log that is wrong.
    failed: RefCell<Option<Error>>,
}

impl Served {
    pub(crate) fn new(client: Client) -> anyhow::Result<Served> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (ahead, failed) = (RefCell::default(), RefCell::default());
        Ok(Served { client, runtime, bundles: 0, ahead, failed })
    }

    pub(crate) fn checkpoint(&self) -> anyhow::Result<String> {
        let bytes = self.runtime.block_on(self.client.log_file("checkpoint", NOTE_BYTES_MAX))?;
        let Some(bytes) = bytes else {
            let message = format!("there is no log at {}", self.client.server());
            return Err(Stop::new(Exit::NotFound, message).next("check the address").into());
        };
        // What is no text is no checkpoint either: whoever reads it says so.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// From here on bundles of a log of this size are asked for a few at a time.
    pub(crate) fn read_ahead(&mut self, size: u64) {
        self.bundles = size / u64::from(TILE_WIDTH);
    }

    /// Takes the error of the last fetch that failed, if one did.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failed.take()
    }

    fn note(&self, error: Error) -> String {
        let reason = error.to_string();
        // An answer of the wrong size came from the log itself.
        if !matches!(error, Error::TooLarge { .. }) {
            self.failed.replace(Some(error));
        }
        reason
    }

    fn fetch(&self, path: &TilePath) -> Fetched {
        if path.shelf != Shelf::Entries {
            return self.runtime.block_on(file(self.client.clone(), *path));
        }
        let mut ahead = self.ahead.borrow_mut();
        // Whoever reads out of order is served as asked, and the rest is begun anew.
        while ahead.front().is_some_and(|(next, _)| next != path) {
            if let Some((_, task)) = ahead.pop_front() {
                task.abort();
            }
        }
        let asked = ahead.pop_front();
        if path.is_full() {
            let first = ahead.back().map_or(path.index + 1, |(last, _)| last.index + 1);
            for index in first..self.bundles.min(path.index.saturating_add(1 + AHEAD)) {
                let path = TilePath::full(Shelf::Entries, index);
                ahead.push_back((path, self.runtime.spawn(file(self.client.clone(), path))));
            }
        }
        match asked {
            None => self.runtime.block_on(file(self.client.clone(), *path)),
            Some((_, task)) => self.runtime.block_on(task).unwrap_or_else(|error| {
                Err(Error::Protocol(format!("the fetch of {path} broke off: {error}")))
            }),
        }
    }
}

async fn file(client: Client, path: TilePath) -> Fetched {
    let bytes_max = match path.shelf {
        Shelf::Hashes(_) => HASHES_BYTES_MAX,
        Shelf::Entries => ENTRIES_BYTES_MAX,
    };
    client.log_file(&path.to_string(), bytes_max).await
}

impl TileSource for Served {
    fn tile(&self, path: &TilePath) -> Result<Vec<u8>, SourceError> {
        match self.fetch(path) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(SourceError::Missing(*path)),
            Err(error) => Err(SourceError::Failed { path: *path, reason: self.note(error) }),
        }
    }
}

impl Definitions for Served {
    fn definition(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        let path = format!("definition/{digest}");
        self.runtime
            .block_on(self.client.log_file(&path, DEFINITION_BYTES_MAX))
            .map_err(|error| self.note(error))
    }
}
