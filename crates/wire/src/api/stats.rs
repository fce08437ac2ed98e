//! The condition of a server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PercentilesView;
use crate::Name;
use crate::submission::Status;
use crate::time::{Millis, Time};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatsView {
    /// `running`, `unreachable` while the store is, `drained` or `broken` once the engine has ended.
    pub condition: String,
    /// The position of the newest event, for whoever sees everything.
    pub last_event: Option<u64>,
    /// The numbers of submissions as they are kept, by pipeline, state and status; places without any are not listed.
    pub counts: Vec<PlaceCount>,
    /// Ends that somebody should look into, by pipeline and state.
    #[serde(default)]
    pub investigations: Vec<InvestigationCount>,
    /// The service levels that are declared and how they were kept to lately, by all servers over the store.
    #[serde(default)]
    pub service_levels: Vec<ServiceLevelView>,
    /// The engine's own chores, for whoever sees everything.
    pub duties: Vec<DutyView>,
    /// The decisions of this server, since it started, about what applications submitted in transactions of their own.
    /// For whoever sees everything.
    #[serde(default)]
    pub received: Option<ReceivedView>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedView {
    pub submitted: u64,
    /// An open submission with the same key stands for them.
    pub merged: u64,
    /// The numbers of refused ones, by the code of the refusal.
    pub refused: BTreeMap<Name, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlaceCount {
    pub pipeline: Name,
    pub state: Name,
    pub status: Status,
    pub count: u64,
}

/// The number of ends of a state that wait for somebody to look into them, and of those that were looked into.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InvestigationCount {
    pub pipeline: Name,
    pub state: Name,
    pub open: u64,
    pub acknowledged: u64,
}

/// A service level that the newest version of a pipeline declares, and how it was kept to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceLevelView {
    pub pipeline: Name,
    /// The state, or the leg.
    pub name: Name,
    /// `state` or `leg`.
    pub of: String,
    /// The target as it is declared: a span, or business days such as `5bd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<String>,
    pub windows: Vec<WindowView>,
}

/// The measurements that ended within a span of time up to now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowView {
    /// `1h`, `1d` or `30d`.
    pub window: String,
    pub measured: u64,
    /// The median against the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<VerdictView>,
    /// The 95th percentile against `p95`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<VerdictView>,
    /// The percentiles themselves, where something was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<PercentilesView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VerdictView {
    /// About: off by an eighth at most, and never on the wrong side of what is declared.
    pub figure: Millis,
    /// The share, from 0 to 1, that kept to what was declared when it ended.
    pub within: f64,
    pub met: bool,
}

/// A worker that has asked a server for work lately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerView {
    pub worker: Name,
    /// The tasks the worker asked for last.
    pub tasks: Vec<Name>,
    pub last_seen_at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerList {
    pub workers: Vec<WorkerView>,
}

/// A chore the engine does by itself. What to watch is `last_good_ago`: it grows when something is wrong, whatever
/// that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DutyView {
    pub name: Name,
    /// The time since a pass ended well; null: none has since the server started.
    pub last_good_ago: Option<Millis>,
    /// Since the server started.
    pub passes: u64,
    pub failures: u64,
    /// The time the pass under way has taken.
    pub running_for: Option<Millis>,
    /// Set if that is longer than a pass may take.
    pub overdue: bool,
    pub last_error: Option<String>,
    /// The server that does it, where another one over the same store does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Name>,
}

/// The clock everything goes by, and whether it is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockView {
    pub now: Time,
    /// The latest time that is certain to have come: what is erased, forgotten or ended for good goes by it.
    pub known_at: Time,
    /// The reason why the clock is not believed, and what to do; null while it is believed.
    pub doubt: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerList {
    pub servers: Vec<ServerView>,
}

/// A server, as those over the same store see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerView {
    pub id: Name,
    /// The name people call the server; its id where nobody gave it a name.
    pub name: Name,
    /// The address where the server listens; empty before it does.
    pub address: String,
    pub version: String,
    pub started_at: Time,
    /// The time since the server said that it is there.
    pub seen_ago: Millis,
    /// The duties the server does for all servers at present.
    pub duties: Vec<Name>,
    /// Set if the server is the one that was asked.
    pub asked: bool,
}
