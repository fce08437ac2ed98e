//! What of a row its events decide. Leases, timers and crashes leave no event of their own and are left out.

use model::pipeline::Kind;
use model::submission::{Cause, Wait};
use model::{Name, Submission, Time};

use super::law::Book;

/// What a submission waits for, as far as its events say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Waits {
    /// For its task: queued, leased or delayed.
    Work(Name),
    Until(Time),
    NotBefore(Time),
    Clock,
    Person,
    Guard,
    Redrive,
    Nothing,
}

/// The row without what no event decides, and what it waits for.
pub(super) fn comparable(book: &Book, row: &Submission) -> Result<(Submission, Waits), String> {
    let task = || match book.task(row) {
        Some(task) => Ok(Waits::Work(task.name.clone())),
        None => Err(format!("{} waits for a worker where there is no task", row.id)),
    };
    let waits = match &row.wait {
        Wait::Worker { task, .. } => Waits::Work(task.clone()),
        Wait::Lease(lease) => Waits::Work(lease.task.clone()),
        Wait::Delay { cause: Cause::NotBefore, until } => Waits::NotBefore(*until),
        Wait::Delay { .. } => task()?,
        Wait::Clock { until } => Waits::Until(*until),
        Wait::Person => Waits::Person,
        Wait::Guard => Waits::Guard,
        Wait::Redrive => Waits::Redrive,
        Wait::Nothing => Waits::Nothing,
    };
    let mut row = row.clone();
    row.lease_no = 0;
    row.row_version = 0;
    row.settled.clear();
    row.crashes = 0;
    row.timer = None;
    row.wait = Wait::Nothing;
    Ok((row, waits))
}

/// Whether a stored wait is what the events say, given that a delayed start goes on without an event.
pub(super) fn same_wait(book: &Book, row: &Submission, pair: (&Waits, &Waits), now: Time) -> bool {
    match pair {
        (Waits::NotBefore(until), stored) if *until <= now && pair.0 != stored => {
            let usual = match book.pipeline.state(&row.state).map(|state| &state.kind) {
                Some(Kind::Task { task, .. }) => Waits::Work(task.name.clone()),
                Some(Kind::Wait { .. }) => Waits::Clock,
                Some(Kind::Human { .. }) => Waits::Person,
                Some(Kind::Pass { .. }) => Waits::Guard,
                _ => Waits::Nothing,
            };
            matches!((&usual, stored), (Waits::Clock, Waits::Until(_))) || usual == *stored
        }
        (replayed, stored) => replayed == stored,
    }
}
