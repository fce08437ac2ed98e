//! The shell around the core: one thread that commits, queues before it, and those who wait after it.

mod children;
mod duties;
mod fleet;
mod handle;
mod hints;
mod operations;
mod queue;
mod thread;

pub use children::Child;
pub use duties::DutyReport;
pub use fleet::ServerReport;
pub use handle::{ApplyError, Engine, Options, StartError};
pub use operations::NewOperation;
pub use thread::Condition;
