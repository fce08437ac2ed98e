//! Transparency logs, whatever their leaves say.
//!
//! Leaves become an RFC 6962 tree, published as C2SP tiles with signed checkpoints. From the hashes up: `tree` (hashes and
//! proofs), `tiles` (the layout), `note` (signatures), `policy` (whose signatures count), `proof` (what is handed out),
//! `guard` (a memory that keeps the signer honest), `follow` (growth). No clock, no sockets, no chance.

pub mod durable;
pub mod follow;
pub mod guard;
pub mod note;
pub mod policy;
mod proof;
pub mod tiles;
pub mod tree;

pub use proof::{BadProof, TlogProof};
