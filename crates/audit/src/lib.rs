//! A history anyone can verify.
//!
//! Every event's exact bytes, and every applied pipeline definition's digest, are leaves of an RFC 6962 tree, published as
//! C2SP tiles with signed checkpoints, all of which is `tlog`. From the leaves up: `leaf` (what is logged), `tree` (hashes and proofs), `tiles`
//! (how it is laid out), `note` (how it is signed), `proof` (what is handed out), `verify` (what is checked), `witness`,
//! `monitor` and `guard` (who keeps the signer honest), `follow` (how the log grows). No clock, no sockets, no chance.

pub mod follow;
pub mod leaf;
pub mod monitor;
pub mod proof;
pub mod verify;
pub mod witness;

use tlog::durable;
pub use tlog::{guard, note, tiles, tree};
