//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod conformance;
mod hints;
mod log;
mod moving;
mod on_page;
mod opening;
mod partitions;
mod plans;
mod racing;
mod reconnecting;
mod sequencer;
mod standing;
mod submit;
mod support;
