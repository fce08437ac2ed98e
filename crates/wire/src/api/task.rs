//! The requests of workers and the answers to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EntryChangeBody, Problem};
use crate::Name;
use crate::json::Json;
use crate::submission::{Children, Progress, Status, SubmissionId};
use crate::time::{Millis, Time};

/// The outcome by which the task of a join state says: these are all its children.
pub const SEALED: &str = "sealed";

/// Every call about tasks takes many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tasks<T> {
    pub tasks: Vec<T>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimBody {
    pub worker: String,
    pub tasks: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipelines: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Millis>,
    /// The time the leases are to be good without a renewal. Left out: as each state says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Millis>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimAnswer {
    pub tasks: Vec<TaskView>,
    /// The tasks asked for that no pipeline has which the caller can see: waiting for them is in vain until one is
    /// applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_tasks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskView {
    /// The secret with which whoever holds it can settle the task.
    pub token: String,
    pub submission: SubmissionId,
    pub pipeline: Name,
    pub state: Name,
    pub task: Name,
    pub with: Option<Json>,
    pub params: Json,
    pub attempt: u32,
    /// The number of times it came back from a state behind this one.
    #[serde(default)]
    pub requeues: u32,
    #[serde(default)]
    pub priority: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// The submission that made this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SubmissionId>,
    /// The state in which it failed last, while it is being put right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_from: Option<Name>,
    /// The last state that it left by an outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_good: Option<Name>,
    pub payload: Json,
    pub payload_revision: u64,
    pub outputs: BTreeMap<Name, Json>,
    pub labels: BTreeMap<Name, Name>,
    /// The time the lease is good without a renewal.
    pub lease: Millis,
    pub lease_expires_at: Time,
    /// The time that one attempt may take, however lively; none is as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
    /// The trace the submission is part of, for whatever the worker calls in its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<Name>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishBody {
    pub token: String,
    pub outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// Submissions it makes, in the commit of its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildBody>,
    /// Entries of a system that it changes, in the commit of its answer: all, or none and no move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryChangeBody>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildBody {
    pub payload: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    /// The child's name among its parent's children: the same name is the same child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpawnBody {
    pub token: String,
    pub children: Vec<ChildBody>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailBody {
    pub token: String,
    pub error: ErrorBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBody {
    pub code: String,
    pub message: String,
    #[serde(default = "yes")]
    pub retryable: bool,
    /// The pause before another try. Left out: as the pipeline says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Millis>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnoozeBody {
    pub token: String,
    #[serde(rename = "for")]
    pub span: Millis,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveBackBody {
    pub token: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenewBody {
    pub token: String,
    /// The progress of the task. Left out: as it was told before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettleAnswer {
    pub results: Vec<SettleResult>,
}

/// One for each task sent, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettleResult {
    pub token: String,
    pub status: u16,
    /// The state in which the settlement left the submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission_status: Option<Status>,
    /// The counts of the submission's children, after a spawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Children>,
    /// The same settlement was taken before; this is its answer again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// The time until which the lease is good now, after a renewal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_expires_at: Option<Time>,
    /// The revision of the payload, after a renewal: higher than the task's means the payload was amended since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_revision: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}
