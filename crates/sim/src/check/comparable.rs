//! The parts of a row that its events decide. Leases, timers and crashes leave no event of their own and are left out.

use model::pipeline::{Kind, LaneRule};
use model::submission::{Cause, Children, Stand, Wait};
use model::{Name, Status, Submission, Time};

use super::law::Book;
use super::ledger::Known;
use crate::finding::{Finding, finding};

/// The thing that a submission waits for, as far as its events say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Waits {
    /// The submission's task: queued, leased or delayed.
    Work(Name),
    Until(Time),
    NotBefore(Time),
    Person,
    Line,
    Key,
    Children,
    Guard,
    Redrive,
    Nothing,
}

/// The row without what no event decides, and what it waits for.
pub(super) fn comparable(book: &Book, row: &Submission) -> Result<(Submission, Waits), Finding> {
    let task = || match book.task(row) {
        Some(task) => Ok(Waits::Work(task.name.clone())),
        None => Err(finding!("{} waits for a worker where there is no task", row.id)),
    };
    let waits = match &row.wait {
        Wait::Worker { task, .. } => Waits::Work(task.clone()),
        Wait::Lease(lease) => Waits::Work(lease.task.clone()),
        Wait::Delay { cause: Cause::NotBefore, until } => Waits::NotBefore(*until),
        Wait::Delay { .. } => task()?,
        Wait::Clock { until } => Waits::Until(*until),
        Wait::Person => Waits::Person,
        Wait::Line => Waits::Line,
        Wait::Key => Waits::Key,
        Wait::Children => Waits::Children,
        Wait::Guard => Waits::Guard,
        Wait::Redrive => Waits::Redrive,
        Wait::Nothing => Waits::Nothing,
    };
    let mut row = row.clone();
    row.lease_no = 0;
    row.row_version = 0;
    row.settled.clear();
    row.attempts = model::submission::Attempts::default();
    row.crashes = 0;
    row.given_back = model::submission::GivenBack::default();
    row.timer = None;
    row.parked = None;
    row.key_waits = false;
    row.children = Children::default();
    row.last_child_at = None;
    // Which lane and which tie; whether it is its turn is looked at apart.
    if let Some(seat) = &mut row.seat {
        seat.stand = Stand::InLine;
    }
    row.wait = Wait::Nothing;
    Ok((row, waits))
}

/// Tells whether a row stands in its queues as its events say, given that turns come without one: lanes and keys are
/// got silently, and given up by events alone.
pub(super) fn same_stand(book: &Book, replayed: &Submission, row: &Submission) -> bool {
    let state = book.pipeline.state(&row.state);
    // A dead letter whose action was given up is in line again, or has its lane.
    let back = replayed.status == Status::Open && state.is_some_and(|state| state.lane != LaneRule::Free);
    let key = replayed.key_waits || !row.key_waits;
    let let_in = replayed.key_waits && !row.key_waits;
    let seat = match (&replayed.seat, &row.seat) {
        (None, None) => true,
        (Some(_), Some(_)) if let_in => true,
        (Some(said), Some(stored)) if said.holds() => stored.holds(),
        (Some(said), Some(stored)) if said.is_away() => back || stored.is_away(),
        (Some(_), Some(stored)) => !stored.is_away(),
        _ => false,
    };
    key && seat
}

/// Tells whether a stored wait is what the events say, given that a delay, a line and a key end without one.
pub(super) fn same_wait(book: &Book, known: &Known, pair: (&Waits, &Waits), now: Time) -> bool {
    let (row, replayed) = (&known.row, &known.replayed);
    let has_lane = row.held_lane().is_some();
    let over = match pair.0 {
        Waits::NotBefore(until) => *until <= now,
        Waits::Line => has_lane,
        Waits::Key => replayed.key_waits && !row.key_waits,
        _ => false,
    };
    if !over || pair.0 == pair.1 {
        return pair.0 == pair.1;
    }
    let in_line = row.seat.as_ref().is_some_and(model::submission::Seat::waits);
    match (book.pipeline.state(&row.state).map(|state| &state.kind), pair.1) {
        (_, Waits::Line) => in_line,
        (Some(Kind::Task { task, .. }), Waits::Work(wanted)) => task.name == *wanted,
        (Some(Kind::Join { task: Some(task), .. }), Waits::Work(wanted)) => task.name == *wanted,
        (Some(Kind::Join { .. }), Waits::Children)
        | (Some(Kind::Wait { .. }), Waits::Until(_))
        | (Some(Kind::Human { .. }), Waits::Person)
        | (Some(Kind::Pass { .. }), Waits::Guard) => true,
        _ => false,
    }
}
