//! The words that servers, clients and stores share: strict JSON, times, ids, problem codes, requests and answers, the
//! signatures of webhooks, and receipts.
//!
//! Plain data and its spelling, without a rule: no pipeline, no expression, no schema. Whoever speaks with a server needs
//! this crate alone, so a change of a rule rebuilds no client.

pub mod actor;
pub mod address;
pub mod api;
pub mod digest;
pub mod event;
pub mod export;
pub mod json;
pub mod operation;
pub mod receipt;
pub mod refusal;
pub mod role;
pub mod submission;
pub mod text;
pub mod time;
pub mod token;
pub mod trace;
pub mod webhook;

pub use actor::{Actor, ActorKind, Caller};
pub use digest::Digest;
pub use json::Json;
pub use refusal::{Code, Refusal};
pub use role::Role;
pub use submission::{Failure, Investigation, InvestigationStatus, Status, SubmissionId};
pub use time::{Millis, Time};
pub use token::LeaseToken;
pub use trace::Trace;

/// A short shared string: names of pipelines, states, tasks, triggers.
pub type Name = std::sync::Arc<str>;
