//! The log of the list: where leaves are put, and what proves that they are there.

mod own;
mod reader;
mod remote;
mod seen;
mod sigsum;

use serde::Serialize;
use wire::Digest;

use crate::hex::hex;

pub use own::{Own, WriteError};
pub use reader::{Reader, Source};
pub use remote::Remote;
pub use sigsum::{Sigsum, SigsumKey};

/// The log that a list keeps.
#[derive(Debug)]
pub enum Log {
    /// One of its own, written here and read where everybody reads it.
    Own { writer: Own, reader: Reader },
    /// One of others that speaks as Sigsum logs do.
    Sigsum(Box<Sigsum>),
}

/// A leaf that the log took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Submitted {
    /// The leaf's exact text.
    pub leaf: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The log's word on a new leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Accepted(Submitted),
    /// Not taken yet; the same leaf may be put again.
    NotYet,
    Rejected(String),
}

/// The place of a leaf in a tree, and the signed head of that tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub proof: Path,
    /// The signed head, verbatim.
    pub tree_head: String,
}

/// The way from a leaf to the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    pub index: u64,
    pub size: u64,
    /// Hashes from the leaf's sibling up, in hexadecimal.
    pub hashes: Vec<String>,
}

/// A log's standing towards one leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Included(Proof),
    NotYet,
    /// The log contradicts itself, or its key.
    Lies(Lie),
}

/// A contradiction, with what the log said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Lie {
    pub reason: String,
    pub tree_head: String,
}

/// The log could not be asked: that says nothing about what it holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the log: {0}")]
pub struct Unreachable(pub String);

impl Log {
    /// Puts a leaf before the log, which has so many leaves at least. The same leaf is there once, however often it is put.
    pub async fn submit(&self, leaf: &str, size_min: u64) -> Result<Taken, Unreachable> {
        match self {
            Log::Own { writer, .. } => writer.submit(leaf, size_min).await,
            Log::Sigsum(log) => log.submit(leaf).await,
        }
    }

    /// Asks for a proof of inclusion, and verifies it.
    pub async fn prove(&self, submitted: &Submitted) -> Result<Standing, Unreachable> {
        match self {
            Log::Own { reader, .. } => reader.prove(submitted.clone()).await,
            Log::Sigsum(log) => log.prove(submitted).await,
        }
    }
}

fn hashes(path: &[Digest]) -> Vec<String> {
    path.iter().map(hex).collect()
}
