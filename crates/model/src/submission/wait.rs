//! What a submission waits for, and the places it holds meanwhile.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::time::{Millis, Time};
use crate::token::Bits;

/// What a submission waits for: exactly one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Wait {
    /// A worker to claim its task. `rank` orders the queue.
    Worker { task: Name, rank: i64 },
    /// The worker that holds the lease.
    Lease(Lease),
    /// Time to pass before it may go on.
    Delay { until: Time, cause: Cause },
    /// The end of a wait state.
    Clock { until: Time },
    /// Its turn in a lane.
    Line,
    /// The end of the open submission that has its key.
    Key,
    /// Its children to end.
    Children,
    /// A person's action.
    Person,
    /// A guard of its pass state to hold.
    Guard,
    /// A redrive.
    Redrive,
    /// Nothing: it has ended.
    Nothing,
}

impl Wait {
    /// The one word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Wait::Worker { .. } => "worker",
            Wait::Lease(_) => "lease",
            Wait::Delay { .. } => "delay",
            Wait::Clock { .. } => "clock",
            Wait::Line => "line",
            Wait::Key => "key",
            Wait::Children => "children",
            Wait::Person => "person",
            Wait::Guard => "guard",
            Wait::Redrive => "redrive",
            Wait::Nothing => "nothing",
        }
    }
}

/// A place in a lane: the one that holds it, or one of those in line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub lane: Name,
    /// Orders those who came at the same time.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub tie: Name,
    pub holds: bool,
    /// Neither holding nor in line: its state has no use for the lane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub away: bool,
}

impl Seat {
    /// In line, and not yet its turn.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.holds && !self.away
    }
}

/// Why a submission is delayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Retry,
    Snooze,
    NotBefore,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub task: Name,
    pub worker: Name,
    pub no: u64,
    pub bits: Bits,
    pub span: Millis,
    pub granted_at: Time,
    pub expires_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_out_at: Option<Time>,
    /// What it takes of its pipeline's limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
}

/// One of the places a limit has. Two leases never have the same one, which is what keeps the limit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    pub label: Name,
    pub value: Name,
    /// From 0 to one less than the limit.
    pub no: u32,
}
