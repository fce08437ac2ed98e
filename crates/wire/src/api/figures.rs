//! Figures of the fleet: what flows, how long it stays, what stops it.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::submission::{Fingerprint, Status, SubmissionId};
use crate::time::{Millis, Time};

/// Figures of all servers over a store together. None of them is counted by looking at submissions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FiguresView {
    pub flow: FlowView,
    /// The stays that ended in the last hours, by state.
    pub dwells: Vec<DwellView>,
    /// The oldest open submission of each state.
    pub oldest: Vec<OldestView>,
    /// Dead letters by what went wrong, most first.
    pub dead: Vec<DeadView>,
    /// Set if there are more of those than are shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead_more: bool,
    /// The limits that something is counted under now, by label value.
    pub limits: Vec<LimitView>,
    /// Set if there are more of those than are shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits_more: bool,
    /// The tasks that something waits for and nobody asks for.
    pub unpolled: Vec<UnpolledView>,
    /// The tasks that workers ask for and no pipeline has, for whoever sees everything.
    pub unknown_tasks: Vec<UnknownTaskView>,
    /// For whoever sees everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreView>,
}

/// Moves by edge and minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowView {
    /// The beginning of the first minute. The last is under way.
    pub since: Time,
    pub edges: Vec<EdgeView>,
}

/// The moves along one edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeView {
    pub pipeline: Name,
    /// Null: it was submitted.
    pub from: Option<Name>,
    pub to: Name,
    /// The number of moves in each minute.
    pub minutes: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DwellView {
    pub pipeline: Name,
    pub state: Name,
    pub measured: u64,
    /// The times that so many of a hundred stayed below: off by an eighth at most.
    #[serde(flatten)]
    pub percentiles: PercentilesView,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PercentilesView {
    pub p50: Millis,
    pub p95: Millis,
    pub p99: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldestView {
    pub pipeline: Name,
    pub state: Name,
    pub submission: SubmissionId,
    /// The time at which it was made, not when it came to this state.
    pub created_at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadView {
    pub pipeline: Name,
    pub state: Name,
    /// The code of the error; empty where there is none.
    pub code: Name,
    /// The message without ids, numbers and paths, which is what those that are counted have in common.
    pub message: Name,
    /// The short name of the error, to filter by.
    pub fingerprint: Fingerprint,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitView {
    pub pipeline: Name,
    pub label: Name,
    pub value: Name,
    pub in_use: u32,
    /// The limit of the newest version; null where it has none.
    pub most: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpolledView {
    pub task: Name,
    pub pipeline: Name,
    pub state: Name,
    /// The submissions that are open in the state.
    pub open: u64,
    /// The time since a worker asked for the task; null: none has, as far as the servers that run know.
    pub polled_ago: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTaskView {
    pub task: Name,
    /// The worker that asked for it last.
    pub worker: Name,
    pub asked_ago: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreView {
    /// Null where the store does not know.
    pub bytes: Option<u64>,
    /// The time since the last backup, as far as somebody said that one was made.
    #[serde(default)]
    pub backup_ago: Option<Millis>,
    /// The time since a server published a checkpoint of the audit log; null: not since those that run started, or there is no
    /// log.
    pub checkpoint_ago: Option<Millis>,
}

/// Lanes that somebody is in line for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanePage {
    pub lanes: Vec<LaneLine>,
    /// The value to give as `after` for the next page; null at the end.
    pub next: Option<Name>,
}

/// A lane, and who is in the way of the first in line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneLine {
    pub pipeline: Name,
    pub lane: Name,
    /// Null where nobody holds the lane, or it is not the caller's to see.
    pub blocker: Option<BlockerView>,
    /// The first in line, where it is the caller's to see.
    pub first: Option<SubmissionId>,
    pub first_created_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockerView {
    pub submission: SubmissionId,
    pub state: Name,
    pub status: Status,
    pub entered_at: Time,
}
