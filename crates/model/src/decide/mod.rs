//! Every decision: a row and a command give events and the new row, or a refusal. Pure and total.

mod acknowledge;
mod act;
mod amend;
mod approve;
mod cause;
mod children;
mod claim;
mod clocks;
mod entry;
mod fail;
mod finish;
mod give_back;
mod guard_error;
pub(crate) mod guard_view;
mod legal;
mod limits;
mod message;
mod migrate;
mod moves;
mod note;
mod notify;
mod park;
mod redrive;
mod renew;
mod review;
mod settle;
mod snooze;
mod submit;
mod unborn;
mod wake;

pub use children::CHILDREN_MAX;
pub(crate) use entry::clock_time;
pub(crate) use fail::CRASHING;
pub use fail::{BAD_OUTPUT, CRASHES_MAX};
pub use give_back::GIVEN_BACK_TIMEOUTS;
pub use guard_view::NAMES;
pub use legal::{actions, deeds};
pub use message::BODY_BYTES_MAX;
pub use note::NOTES_MAX;
pub use notify::{ADDRESSES_MAX, DELIVERIES_MAX};
pub use review::{CLAIM_DEFAULT, CLAIM_MAX};
pub use snooze::SNOOZE_MAX;
pub use unborn::{Fate, MERGED, REFUSED, Unborn, unborn};
pub use wake::GRACE;

use crate::Name;
use crate::admit::Admission;
use crate::command::Command;
use crate::context::Context;
use crate::entry::EntryChange;
use crate::event::Event;
use crate::owed::Owed;
use crate::pipeline::Pipeline;
use crate::refusal::Refusal;
use crate::submission::{Documents, Status, Submission};
use crate::time::Time;
use crate::token::LeaseToken;

/// A submission as it stands. Documents are empty where nothing reads them.
#[derive(Debug, Clone, Copy)]
pub struct Current<'a> {
    pub row: &'a Submission,
    pub documents: &'a Documents,
}

#[derive(Debug, Clone)]
pub struct Decision {
    pub row: Submission,
    /// One per revision gained. Claims, renewals, snoozes and leases given back give none.
    pub events: Vec<Event>,
    /// The consequences for other submissions.
    pub owed: Vec<Owed>,
    /// Submissions to be made in the same commit.
    pub children: Vec<Admission>,
    /// Entries of systems to be changed in the same commit, once each was found to be what is expected.
    pub entries: Vec<EntryChange>,
    pub answer: Answer,
}

impl Decision {
    /// A row that changed without an event: a lease, a place in a queue.
    fn quiet(row: Submission, answer: Answer) -> Self {
        let (events, owed, children, entries) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Decision { row, events, owed, children, entries, answer }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Done,
    /// An open submission with the same key stands for the new one.
    Duplicate,
    Granted {
        token: LeaseToken,
    },
    /// The claim was not granted: a hold or a limit took the submission out of the queue.
    Parked,
    Renewed {
        expires_at: Time,
    },
    /// The state and status in which the settlement left the submission; a repeat is told what the first was told.
    Settled {
        state: Name,
        status: Status,
        repeated: bool,
    },
}

/// Decides one command against one submission.
///
/// `current` is the submission the command names; for `Submit`, the open one with the same key, if there is one.
pub fn decide(
    pipeline: &Pipeline,
    current: Option<Current<'_>>,
    command: &Command,
    context: &Context,
) -> Result<Decision, Refusal> {
    if let Command::Submit(admission) = command {
        return submit::decide(pipeline, current, admission, context);
    }
    let current = current.expect("every command but submit names a submission that is there");
    let mut decision = tell(pipeline, current, command, context)?;
    decision.row.note_attempt(current.row, &decision.events);
    decision.owed.extend(limits::freed(pipeline, current.row, &decision.row));
    Ok(decision)
}

fn tell(
    pipeline: &Pipeline,
    current: Current<'_>,
    command: &Command,
    context: &Context,
) -> Result<Decision, Refusal> {
    match command {
        Command::Submit(_) => unreachable!("it names no submission"),
        Command::Claim(claim) => claim::decide(pipeline, current, claim, context),
        Command::Renew(renew) => renew::decide(current, renew, context),
        Command::Finish(finish) => finish::decide(pipeline, current, finish, context),
        Command::Fail(fail) => fail::decide(pipeline, current, fail, context),
        Command::Snooze(snooze) => snooze::decide(current, snooze, context),
        Command::GiveBack(give_back) => give_back::decide(pipeline, current, give_back, context),
        Command::Spawn(spawn) => children::spawn(pipeline, current, spawn, context),
        Command::Child(child) => Ok(children::changed(pipeline, current, *child, context)),
        Command::ParentCancelled => children::parent_cancelled(pipeline, current, context),
        Command::Wake => Ok(wake::decide(pipeline, current, context)),
        Command::Act(act) => act::decide(pipeline, current, act, context),
        Command::Amend(amend) => amend::decide(pipeline, current, amend, context),
        Command::Migrate(migrate) => migrate::decide(pipeline, current, migrate, context),
        Command::Acknowledge(acknowledge) => acknowledge::decide(pipeline, current, acknowledge, context),
        Command::Review(review) => review::decide(pipeline, current, review, context),
        Command::Note(note) => note::decide(pipeline, current, note, context),
        Command::Redrive(redrive) => redrive::decide(pipeline, current, redrive, context),
        Command::Seat => Ok(park::seat(pipeline, current, context)),
        Command::TakeKey => Ok(park::take_key(pipeline, current, context)),
        Command::Unpark => Ok(park::unpark(pipeline, current, context)),
    }
}
