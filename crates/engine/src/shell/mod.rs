//! The shell around the core: one thread that commits, queues before it, and those who wait after it.

mod asks;
mod background;
mod children;
mod claims;
mod clock_watch;
mod definitions;
mod deliveries;
mod duties;
mod endpoints;
mod fleet;
mod flow;
mod handle;
mod hints;
mod levels;
mod log;
mod operations;
mod queue;
mod retirement;
mod submits;
mod thread;
mod tokens;

pub use children::Child;
pub use clock_watch::ClockReport;
pub use definitions::ApplyError;
pub use duties::DutyReport;
pub use endpoints::Posting;
pub use fleet::ServerReport;
pub use flow::Polls;
pub use handle::{Engine, Options, StartError, Within};
pub use hints::WorkerReport;
pub use operations::NewOperation;
pub use queue::QueueReport;
pub use retirement::Retirement;
pub use thread::Condition;
pub use tokens::KnownToken;
