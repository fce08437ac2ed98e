//! A deterministic simulation of the engine's core over real stores.
//!
//! One seed decides everything: who asks what, when time passes, what the store gets wrong and when the process dies.
//! After every step a checker that keeps its own book compares what was answered with what is stored. A seed that
//! fails fails again, so it can be looked at.

mod actors;
mod cast;
mod chance;
mod check;
mod faults;
mod finding;
mod pipelines;
mod report;
mod rest;
mod run;
mod servers;
mod stores;
mod world;

pub use faults::Fault;
pub use report::Report;
pub use run::{Failure, Options, attempt, run};
pub use stores::Kind;
