//! Holds: what is stopped, by whom, why and until when.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::actor::Actor;
use crate::submission::SubmissionId;
use crate::time::Time;

/// A hold to begin. Every condition given must fit for a submission to be held.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmissionId>,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldView {
    pub id: Name,
    pub pipeline: Option<Name>,
    pub labels: BTreeMap<Name, Name>,
    pub lane: Option<Name>,
    pub submission: Option<SubmissionId>,
    pub reason: String,
    pub owner: Actor,
    pub created_at: Time,
    pub expires_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldList {
    pub holds: Vec<HoldView>,
}
