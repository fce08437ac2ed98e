//! The reasons a submission is where it is, and the holds that stop it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Name;
use crate::actor::Actor;
use crate::submission::{Status, SubmissionId};
use crate::time::Time;

/// One reason. Decide by `code`, which is stable; `sentence` is for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    pub code: String,
    pub sentence: String,
    #[serde(default)]
    pub details: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyAnswer {
    pub submission: SubmissionId,
    pub state: Name,
    pub status: Status,
    pub reasons: Vec<Reason>,
}

/// A hold as whoever it stops sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub id: Name,
    pub reason: String,
    pub owner: Actor,
    pub expires_at: Option<Time>,
}
