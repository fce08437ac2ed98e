//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod backup;
mod conformance;
mod displaced;
mod opening;
mod plans;
