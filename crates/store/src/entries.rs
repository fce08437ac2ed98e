//! The index entries of a row: slim, derived, the same in every store.

use model::person::normal;
use model::submission::{Failure, Slot, Wait};
use model::{Investigation, InvestigationStatus, Name, Status, Submission, Time};
use serde::Deserialize;

use crate::take::{LaneKey, LimitKey, OpenKey};

/// The index entries of one row. Stores write the difference of two of these and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entries {
    pub place: Place,
    pub ready: Option<ReadyEntry>,
    pub timer: Option<TimerEntry>,
    /// The key it holds.
    pub key: Option<OpenKey>,
    /// The key it waits for.
    pub key_wait: Option<OpenKey>,
    /// The key it had when it ended. Written with the end: what is under way pays nothing for it.
    pub past_key: Option<OpenKey>,
    pub lane: Option<LaneEntry>,
    /// The hold or limit that parked it.
    pub parked: Option<Name>,
    /// The slots of limits that the row's lease takes.
    pub slots: Vec<SlotEntry>,
    /// The place and the error under which a dead letter is counted.
    pub dead: Option<DeadKey>,
    /// The time at which the first of the row's service levels is missed, or was.
    pub late: Option<LateEntry>,
    /// The lists of what waits for people that the row is in. They are kept where late rows are, under names that no
    /// pipeline has.
    pub reviews: Vec<LateEntry>,
}

/// A list of what waits for people, the first due first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewList {
    /// Whatever waits in a state.
    All { pipeline: Name, state: Name },
    /// Those of one state that nobody has taken on.
    Unassigned { pipeline: Name, state: Name },
    /// Those that one person has taken on, wherever they are.
    Of(Name),
}

impl ReviewList {
    /// Returns the name that the list is kept under. Pipelines, states and people have no such character in theirs.
    #[must_use]
    pub fn name(&self) -> Name {
        const MARK: char = '\u{1f}';
        match self {
            ReviewList::All { pipeline, state } => format!("{pipeline}{MARK}{state}").into(),
            ReviewList::Unassigned { pipeline, state } => format!("{pipeline}{MARK}{state}{MARK}").into(),
            ReviewList::Of(person) => format!("{MARK}{}", normal(person)).into(),
        }
    }

    fn at(&self, at: Time) -> LateEntry {
        LateEntry { pipeline: self.name(), at }
    }
}

/// Returns a row's place among what waits for people: by when it is due, and where no service level says so, since when it
/// waits.
#[must_use]
pub fn review_due(row: &Submission) -> Time {
    row.clocks.iter().map(|clock| clock.due_at).min().unwrap_or(row.entered_at)
}

fn reviews(row: &Submission) -> Vec<LateEntry> {
    if row.wait != Wait::Person {
        return Vec::new();
    }
    let (pipeline, state) = (row.pipeline.clone(), row.state.clone());
    let held = match &row.assignment {
        Some(assignment) => ReviewList::Of(assignment.to.clone()),
        None => ReviewList::Unassigned { pipeline: pipeline.clone(), state: state.clone() },
    };
    let at = review_due(row);
    vec![ReviewList::All { pipeline, state }.at(at), held.at(at)]
}

/// The time to look at a row. Rows that have ended are looked at apart, so that clearing up delays nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerEntry {
    pub idle: bool,
    pub at: Time,
}

/// Dead letters that have a state and an error in common are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeadKey {
    pub pipeline: Name,
    pub state: Name,
    /// The code of the error; empty where there is none.
    pub code: Name,
    /// The message of the error without what differs from one to the next ([`Failure::pattern`]).
    pub pattern: Name,
}

impl DeadKey {
    fn of(pipeline: &Name, state: &Name, error: Option<&Failure>) -> DeadKey {
        DeadKey {
            pipeline: pipeline.clone(),
            state: state.clone(),
            code: error.map_or_else(|| "".into(), |error| error.code.clone()),
            pattern: error.map_or_else(|| "".into(), Failure::pattern),
        }
    }
}

/// Two rows with one slot are a conflict, as with keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotEntry {
    pub limit: LimitKey,
    pub no: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LateEntry {
    pub pipeline: Name,
    pub at: Time,
}

/// The row's standing in a lane.
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

/// The place where a row is listed and counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub pipeline: Name,
    pub state: Name,
    pub status: Status,
    /// The progress of the investigation of the submission's end, where there is one.
    pub investigation: Option<InvestigationStatus>,
}

impl Place {
    /// Both of what it is listed under beside pipeline and state, as one word: the status, and after a colon how far
    /// an investigation has come. Few places have one, and those that have none are written as they always were.
    #[must_use]
    pub fn standing(&self) -> &'static str {
        standing(self.status, self.investigation)
    }
}

/// See [`Place::standing`].
#[must_use]
pub fn standing(status: Status, investigation: Option<InvestigationStatus>) -> &'static str {
    use InvestigationStatus::{Acknowledged, Open};
    match (status, investigation) {
        (status, None) | (status @ (Status::Open | Status::Dead), _) => status.as_str(),
        (Status::Succeeded, Some(Open)) => "succeeded:open",
        (Status::Succeeded, Some(Acknowledged)) => "succeeded:acknowledged",
        (Status::Failed, Some(Open)) => "failed:open",
        (Status::Failed, Some(Acknowledged)) => "failed:acknowledged",
        (Status::Cancelled, Some(Open)) => "cancelled:open",
        (Status::Cancelled, Some(Acknowledged)) => "cancelled:acknowledged",
    }
}

/// The inverse of [`standing`].
pub fn read_standing(text: &str) -> Result<(Status, Option<InvestigationStatus>), String> {
    match text.split_once(':') {
        None => Ok((text.parse()?, None)),
        Some((status, investigation)) => Ok((status.parse()?, Some(investigation.parse()?))),
    }
}

/// The row's place in the queue for workers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadyEntry {
    pub task: Name,
    pub rank: i64,
}

/// The part of a row that says under which key it is found once it has ended and how a dead letter is counted, for stores that
/// lack these entries.
#[derive(Debug, Deserialize)]
pub struct Keyed {
    pipeline: Name,
    state: Name,
    #[serde(default)]
    key: Option<Name>,
    status: Status,
    #[serde(default)]
    error: Option<Failure>,
}

impl Keyed {
    #[must_use]
    pub fn past_key(&self) -> Option<OpenKey> {
        let key = self.key.clone().filter(|_| self.status.is_final())?;
        Some(OpenKey { pipeline: self.pipeline.clone(), key })
    }

    #[must_use]
    pub fn dead(&self) -> Option<DeadKey> {
        let is_dead = self.status == Status::Dead;
        is_dead.then(|| DeadKey::of(&self.pipeline, &self.state, self.error.as_ref()))
    }
}

/// The key a row has and does not hold: it ended, or waits for it.
#[must_use]
pub fn unheld_key(row: &Submission) -> Option<OpenKey> {
    let key = row.key.clone().filter(|_| row.held_key().is_none())?;
    Some(OpenKey { pipeline: row.pipeline.clone(), key })
}

/// The lane a row holds.
#[must_use]
pub fn held_lane(row: &Submission) -> Option<LaneKey> {
    Some(LaneKey { pipeline: row.pipeline.clone(), lane: row.held_lane()?.clone() })
}

/// The lane a row has a seat in and does not hold, parked or not.
#[must_use]
pub fn unheld_lane(row: &Submission) -> Option<LaneKey> {
    let seat = row.seat.as_ref().filter(|seat| !seat.holds())?;
    Some(LaneKey { pipeline: row.pipeline.clone(), lane: seat.lane.clone() })
}

impl Entries {
    /// Returns all lists by time that the row is in.
    pub fn by_time(&self) -> impl Iterator<Item = &LateEntry> {
        self.late.iter().chain(&self.reviews)
    }

    #[must_use]
    pub fn of(row: &Submission) -> Self {
        let open_key = |key: &Name| OpenKey { pipeline: row.pipeline.clone(), key: key.clone() };
        Entries {
            place: Place {
                pipeline: row.pipeline.clone(),
                state: row.state.clone(),
                status: row.status,
                investigation: row.investigation().map(Investigation::status),
            },
            ready: match &row.wait {
                Wait::Worker { task, rank } if row.parked.is_none() => {
                    Some(ReadyEntry { task: task.clone(), rank: *rank })
                }
                _ => None,
            },
            timer: row.timer.map(|at| TimerEntry { idle: row.status.is_final(), at }),
            key: row.held_key().map(open_key),
            key_wait: row.waited_key().map(open_key),
            past_key: row.key.as_ref().filter(|_| row.status.is_final()).map(open_key),
            lane: lane_entry(row),
            parked: row.parked.clone(),
            dead: (row.status == Status::Dead)
                .then(|| DeadKey::of(&row.pipeline, &row.state, row.error.as_ref())),
            slots: slots(row),
            late: row
                .clocks
                .iter()
                .map(|clock| clock.due_at)
                .min()
                .map(|at| LateEntry { pipeline: row.pipeline.clone(), at }),
            reviews: reviews(row),
        }
    }
}

fn lane_entry(row: &Submission) -> Option<LaneEntry> {
    let (lane, stand) = match row.held_lane() {
        Some(lane) => (lane, Stand::Holds),
        None => {
            let seat = row.seat_in_line()?;
            (&seat.lane, Stand::InLine { since: row.created_at, tie: seat.tie_order().clone() })
        }
    };
    Some(LaneEntry { key: LaneKey { pipeline: row.pipeline.clone(), lane: lane.clone() }, stand })
}

fn slots(row: &Submission) -> Vec<SlotEntry> {
    let slots = row.lease().map_or(&[][..], |lease| &lease.slots);
    let entry = |slot: &Slot| SlotEntry {
        limit: LimitKey {
            pipeline: row.pipeline.clone(),
            label: slot.label.clone(),
            value: slot.value.clone(),
        },
        no: slot.no,
    };
    slots.iter().map(entry).collect()
}
