//! Pipelines: what is in force, and bringing new versions into force.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Difference;
use crate::Name;
use crate::digest::Digest;
use crate::json::Json;
use crate::submission::{Status, SubmissionId};
use crate::time::Time;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyBody {
    /// The pipeline file.
    pub toml: String,
    /// The files it names, by the path it names them with.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// This deployment's values for the file's parameters; null sets one back to its default, and those that are not
    /// named stay as they were set before.
    #[serde(default)]
    pub params: Option<Json>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApplyAnswer {
    pub name: Name,
    pub version: u32,
    /// One more with every change of the version's parameters.
    #[serde(default = "first")]
    pub revision: u32,
    pub digest: Digest,
    /// The parameters that are set in place of their defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Json>,
    /// False: exactly this was in force already.
    pub changed: bool,
    /// True: nothing was applied; this is what would have come of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// True: an older version is in force again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rolled_back: bool,
    /// The version that was in force before, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_to: Option<u32>,
    /// The differences from that version.
    #[serde(default)]
    pub diff: Vec<Difference>,
    /// The states of that version that are no more: submissions in them need a map to migrate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_states: Vec<String>,
}

/// One thing that is wrong with a pipeline file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProblem {
    pub code: String,
    pub message: String,
    /// The file that the pipeline names and the problem stands in; none for the pipeline's own.
    pub file: Option<String>,
    pub line: usize,
    pub column: usize,
    pub help: Option<String>,
}

/// The versions of a pipeline to retire: one, or all that are of no use any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetireBody {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unused: bool,
    /// True: only says what would come of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetireAnswer {
    pub name: Name,
    /// The versions that were retired now.
    pub retired: Vec<u32>,
    /// The versions that were looked at and stay, each with the reason.
    pub kept: Vec<KeptVersion>,
    /// True: nothing was retired; this is what would have come of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A version that is not retired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptVersion {
    pub version: u32,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineList {
    pub pipelines: Vec<PipelineView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineView {
    pub name: Name,
    pub title: String,
    pub version: u32,
    /// One more with every change of the version's parameters.
    #[serde(default = "first")]
    pub revision: u32,
    /// The version that new submissions get.
    #[serde(default)]
    pub in_force: u32,
    pub versions: Vec<u32>,
    /// The same, each with what is in force of it.
    #[serde(default)]
    pub definitions: Vec<DefinitionView>,
    /// The versions that nothing can follow any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<u32>,
    pub digest: Digest,
    pub states: Vec<StateView>,
    /// The schedules by which the pipeline submits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<ScheduleView>,
}

/// A version as it decides for the submissions that follow it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefinitionView {
    pub version: u32,
    #[serde(default = "first")]
    pub revision: u32,
    pub digest: Digest,
    /// The parameters that are set in place of their defaults.
    #[serde(default)]
    pub params: BTreeMap<String, Json>,
}

fn first() -> u32 {
    1
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleView {
    /// The schedule's identity: another time or another payload is another schedule.
    pub id: Name,
    /// Null: its times are over, or a newer version of the pipeline has taken its place.
    pub next_at: Option<Time>,
    /// The time it served last, or when it was first seen.
    pub last_at: Option<Time>,
    /// The submission that was made then.
    pub submission: Option<SubmissionId>,
    /// The reason why nothing was submitted.
    pub refused: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateView {
    pub name: Name,
    pub title: Option<String>,
    pub phase: Option<Name>,
    pub kind: String,
    /// The task that its submissions wait for, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Name>,
    pub actions: Vec<Name>,
    pub counts: Vec<StateCount>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateCount {
    pub status: Status,
    pub count: u64,
}
