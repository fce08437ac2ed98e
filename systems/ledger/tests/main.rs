//! The ledger system against what it works with: one binary, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod answers;
mod ethereum;
mod fake_ledger;
mod lanes;
mod lookup;
mod node;
mod queue_file;
mod queuer;
mod rest;
mod seed;
mod trust;
mod world;
