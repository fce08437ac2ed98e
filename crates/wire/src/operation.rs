//! Operations: one deed for every submission a filter finds, done in chunks, told one by one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::actor::Caller;
use crate::json::Json;
use crate::submission::{Fingerprint, InvestigationStatus, Status, SubmissionId};
use crate::time::Time;

/// The filter that selects submissions. Every condition given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    pub pipeline: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The progress of the investigation of the submission's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub investigation: Option<InvestigationStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SubmissionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<Name>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    /// The code of its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Name>,
    /// The fingerprint of its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_before: Option<Time>,
    /// Created at this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_after: Option<Time>,
    /// In its state since before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered_before: Option<Time>,
    /// The worker that has its lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
}

impl Filter {
    /// Every submission of a pipeline.
    #[must_use]
    pub fn of(pipeline: Name) -> Self {
        Filter {
            pipeline,
            version: None,
            state: None,
            status: None,
            investigation: None,
            parent: None,
            lane: None,
            labels: BTreeMap::new(),
            error: None,
            fingerprint: None,
            created_before: None,
            created_after: None,
            entered_before: None,
            worker: None,
        }
    }
}

/// The deed that is done to each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", try_from = "Written")]
pub enum Deed {
    /// An action its state declares.
    Act {
        action: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Json>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Name>,
    },
    /// The action `resume` where its state declares it; a dead letter elsewhere is redriven.
    Resume {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Name>,
    },
    Redrive,
    /// Somebody has looked into how they ended.
    Acknowledge,
    Migrate {
        version: u32,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        map: BTreeMap<Name, Name>,
    },
    /// The move that a state declares for children whose parent ended cancelled. The machine's own: nobody can ask
    /// for it.
    ParentCancelled,
}

/// A deed as it is read. Data goes through untouched, which it could not within an enum told apart by one of its fields.
#[derive(Deserialize)]
struct Written {
    #[serde(rename = "do")]
    what: String,
    action: Option<Name>,
    data: Option<Json>,
    to: Option<Name>,
    version: Option<u32>,
    #[serde(default)]
    map: BTreeMap<Name, Name>,
}

impl TryFrom<Written> for Deed {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { what, action, data, to, version, map } = written;
        match &*what {
            "act" => {
                let action = action.ok_or("missing field `action`")?;
                Ok(Deed::Act { action, data, to })
            }
            "resume" => Ok(Deed::Resume { to }),
            "redrive" => Ok(Deed::Redrive),
            "acknowledge" => Ok(Deed::Acknowledge),
            "migrate" => {
                let version = version.ok_or("missing field `version`")?;
                Ok(Deed::Migrate { version, map })
            }
            "parent_cancelled" => Ok(Deed::ParentCancelled),
            other => {
                Err(format!("unknown deed `{other}`; one of act, resume, redrive, acknowledge, migrate"))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationStatus {
    Running,
    /// Somebody stopped it; what was done stays done.
    Stopped,
    Done,
}

/// An operation as it is kept and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub id: Name,
    pub filter: Filter,
    pub deed: Deed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Set if everything is decided and told, and nothing is changed.
    #[serde(default)]
    pub dry_run: bool,
    pub by: Caller,
    pub status: OperationStatus,
    /// The number of submissions that fitted the filter so far.
    #[serde(default)]
    pub found: u64,
    #[serde(default)]
    pub done: u64,
    /// The number of submissions that refused, by the code of the refusal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
    pub started_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The last submission that was looked at: it goes from the newest to the oldest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<SubmissionId>,
}

/// The result for one submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationResult {
    /// The state it is in after, or would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Name>,
    /// The reason why nothing was done: a stable code and a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_reads_back_as_it_was_written_whatever_its_data() {
        let data = Json::parse(r#"{"n":123456789012345678901234567890,"x":[null,1.50]}"#).unwrap();
        let act = Deed::Act { action: "go".into(), data: Some(data), to: Some("THERE".into()) };
        let map: BTreeMap<Name, Name> = [("A".into(), "B".into())].into();
        for deed in [
            act,
            Deed::Resume { to: None },
            Deed::Redrive,
            Deed::Acknowledge,
            Deed::Migrate { version: 2, map },
            Deed::ParentCancelled,
        ] {
            let text = serde_json::to_string(&deed).unwrap();
            assert_eq!(serde_json::from_str::<Deed>(&text).unwrap(), deed, "{text}");
        }
        for wrong in [r#"{"do":"act"}"#, r#"{"do":"migrate"}"#, r#"{"do":"fly"}"#, "{}"] {
            assert!(serde_json::from_str::<Deed>(wrong).is_err(), "{wrong}");
        }
    }
}
