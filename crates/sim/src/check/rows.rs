//! A row fits its events and itself.

use model::pipeline::{After, Clock, Kind, Ttl};
use model::submission::{Cause, Seat, Wait};
use model::{Status, Submission, Time};

use super::comparable::{comparable, same_stand, same_wait};
use super::law::{Book, Law};
use super::ledger::Known;
use super::{Checked, clocks, ensure};
use crate::finding::finding;

pub(super) fn check(law: &Law, known: &Known, now: Time) -> Checked {
    let row = &known.row;
    let book = law.of(row)?;
    let (replayed, replayed_wait) = comparable(book, &known.replayed)?;
    let (stored, stored_wait) = comparable(book, row)?;
    ensure!(replayed == stored, "the events of {} give\n{replayed:?}\nand the row is\n{stored:?}", row.id);
    ensure!(
        same_stand(book, &known.replayed, row),
        "the events of {} say it stands as {:?}, {}, the row {:?}, {}",
        row.id,
        known.replayed.seat,
        known.replayed.key_waits,
        row.seat,
        row.key_waits
    );
    ensure!(
        same_wait(book, known, (&replayed_wait, &stored_wait), now),
        "the events of {} say it waits for {replayed_wait:?}, the row for {stored_wait:?}",
        row.id
    );
    ensure!(known.history.len() as u64 == row.revision, "{} is at another revision than its events", row.id);
    ensure!(known.history.last() == Some(&row.leaf), "{} does not end its chain", row.id);
    ensure!(row.crashes == known.visit.crashes, "{} counts {} crashes", row.id, row.crashes);
    fits_its_state(book, row).map_err(|problem| problem.about(format_args!(": {row:?}")))?;
    ends_when_declared(book, known)?;
    clocks::fit(book, row)?;
    armed(row)
}

/// Times that are written down in the pipeline, counted from where they count from.
fn ends_when_declared(book: &Book, known: &Known) -> Checked {
    let row = &known.row;
    let state = book.pipeline.state(&row.state).ok_or("it is in a state that does not exist")?;
    let fixed = |ttl: &Option<Ttl>| match ttl.as_ref().map(|ttl| &ttl.after) {
        Some(After::Fixed(span)) => Some(*span),
        _ => None,
    };
    // A time to live that has done its work is gone; that of a first state counts from when it was looked at.
    let created = fixed(&book.pipeline.ttl)
        .zip(row.ttl_at)
        .is_none_or(|(span, at)| at == book.pipeline.over(span, None, row.created_at));
    let entered = fixed(&state.ttl).zip(row.state_ttl_at).is_none_or(|(span, at)| {
        let usual = book.pipeline.over(span, None, row.entered_at);
        at == usual || row.from.is_none() && at > usual
    });
    ensure!(created && entered, "{} lives longer or shorter than declared: {row:?}", row.id);
    let (Wait::Clock { until }, Kind::Wait { clock, .. }) = (&row.wait, &state.kind) else { return Ok(()) };
    let declared = match clock {
        Clock::For(span) => Some(book.pipeline.over(*span, None, row.entered_at)),
        Clock::Until(at) => Some(*at),
        Clock::Computed(_) => None,
    };
    let began_late = matches!(known.replayed.wait, Wait::Delay { .. } | Wait::Line | Wait::Key);
    ensure!(
        began_late || declared.is_none_or(|at| at == *until),
        "{} waits until {until}, not until {declared:?}",
        row.id
    );
    Ok(())
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
        (Wait::Children, Kind::Join { .. }) => row.request.is_none(),
        (Wait::Key, _) => row.key_waits && row.request.is_none(),
        (Wait::Line, Kind::Task { .. } | Kind::Wait { .. } | Kind::Join { .. } | Kind::Pass { .. }) => {
            row.seat.as_ref().is_some_and(Seat::waits) && row.request.is_none()
        }
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
        (Some(_), None) => return Err(finding!("{} waits for a time and has no timer", row.id)),
        // While the store was out of reach a lease is given longer; its timer then looks past the deadline.
        (Some(at), Some(timer)) => {
            let late = timer > at && row.lease().is_none();
            ensure!(!late, "the timer of {} is at {timer}, after {at}", row.id);
        }
    }
    Ok(())
}
