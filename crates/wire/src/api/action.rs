//! The actions open to a caller, for a submission as it stands: each with its form, and why others are not open.

use serde::{Deserialize, Serialize};

use super::Problem;
use crate::Name;
use crate::json::Json;
use crate::role::Role;
use crate::submission::{Status, SubmissionId};

/// The actions of a submission, seen by one caller at one revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionsAnswer {
    pub submission: SubmissionId,
    pub pipeline: Name,
    pub version: u32,
    pub state: Name,
    pub status: Status,
    /// The revision that was looked at: what to give as `If-Match`.
    pub revision: u64,
    /// The actions of its state in the order of the file, then those that other states of the pipeline have.
    pub actions: Vec<ActionView>,
    /// The deeds that can be asked of every submission, beside its actions.
    pub deeds: Vec<DeedView>,
}

/// An action, and whether the caller may take it now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionView {
    pub name: Name,
    /// The name as people read it.
    pub title: String,
    pub legal: bool,
    /// The forms of the ways it may go now. There is more than one only where a condition reads the form's own data:
    /// then the first whose `when` holds counts. There is none where no way is open.
    pub forms: Vec<FormView>,
    /// The reason why the caller may not, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Problem>,
}

/// The form of an action along one way: what to give, and what the action does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormView {
    /// The condition that the data must meet, where one reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The role that it takes.
    pub role: Role,
    /// The people and roles that may act, where the file names them: `alice`, `role:admin`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviewers: Vec<Name>,
    /// Set if only whoever submitted it may act.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_submitter: bool,
    /// Set if a reason has to be given.
    pub reason: bool,
    /// The JSON Schema of its data; without one, it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// The task that runs before the move is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Name>,
    /// The number of people who must agree.
    pub approvals: u32,
    /// The states it may lead to: one, or those to pick from.
    pub to: Vec<TargetView>,
    /// The state it leads to if none is picked. Without one, one must be picked.
    pub pick: Option<Name>,
}

/// A state that an action may lead to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetView {
    pub state: Name,
    pub title: Option<String>,
    pub legal: bool,
    /// Those who have agreed so far that it shall go there.
    pub agreed: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Problem>,
}

/// Something that is asked by a call of its own: `amend`, `redrive`, `acknowledge`, `review`, `note`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeedView {
    pub name: Name,
    pub legal: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Problem>,
}

impl FormView {
    /// Says how many have agreed and how many are missing, where it takes more than one.
    #[must_use]
    pub fn agreement(&self, target: &TargetView) -> Option<String> {
        let (needed, count) = (self.approvals as usize, target.agreed.len());
        let missing = needed.saturating_sub(count);
        let more = match missing {
            0 => return None,
            1 => "one more is needed".to_owned(),
            missing => format!("{missing} more are needed"),
        };
        match (needed, target.agreed.join(", ")) {
            (..=1, _) => None,
            (_, names) if names.is_empty() => Some(format!("{needed} people must agree; nobody has yet")),
            (_, names) => Some(format!("{count} of {needed} have agreed ({names}); {more}")),
        }
    }
}
