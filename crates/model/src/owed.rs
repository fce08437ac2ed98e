//! Effects on other submissions: said by a decision, written in its commit, applied once as commands of their own.
//!
//! A commit touches only the submissions it was asked about. Whatever follows for others is owed to them, so that no
//! commit waits for a row it did not choose and nothing deadlocks.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::submission::{Status, SubmissionId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    pub to: Debtor,
    pub effect: Effect,
}

/// Whom it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Debtor {
    Submission(SubmissionId),
    /// Whoever waits longest for a key of a pipeline.
    Key {
        pipeline: Name,
        key: Name,
    },
    /// Whoever is first in line of a lane.
    Lane {
        pipeline: Name,
        lane: Name,
    },
    /// Whatever a hold parked.
    Parked(Name),
    /// The first of what a limit parked.
    FirstParked(Name),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A key or a lane is free, a hold is gone: look whose turn it is.
    Freed,
    /// A child ended, died or went on.
    Child { before: Status, after: Status },
}
