//! Every rule of Milepost: what a pipeline is, what a submission is, and which moves are legal.
//!
//! Pure. No clock, no I/O, no randomness: time, ids and chance are arguments, so the same inputs give the same
//! history in production, in a simulation and in a verifier.

pub mod actor;
pub mod admit;
pub mod command;
pub mod context;
pub mod decide;
mod derive;
pub mod entry;
pub mod event;
pub mod evolve;
pub mod expr;
pub mod links;
pub mod measured;
pub mod owed;
pub mod person;
pub mod pipeline;
pub mod schema;
mod shared;
pub mod submission;
pub mod time;
pub mod view;
pub mod why;

pub use actor::{Actor, ActorKind, Caller, Right};
pub use command::Command;
pub use context::Context;
pub use decide::decide;
pub use event::Event;
pub use evolve::evolve;
pub use links::Links;
pub use owed::{Delivery, Effect, Owed, Recipient};
pub use pipeline::Pipeline;
pub use submission::{Documents, Investigation, InvestigationStatus, Status, Submission, SubmissionId};
pub use time::{Millis, Time};

// Every rule and every store is written in these words, so they have the paths of the rules as well.
pub use wire::{
    Code, Digest, Json, LeaseToken, Name, Refusal, Role, Trace, digest, json, refusal, role, token, trace,
};
