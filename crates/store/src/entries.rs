//! The index entries of a row: slim, derived, the same in every store.

use model::submission::Wait;
use model::{Name, Status, Submission, Time};

use crate::take::{LaneKey, OpenKey};

/// What a store indexes a row under. Stores write the difference of two of these and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    pub place: Place,
    pub ready: Option<ReadyEntry>,
    pub timer: Option<Time>,
    /// The key it holds.
    pub key: Option<OpenKey>,
    /// The key it waits for.
    pub key_wait: Option<OpenKey>,
    pub lane: Option<LaneEntry>,
    /// The hold or limit that parked it.
    pub parked: Option<Name>,
}

/// How it stands in a lane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneEntry {
    pub key: LaneKey,
    pub stand: Stand,
}

/// Two rows that hold one lane are a conflict, as with keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stand {
    Holds,
    /// In line, ordered by when it was created, then by its tie, then by id.
    InLine {
        since: Time,
        tie: Name,
    },
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

/// The key a row has and does not hold: it ended, or waits for it.
#[must_use]
pub fn unheld_key(row: &Submission) -> Option<OpenKey> {
    let unheld = row.key_waits || row.status.is_final();
    let key = row.key.clone().filter(|_| unheld)?;
    Some(OpenKey { pipeline: row.pipeline.clone(), key })
}

/// The lane a row has a seat in and does not hold, parked or not.
#[must_use]
pub fn unheld_lane(row: &Submission) -> Option<LaneKey> {
    let seat = row.seat.as_ref().filter(|seat| !seat.holds)?;
    Some(LaneKey { pipeline: row.pipeline.clone(), lane: seat.lane.clone() })
}

impl Entries {
    #[must_use]
    pub fn of(row: &Submission) -> Self {
        let key = row.key.clone().filter(|_| !row.status.is_final());
        let key = key.map(|key| OpenKey { pipeline: row.pipeline.clone(), key });
        Entries {
            place: Place { pipeline: row.pipeline.clone(), state: row.state.clone(), status: row.status },
            ready: match &row.wait {
                Wait::Worker { task, rank } if row.parked.is_none() => {
                    Some(ReadyEntry { task: task.clone(), rank: *rank })
                }
                _ => None,
            },
            timer: row.timer,
            key: key.clone().filter(|_| !row.key_waits),
            key_wait: key.filter(|_| row.key_waits),
            lane: row.seat.as_ref().filter(|seat| seat.holds || seat.waits() && row.parked.is_none()).map(
                |seat| LaneEntry {
                    key: LaneKey { pipeline: row.pipeline.clone(), lane: seat.lane.clone() },
                    stand: if seat.holds {
                        Stand::Holds
                    } else {
                        Stand::InLine { since: row.created_at, tie: seat.tie.clone() }
                    },
                },
            ),
            parked: row.parked.clone(),
        }
    }
}
