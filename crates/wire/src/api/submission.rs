//! Submissions, their events, and what people do to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Held, Problem};
use crate::Name;
use crate::actor::Actor;
use crate::event::{Kind, Notified};
use crate::json::Json;
use crate::submission::{
    Approval, Assignment, Children, Failure, Investigation, Reported, Status, SubmissionId,
};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmitBody {
    pub payload: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmitMany {
    pub submissions: Vec<SubmitBody>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmitAnswer {
    pub id: SubmissionId,
    pub pipeline: Name,
    pub version: u32,
    pub state: Name,
    pub revision: u64,
    pub created_at: Time,
    /// An open submission with the same key stands for the one that was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManyAnswer {
    pub results: Vec<ManyResult>,
}

/// One of many: a submission or a problem, with the status it would have had alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManyResult {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmitAnswer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// A submission as anyone may see it. Documents are there when one is asked for by id, not in lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmissionView {
    pub id: SubmissionId,
    /// The id it was asked for by, where it stands for what was sent under that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<SubmissionId>,
    pub pipeline: Name,
    pub version: u32,
    pub state: Name,
    pub phase: Option<Name>,
    pub status: Status,
    pub revision: u64,
    pub attempt: u32,
    pub requeues: u32,
    pub priority: i64,
    pub key: Option<Name>,
    /// Queued behind the open submission that has its key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key_waits: bool,
    #[serde(default)]
    pub lane: Option<LaneView>,
    pub labels: BTreeMap<Name, Name>,
    pub parent: Option<SubmissionId>,
    /// The number of submissions that this one made, and how they fare.
    #[serde(default)]
    pub children: Children,
    pub failed_from: Option<Name>,
    pub last_good: Option<Name>,
    pub error: Option<Failure>,
    /// The one thing it waits for: a worker, a lease, a person, ...
    pub waits_for: String,
    pub wake_at: Option<Time>,
    pub lease: Option<LeaseView>,
    /// The first holds that cover it; in lists the first few, and the beginnings of their reasons.
    #[serde(default)]
    pub holds: Vec<Held>,
    /// The hold or limit that took it out of its queue.
    #[serde(default)]
    pub parked: Option<Name>,
    /// The actions that somebody with the role can take now.
    pub actions: Vec<Name>,
    /// The approvals so far of an action that needs several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// The person whose review it is, where somebody took it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<Assignment>,
    /// The number of notes that people wrote about it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notes: u32,
    /// The service levels it is measured by at present.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sla: Vec<SlaView>,
    /// The investigation of how it ended, where its state asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub investigation: Option<Investigation>,
    /// The trace it is part of, as its submitter gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<Name>,
    pub created_at: Time,
    pub entered_at: Time,
    pub finished_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<BTreeMap<Name, Json>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// The members of the payload that amendments replaced, as they were before, by the revision of each. Not in lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replaced: BTreeMap<u64, Json>,
    /// The tries of workers that have ended, oldest first: the first two and the last eight. Not in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptView>,
    /// The number of tries between those that are not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts_left_out: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// One try of a worker, from its claim to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptView {
    pub state: Name,
    pub worker: Name,
    /// The number of the try in its visit of the state.
    pub attempt: u32,
    pub started_at: Time,
    pub ended_at: Time,
    pub end: AttemptEnd,
    /// The outcome, or what ended the try instead.
    pub trigger: Name,
    /// The failure; its message is cut, and whole in the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// The way in which a try ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnd {
    /// The worker said its outcome.
    #[default]
    Finished,
    Failed,
    /// The worker vanished: its lease ended without a word.
    Crashed,
    /// Something else moved on meanwhile: a person, a time to live, an amendment.
    Revoked,
}

impl AttemptEnd {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            AttemptEnd::Finished => "finished",
            AttemptEnd::Failed => "failed",
            AttemptEnd::Crashed => "crashed",
            AttemptEnd::Revoked => "revoked",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaseView {
    pub task: Name,
    pub worker: Name,
    pub expires_at: Time,
    /// The progress of the task, where its worker tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Reported>,
}

/// A running service level: that of its state, or of a leg of its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlaView {
    pub name: Name,
    pub due_at: Time,
    pub late: bool,
}

/// A submission's place in a lane. Neither holding nor waiting: its state has no use for the lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaneView {
    pub key: Name,
    pub holds: bool,
    pub waits: bool,
}

impl SubmissionView {
    /// Returns the view as it is shown to somebody who asked for this id.
    #[must_use]
    pub fn standing_for(mut self, asked: SubmissionId) -> Self {
        self.stands_for = Some(asked).filter(|asked| *asked != self.id);
        self
    }

    #[must_use]
    pub fn with_holds(mut self, holds: Vec<Held>) -> Self {
        self.holds = holds;
        self
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmissionPage {
    pub submissions: Vec<SubmissionView>,
    /// The value to give as `after` for the next page; null at the end.
    pub next: Option<SubmissionId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventView {
    pub id: Uuid,
    pub seq: u64,
    pub submission: SubmissionId,
    /// The pipeline whose rules it followed. In feeds alone, where it is not known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Name>,
    pub revision: u64,
    pub kind: Kind,
    pub from: Option<Name>,
    pub to: Name,
    pub trigger: Name,
    pub actor: Actor,
    pub attempt: u32,
    pub at: Time,
    /// The failure, where that is what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The worker that vanished, where that is what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
    pub metadata: Option<Json>,
    /// The notifications by channel: those the event made, and the reasons for those it could not make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notified: Vec<Notified>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventPage {
    pub events: Vec<EventView>,
    /// The revision to give as `after` for the next page; null at the end.
    pub next: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Name>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedriveBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcknowledgeBody {
    /// The result of looking into the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
