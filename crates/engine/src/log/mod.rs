//! The audit log: what was committed, as a tree under a signed checkpoint.
//!
//! The log follows the store and is never on the way of a commit: every leaf is a row of the sequence of events, index
//! `n` at position `n + 1`. A pass reads what was committed since, writes tiles, has the guard sign, and moves the
//! checkpoint by compare-and-swap; whatever is lost on the way is made again from the same rows.

mod acts;
mod evidence;
mod keys;
mod publish;
mod state;
mod tiles;
mod witnesses;

pub use evidence::EvidenceError;
pub use keys::{KeyFile, KeyFileError};
pub use state::{LogReport, Standing, WitnessReport};
pub use tiles::StoreTiles;
pub use witnesses::Witnesses;

pub(crate) use acts::newest as newest_acts;
pub(crate) use evidence::evidence;
pub(crate) use publish::{Follower, Published, acts};
pub(crate) use state::LogState;
pub(crate) use tiles::{checkpoint, size_of};

use std::path::PathBuf;
use std::time::Duration;

/// Options for signing and publishing a deployment's log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The file with the keys; made if it is missing.
    pub key: PathBuf,
    /// The signer's own memory. Not to be restored together with the store.
    pub guard: PathBuf,
    /// The name of the log, if its key is yet to be made.
    pub origin: Option<String>,
    /// The interval at which a checkpoint is published while something happens.
    pub every: Duration,
    pub witnesses: Option<Witnesses>,
}

impl LogOptions {
    /// Key and guard in a folder, a checkpoint every second, no witness.
    #[must_use]
    pub fn in_folder(folder: &std::path::Path) -> Self {
        LogOptions {
            key: folder.join("log.key"),
            guard: folder.join("log.guard"),
            origin: None,
            every: Duration::from_secs(1),
            witnesses: None,
        }
    }
}
