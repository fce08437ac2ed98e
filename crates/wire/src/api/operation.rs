//! Operations over many submissions, and lists of what is late.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SubmissionView;
use crate::Name;
use crate::json::Json;
use crate::operation::{Deed, Filter, Operation, OperationResult};
use crate::refusal::{Code, Refusal};
use crate::submission::SubmissionId;

/// `action` is the name of a declared action, or one of `resume`, `redrive`, `acknowledge` and `migrate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationBody {
    pub filter: Filter,
    pub action: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Name>,
    /// The version to follow in a migration; then, where its states go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<Name, Name>,
    #[serde(default)]
    pub dry_run: bool,
}

impl OperationBody {
    /// Returns what is to be done; a field that the deed does not take is refused.
    pub fn deed(&self) -> Result<Deed, Refusal> {
        let OperationBody { action, data, to, version, map, .. } = self;
        let refuse = |message: String| Err(Refusal::new(Code::InvalidRequest, message));
        let migrates = &**action == "migrate";
        if !migrates && (version.is_some() || !map.is_empty()) {
            return refuse(format!("`version` and `map` are for `migrate`, not for `{action}`"));
        }
        match (&**action, version) {
            ("migrate", None) => refuse("a migration needs `version`: which one to follow".to_owned()),
            ("migrate" | "redrive" | "acknowledge", _) if data.is_some() || to.is_some() => {
                refuse(format!("`{action}` takes neither `data` nor `to`"))
            }
            ("migrate", Some(version)) => Ok(Deed::Migrate { version: *version, map: map.clone() }),
            ("redrive", _) => Ok(Deed::Redrive),
            ("acknowledge", _) => Ok(Deed::Acknowledge),
            ("resume", _) if data.is_none() => Ok(Deed::Resume { to: to.clone() }),
            _ => Ok(Deed::Act { action: action.clone(), data: data.clone(), to: to.clone() }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationList {
    pub operations: Vec<Operation>,
    /// The value to give as `after` for the next page; null at the end.
    pub next: Option<Name>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultView {
    pub submission: SubmissionId,
    #[serde(flatten)]
    pub result: OperationResult,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultPage {
    pub results: Vec<ResultView>,
    pub next: Option<SubmissionId>,
}

/// Submissions that have missed a service level, the longest ago first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverduePage {
    pub submissions: Vec<SubmissionView>,
    /// The value to give as `after` for the next page; null at the end.
    pub next: Option<String>,
}
