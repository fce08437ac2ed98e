//! The engine: the only thing that commits.
//!
//! `core` is a synchronous step machine: a batch of inputs in, answers out, one transaction between them. It has no
//! thread, no timer and no socket, so the simulation drives the very code that runs. `shell` owns those: one thread
//! that feeds the core from bounded queues, keeps time, and wakes whoever waits.

pub mod bounds;
pub mod clock;
pub mod core;
pub mod delivery;
pub mod duty;
pub mod flow;
pub mod holds;
pub mod levels;
pub mod log;
pub mod metrics;
pub mod pipelines;
pub mod registry;
mod shell;

pub use clock::SystemClock;
pub use holds::{Hold, Holds};
pub use log::{LogOptions, LogReport, Standing};
pub use pipelines::Pipelines;
pub use shell::{
    ApplyError, Child, ClockReport, Condition, DutyReport, Engine, KnownToken, NewOperation, Options, Polls,
    Posting, QueueReport, Retirement, ServerReport, StartError, Within, WorkerReport,
};
