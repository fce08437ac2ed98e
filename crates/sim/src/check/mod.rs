//! Checks what must be true after every step, whatever went wrong in it.
//!
//! The ledger is the checker's own book: rows and events as read back from the store, answers as they were given. It
//! follows what really was committed and asks the rules of the model only where they are not what is being checked.

mod act;
mod answers;
mod approved;
mod clocks;
mod comparable;
mod duplicates;
mod events;
mod explained;
mod going_on;
mod investigated;
mod law;
mod ledger;
mod limits;
mod log;
mod messages;
mod migrated;
mod neighbours;
mod once;
mod operations;
mod owed;
mod reasons;
mod registry;
mod retirement;
mod reviewed;
mod right;
mod rows;
mod schedules;
mod settlement;
mod silent;
mod sweep;
mod timing;
mod visit;
mod written;

pub(crate) use ledger::Ledger;
pub(crate) use messages::all_made;

use engine::Pipelines;
use engine::core::Input;
use model::Time;

use crate::actors::Heard;
use crate::faults::{Commit, Fault};
use crate::finding::Finding;
pub(crate) use crate::finding::ensure;

/// Nothing, or what is wrong.
pub(crate) type Checked = Result<(), Finding>;

/// One step of the engine, as seen from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) inputs: &'a [Input],
    /// The answer of the engine to each; silence if its process died.
    pub(crate) heard: &'a [Heard],
    /// The changes that really were committed.
    pub(crate) commits: &'a [Commit],
    pub(crate) faults: &'a [Fault],
    pub(crate) now: Time,
    /// Set if the step looked at what is due.
    pub(crate) due: bool,
    pub(crate) pipelines: &'a Pipelines,
}
