//! The shell around the core: one thread that commits, queues before it, and those who wait after it.

mod children;
mod handle;
mod hints;
mod queue;
mod thread;

pub use children::Child;
pub use handle::{ApplyError, Engine, Options, StartError};
pub use thread::Condition;
