//! Actors, and the rights by which they act.

pub use wire::actor::{Actor, ActorKind, Caller};

use serde::{Deserialize, Serialize};

use crate::role::Role;

/// The right by which an event came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// The machine's own: a pass state, a timer.
    Rule,
    /// A worker's, by the lease of this number.
    Lease(u64),
    /// A person's, by role.
    Role(Role),
}
