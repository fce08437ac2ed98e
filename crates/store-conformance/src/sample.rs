//! Rows and events as the engine makes them, built in a line.

use std::collections::BTreeMap;

use model::event::{Change, Detail, Entry, Kind, Leaf, Moved, NewDocuments, Pseudonym, Salts, Submitted};
use model::submission::{Lease, Seat, SlaClock, Slot, Stand, Wait};
use model::token::Bits;
use model::{
    Actor, ActorKind, Digest, Event, Investigation, Json, Millis, Name, Right, Role, Status, Submission,
    SubmissionId, Time, evolve,
};

use store::RowChange;

/// The time at which the first sample row was created; row n follows n milliseconds later.
const FIRST_MILLIS: i64 = 1_789_000_000_000;

pub const PIPELINES: [&str; 2] = ["alpha", "beta"];
pub const TASKS: [&str; 3] = ["build", "publish", "scan"];

/// The time of the n-th sample row.
#[must_use]
pub fn at(n: u64) -> Time {
    Time::from_millis(FIRST_MILLIS + i64::try_from(n).expect("sample numbers are small"))
}

/// The id of the n-th sample row: later rows have greater ids.
#[must_use]
pub fn id(n: u64) -> SubmissionId {
    let digest = Digest::of(&n.to_be_bytes()).0;
    SubmissionId::new(at(n), std::array::from_fn(|index| digest[index]))
}

/// JSON text that must come back as it is written here.
///
/// # Panics
/// When the text is not JSON.
#[must_use]
pub fn json(text: &str) -> Json {
    Json::parse(text).expect("the sample's JSON is well formed")
}

/// A row under construction.
#[derive(Debug, Clone)]
pub struct Sample {
    row: Submission,
}

impl Sample {
    /// The n-th row: open, in a human state of pipeline `alpha`, without key, labels or timer.
    #[must_use]
    pub fn row(n: u64) -> Self {
        Sample { row: evolve(None, &submitted(n)) }
    }

    #[must_use]
    pub fn pipeline(mut self, pipeline: &str) -> Self {
        self.row.pipeline = pipeline.into();
        self
    }

    #[must_use]
    pub fn state(mut self, state: &str) -> Self {
        self.row.state = state.into();
        self
    }

    /// One that ended where somebody should look into it.
    #[must_use]
    pub fn investigated(mut self, investigation: Investigation) -> Self {
        self.row.investigate = Some(investigation);
        self
    }

    /// The status, with the wait that goes with it.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.row.status = status;
        if status != Status::Open {
            self.row.wait = if status == Status::Dead { Wait::Redrive } else { Wait::Nothing };
        }
        self
    }

    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.row.key = Some(key.into());
        self
    }

    /// Queued behind whoever has this key.
    #[must_use]
    pub fn waits_for_key(self, key: &str) -> Self {
        let mut sample = self.key(key);
        sample.row.key_waits = true;
        sample
    }

    #[must_use]
    pub fn holds_lane(self, lane: &str) -> Self {
        self.seat(Seat::new(lane, "").standing(Stand::Holds))
    }

    #[must_use]
    pub fn in_line(self, lane: &str, tie: &str) -> Self {
        self.seat(Seat::new(lane, tie))
    }

    #[must_use]
    pub fn seat(mut self, seat: Seat) -> Self {
        self.row.seat = Some(seat);
        self
    }

    #[must_use]
    pub fn parked(mut self, hold: &str) -> Self {
        self.row.parked = Some(hold.into());
        self
    }

    #[must_use]
    pub fn label(mut self, label: &str, value: &str) -> Self {
        self.row.labels.insert(label.into(), value.into());
        self
    }

    #[must_use]
    pub fn parent(mut self, parent: SubmissionId) -> Self {
        self.row.parent = Some(parent);
        self
    }

    #[must_use]
    pub fn ready(self, task: &str, rank: i64) -> Self {
        self.wait(Wait::Worker { task: task.into(), rank })
    }

    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.row.wait = wait;
        self
    }

    /// Leased, with these slots: label, value, number.
    #[must_use]
    pub fn slots(self, slots: &[(&str, &str, u32)]) -> Self {
        self.wait(lease_with("scan", 1, slots))
    }

    #[must_use]
    pub fn timer(mut self, at: Time) -> Self {
        self.row.timer = Some(at);
        self
    }

    /// Measured by service levels that are missed at these times.
    #[must_use]
    pub fn clocks(mut self, due: &[Time]) -> Self {
        self.row.clocks = clocks(due);
        self
    }

    #[must_use]
    pub fn build(self) -> Submission {
        self.row
    }

    /// Makes the change that inserts the row.
    #[must_use]
    pub fn new_row(self) -> RowChange {
        RowChange::insert(self.row)
    }
}

/// A lease as a claim grants it.
#[must_use]
pub fn lease(task: &str, no: u64) -> Wait {
    lease_with(task, no, &[])
}

/// The same under limits: with slots by label, value and number.
#[must_use]
pub fn lease_with(task: &str, no: u64, slots: &[(&str, &str, u32)]) -> Wait {
    let slot =
        |&(label, value, no): &(&str, &str, u32)| Slot { label: label.into(), value: value.into(), no };
    Wait::Lease(Lease {
        task: task.into(),
        worker: "worker-7".into(),
        no,
        bits: Bits([7; 16]),
        span: Millis::new(30_000),
        granted_at: at(no),
        queued_at: Some(at(no / 2)),
        expires_at: at(no + 30_000),
        times_out_at: Some(at(no + 300_000)),
        slots: slots.iter().map(slot).collect(),
        progress: None,
    })
}

/// Service levels that are missed at these times.
#[must_use]
pub fn clocks(due: &[Time]) -> Vec<SlaClock> {
    due.iter().map(|&due_at| SlaClock { leg: None, since: None, due_at, late: false, moves: false }).collect()
}

/// The first event of the n-th row.
#[must_use]
pub fn submitted(n: u64) -> Event {
    let change = Change::Submitted(Box::new(Submitted {
        key_waits: false,
        pipeline: PIPELINES[0].into(),
        version: 1,
        key: None,
        labels: BTreeMap::new(),
        parent: None,
        priority_given: None,
        ttl_at: None,
        trace: None,
        submitter: None,
        on_behalf_of: None,
        error: None,
        entry: entry(Wait::Person, Status::Open),
    }));
    let mut event = event(id(n), change);
    event.leaf.at = at(n);
    event.leaf.right = Right::Role(Role::Submitter);
    event
}

/// The event that moves a row to a state, to wait there. `evolve` gives the row after it.
#[must_use]
pub fn moved(row: &Submission, to: &str, entry: Entry) -> Event {
    let moved = Moved {
        entry,
        error: None,
        stated: false,
        restated: None,
        good: true,
        reopened: false,
        carried: false,
        spent: None,
    };
    let mut event = event(row.id, Change::Moved(moved));
    event.leaf.revision = row.revision + 1;
    event.leaf.previous = Some(row.leaf);
    event.leaf.at = row.entered_at;
    event.leaf.from = Some(row.state.clone());
    event.leaf.to = to.into();
    event
}

#[must_use]
pub fn entry(wait: Wait, status: Status) -> Entry {
    Entry {
        wait,
        status,
        priority: 3,
        state_ttl_at: None,
        seat: None,
        erase_at: None,
        forget_at: None,
        clocks: Vec::new(),
        investigate: false,
    }
}

fn event(submission: SubmissionId, change: Change) -> Event {
    let actor = Actor::new(ActorKind::Worker, "worker-7");
    Event {
        leaf: Leaf {
            format: Leaf::FORMAT,
            kind: change.kind(),
            definition: Digest::of(b"definition"),
            submission,
            revision: 1,
            previous: None,
            at: at(0),
            from: None,
            to: "START".into(),
            trigger: "went \"on\"".into(),
            actor: Pseudonym::of(&actor, &[3; 32]),
            right: Right::Lease(2),
            held: change.kind() == Kind::Moved,
            attempt: 1,
            payload: Some(Digest::of(b"payload")),
            output: None,
            metadata: Some(Digest::of(b"metadata")),
        },
        detail: Detail {
            actor: actor.name,
            metadata: Some(json(r#"{"findings": 9007199254740993, "word": "Grüße"}"#)),
            salts: Salts { metadata: Some(Bits([5; 16])), ..Salts::default() },
            notified: Vec::new(),
            change,
        },
        documents: NewDocuments::default(),
        bytes: None,
    }
}

/// Circumstances of a decision, the same every time.
#[must_use]
pub fn context() -> model::Context {
    model::Context {
        now: at(0),
        reachable_since: at(0),
        hold: None,
        lane_free: false,
        arrivals: 0,
        key_holder: None,
        slots: BTreeMap::new(),
        settler: None,
        seed: [7; 32],
        tank: model::schema::Tank::full(),
        pseudonyms: [3; 32],
        links: None,
    }
}

/// Labels as rows and queries have them.
#[must_use]
pub fn labels(labels: &[(&str, &str)]) -> BTreeMap<Name, Name> {
    labels.iter().map(|&(label, value)| (label.into(), value.into())).collect()
}

/// Names as takes have them.
#[must_use]
pub fn names(names: &[&str]) -> Vec<Name> {
    names.iter().map(|&name| name.into()).collect()
}
