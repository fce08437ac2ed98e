//! Every rule of Milepost: what a pipeline is, what a submission is, and which moves are legal.
//!
//! Pure. No clock, no I/O, no randomness: time, ids and chance are arguments, so the same inputs give the same
//! history in production, in a simulation and in a verifier.

pub mod actor;
pub mod address;
pub mod admit;
pub mod api;
pub mod command;
pub mod context;
pub mod decide;
pub mod digest;
pub mod event;
pub mod evolve;
pub mod expr;
pub mod json;
pub mod measured;
pub mod operation;
pub mod owed;
pub mod person;
pub mod pipeline;
pub mod refusal;
pub mod role;
pub mod schema;
mod shared;
pub mod submission;
pub mod time;
pub mod token;
pub mod trace;
pub mod webhook;
pub mod why;

pub use actor::{Actor, ActorKind, Caller, Right};
pub use command::Command;
pub use context::Context;
pub use decide::decide;
pub use digest::Digest;
pub use event::Event;
pub use evolve::evolve;
pub use json::Json;
pub use owed::{Debtor, Delivery, Effect, Owed};
pub use pipeline::Pipeline;
pub use refusal::{Code, Refusal};
pub use role::Role;
pub use submission::{Documents, Investigation, InvestigationStatus, Status, Submission, SubmissionId};
pub use time::{Millis, Time};
pub use token::Token;
pub use trace::Trace;

/// A short shared string: names of pipelines, states, tasks, triggers.
pub type Name = std::sync::Arc<str>;
