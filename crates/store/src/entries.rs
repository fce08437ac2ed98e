//! The index entries of a row: slim, derived, the same in every store.

use model::submission::Wait;
use model::{Name, Status, Submission, Time};

use crate::take::OpenKey;

/// What a store indexes a row under. Stores write the difference of two of these and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    pub place: Place,
    pub ready: Option<ReadyEntry>,
    pub timer: Option<Time>,
    pub key: Option<OpenKey>,
}

/// Where it is listed and counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub pipeline: Name,
    pub state: Name,
    pub status: Status,
}

/// How it queues for a worker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadyEntry {
    pub task: Name,
    pub rank: i64,
}

impl Entries {
    #[must_use]
    pub fn of(row: &Submission) -> Self {
        Entries {
            place: Place { pipeline: row.pipeline.clone(), state: row.state.clone(), status: row.status },
            ready: match &row.wait {
                Wait::Worker { task, rank } => Some(ReadyEntry { task: task.clone(), rank: *rank }),
                _ => None,
            },
            timer: row.timer,
            key: match &row.key {
                Some(key) if !row.status.is_final() => {
                    Some(OpenKey { pipeline: row.pipeline.clone(), key: key.clone() })
                }
                _ => None,
            },
        }
    }
}
