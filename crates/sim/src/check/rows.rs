//! A row fits its events and itself.

use model::pipeline::Kind;
use model::submission::{Cause, Wait};
use model::{Status, Submission, Time};

use super::comparable::{comparable, same_wait};
use super::law::{Book, Law};
use super::ledger::Known;
use super::{Checked, ensure};

pub(super) fn check(law: &Law, known: &Known, now: Time) -> Checked {
    let row = &known.row;
    let book = law.of(row)?;
    let (replayed, replayed_wait) = comparable(book, &known.replayed)?;
    let (stored, stored_wait) = comparable(book, row)?;
    ensure!(replayed == stored, "the events of {} give\n{replayed:?}\nand the row is\n{stored:?}", row.id);
    ensure!(
        same_wait(book, row, (&replayed_wait, &stored_wait), now),
        "the events of {} say it waits for {replayed_wait:?}, the row for {stored_wait:?}",
        row.id
    );
    ensure!(known.history.len() as u64 == row.revision, "{} is at another revision than its events", row.id);
    ensure!(known.history.last() == Some(&row.leaf), "{} does not end its chain", row.id);
    ensure!(row.crashes == known.visit.crashes, "{} counts {} crashes", row.id, row.crashes);
    fits_its_state(book, row).map_err(|problem| format!("{problem}: {row:?}"))?;
    armed(row)
}

fn fits_its_state(book: &Book, row: &Submission) -> Checked {
    let state = book.pipeline.state(&row.state).ok_or("it is in a state that does not exist")?;
    let ended = row.status.is_final();
    let fits = match (&row.wait, &state.kind) {
        (Wait::Nothing, Kind::Final { outcome, .. }) => {
            row.status == outcome.status() && row.request.is_none()
        }
        (Wait::Redrive, _) => row.status == Status::Dead,
        (Wait::Delay { cause: Cause::NotBefore, .. }, _) => !ended,
        (Wait::Worker { task, .. }, _) => book.task(row).is_some_and(|wanted| wanted.name == *task),
        (Wait::Lease(lease), _) => {
            lease.no == row.lease_no && book.task(row).is_some_and(|wanted| wanted.name == lease.task)
        }
        (Wait::Delay { .. }, _) => book.task(row).is_some(),
        (Wait::Clock { .. }, Kind::Wait { .. }) => row.request.is_none(),
        (Wait::Person, Kind::Human { .. }) => row.request.is_none(),
        (Wait::Guard, Kind::Pass { .. }) => row.request.is_none(),
        _ => false,
    };
    ensure!(fits, "it waits for something its state does not have");
    let open = !matches!(row.wait, Wait::Nothing | Wait::Redrive);
    ensure!(open == (row.status == Status::Open), "its status does not fit what it waits for");
    ensure!(ended == row.finished_at.is_some(), "it has ended without an end, or the other way round");
    Ok(())
}

/// Whatever time alone can end has a timer that comes no later.
fn armed(row: &Submission) -> Checked {
    match (row.deadline(), row.timer) {
        (None, timer) => ensure!(timer.is_none(), "{} has a timer and nothing to wait for", row.id),
        (Some(_), None) => return Err(format!("{} waits for a time and has no timer", row.id)),
        // While the store was out of reach a lease is given longer; its timer then looks past the deadline.
        (Some(at), Some(timer)) => {
            let late = timer > at && row.lease().is_none();
            ensure!(!late, "the timer of {} is at {timer}, after {at}", row.id);
        }
    }
    Ok(())
}
