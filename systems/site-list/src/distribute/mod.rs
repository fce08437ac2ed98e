//! Distributions: files that browsers get, built of the log and verified without it.

mod build;
mod files;
mod leaves;
mod verify;

pub use build::{BuildError, Built, build};
pub use files::{BIN, JSON, Latest, UPDATE, Witnessed};
pub use leaves::{LeavesError, LogLeaves};
pub use verify::{Verified, VerifyError, verify};
