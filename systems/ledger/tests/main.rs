//! The ledger system against what it works with: one binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod queue_file;
mod queuer;
mod seed;
