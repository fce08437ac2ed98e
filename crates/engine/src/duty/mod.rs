//! Duties: small named chores that take no input. A pass reads what there is to do and says what to ask of the core;
//! what it finds is in the store, so a pass that fails, hangs or is lost is made up for by the next.

mod flow;
mod housekeeping;
mod levels;
mod log;
mod operations;
mod presence;
mod retention;
mod schedules;
mod sweep;

pub use flow::Flow;
pub use housekeeping::Housekeeping;
pub use levels::Levels;
pub use log::Log;
pub use operations::Operations;
pub use presence::Presence;
pub use schedules::Schedules;
pub use sweep::Sweep;

use std::time::Duration;

use model::Time;
use store::Store;

use crate::core::Input;
use crate::pipelines::Versions;

/// The things a pass may look at.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub store: &'a dyn Store,
    pub versions: &'a Versions,
    pub now: Time,
    /// Set if the clock is in doubt: work that cannot be taken back waits.
    pub doubtful: bool,
}

/// The work that a pass found.
#[derive(Debug, Default)]
pub struct Pass {
    pub inputs: Vec<Input>,
    /// Set if there is more than that.
    pub again: bool,
}

pub trait Duty: Send + std::fmt::Debug {
    fn name(&self) -> &'static str;

    /// The pause between passes that nobody asked for.
    fn every(&self) -> Duration;

    /// A pass that takes longer has failed. Nothing waits for it but the next one.
    fn timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    /// Tells whether one server over a shared store is enough.
    fn is_for_one(&self) -> bool {
        true
    }

    fn pass(&mut self, look: Look<'_>) -> Result<Pass, store::Error>;

    /// All that the last pass asked for is committed.
    fn done(&mut self) {}
}
