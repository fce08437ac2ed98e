//! The audit log, as its operators see it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::time::Time;
use crate::{ActorKind, Digest, Name, Role};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditView {
    /// The name of the log.
    pub origin: String,
    /// Leaves under the published checkpoint.
    pub size: u64,
    /// The time at which this server published or confirmed the checkpoint last; null: another server does, or this one
    /// has just started.
    pub checkpoint_at: Option<Time>,
    /// Leaves that wait for the next checkpoint, for whoever sees everything.
    pub unpublished: Option<u64>,
    /// `running`; `refused` while nothing is signed until it is forked; `failing` while it is tried again.
    pub standing: String,
    /// The reason, where the log does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The keys, as verifiers are given them.
    pub keys: Vec<String>,
    /// The witnesses, for whoever sees everything.
    pub witnesses: Vec<WitnessView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessView {
    pub name: String,
    /// The size of the last checkpoint it cosigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosigned: Option<u64>,
    /// The reason why the witness did not cosign, the last time it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkBody {
    pub reason: String,
}

/// A change of the log's keys: without `retire`, one is added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogKeyBody {
    /// The key to retire: its line, or its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retire: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogKeyAnswer {
    /// The key that was added or retired.
    pub key: String,
    /// The keys that sign from now on.
    pub keys: Vec<String>,
}

/// Acts besides what happened to submissions, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActPage {
    pub acts: Vec<ActView>,
    /// The value to give as `after` for those before; null: there are no more.
    pub next: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActView {
    /// The act's index in the log.
    pub index: u64,
    /// `applied`, `pruned`, `forked`, `key_added`, `key_retired` or `administered`.
    pub kind: String,
    pub at: Time,
    /// The thing that the act was done to.
    pub of: Name,
    /// The number of an administered act; then what was done, by whom and by which role (null: by the server itself).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<ActActor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail: BTreeMap<Name, Name>,
}

/// The actor: the pseudonym, as the log has it, and the name it stands for where that is still known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActActor {
    #[serde(rename = "type")]
    pub kind: ActorKind,
    pub id: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}
