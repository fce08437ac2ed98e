//! Leaves that are no events: what was done to the log, or to the rules it is read by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use model::event::Pseudonym;
use model::{Digest, Name, Role, Time};
use tlog::guard::Fork;

const FORMAT: u32 = 1;

/// Field order is the byte order: it never changes within a format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    format: u32,
    #[serde(flatten)]
    act: Record,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A pipeline definition came into force: events name it by its digest from here on.
    Applied(Applied),
    /// Entries below an index are no longer served.
    Pruned(Pruned),
    /// The log goes on from an older state; what was signed after it is given up.
    Forked(Forked),
    /// A key signs checkpoints from here on.
    KeyAdded(KeyChange),
    /// A key signs no more.
    KeyRetired(KeyChange),
    /// Somebody who looks after the server did something that is no event of a submission.
    Administered(Administered),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub pipeline: Name,
    pub version: u32,
    /// The revision of the version: its parameters may change while its machine stays.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub revision: u32,
    /// SHA-256 of the exact bytes that were applied. They may be larger than a leaf and are served by this name.
    pub definition: Digest,
    pub at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    pub minimum_index: u64,
    pub at: Time,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forked {
    /// The checkpoint that is given up.
    pub size: u64,
    pub root: Digest,
    pub at: Time,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyChange {
    /// The key, as its verifiers are given it.
    pub key: String,
    pub at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Administered {
    /// The number of the deed, from 1 without gaps: one that is left out is missed.
    pub no: u64,
    /// The deed, such as `token-created`.
    pub deed: Name,
    /// The thing the deed was done to.
    pub of: Name,
    pub at: Time,
    pub actor: Pseudonym,
    /// The role it was done by; none: the server did it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail: BTreeMap<Name, Name>,
}

fn first() -> u32 {
    1
}

fn is_first(revision: &u32) -> bool {
    *revision == 1
}

impl Forked {
    /// Returns the decision as the log's guard takes it.
    #[must_use]
    pub fn decision(&self) -> Fork {
        Fork { size: self.size, root: self.root, leaf: Record::Forked(self.clone()).bytes() }
    }
}

impl Record {
    /// The bytes that are logged.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let written = Written { format: FORMAT, act: self.clone() };
        serde_json::to_vec(&written).expect("an act has only string keys and whole numbers")
    }

    pub(super) fn at(&self) -> Time {
        match self {
            Record::Applied(act) => act.at,
            Record::Pruned(act) => act.at,
            Record::Forked(act) => act.at,
            Record::KeyAdded(act) | Record::KeyRetired(act) => act.at,
            Record::Administered(act) => act.at,
        }
    }

    /// Reads an act that is written as `bytes` would write it.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_slice(bytes).ok()?;
        (written.format == FORMAT && written.act.bytes() == bytes).then_some(written.act)
    }
}
