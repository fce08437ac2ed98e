//! The loop of workers: claim tasks, run them, keep their leases, settle them, and give back what has not ended.
//!
//! A [`Worker`] takes its tasks from a [`TaskSource`]: a server over HTTP, or the engine in the same process. The loop is
//! the same, and so is what a task may do.

mod answer;
mod error;
mod lease;
pub mod queue;
mod retries;
mod run;
mod settle;
mod source;
#[macro_use]
mod speak;
mod task;
mod worker;

pub use answer::{Failure, Outcome};
pub use error::Error;
pub use retries::Retries;
pub use settle::Settlement;
pub use source::{Ended, TaskSource};
pub use task::Task;
pub use worker::Worker;
