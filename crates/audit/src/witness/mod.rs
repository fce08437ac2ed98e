//! Witnesses (C2SP tlog-witness): somebody else who remembers what the log said, and signs only what agrees with it.

mod collect;
mod request;
mod serve;
mod state;

pub use collect::{CollectError, Collected, Post, collect};
pub use request::{AddCheckpoint, BadRequest, PROOF_LINES_MAX};
pub use serve::{Answer, Witness};
pub use state::{FileState, MemoryState, Remembered, StateError, WitnessState};
pub use tlog::policy::{LogLine, Policy, PolicyError, WitnessLine};
