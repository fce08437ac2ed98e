//! Every test of this crate in one binary: linked once.
#![expect(clippy::unwrap_used, reason = "a test says what it expects by unwrapping it")]

mod common;
mod evidence;
mod legality;
mod log;
mod oracles;
mod parsers;
mod peers;
mod rate;
mod revisions;
mod standing;
mod unborn;
mod vectors;
mod witness;
