//! Changes, as the events of the pipeline tell them.

use serde::Deserialize;
use wire::api::EventView;
use wire::event::Kind;
use wire::{SubmissionId, Time};

use crate::action::Action;
use crate::policy::{Policy, Signer};
use crate::rules::Host;

/// An event that the list takes note of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub seq: u64,
    pub submission: SubmissionId,
    pub at: Time,
    pub note: Note,
}

/// The states in which a site is looked at.
const VALIDATING: [&str; 2] = ["PRELIMINARY_VALIDATION_IN_PROGRESS", "SECOND_VALIDATION_IN_PROGRESS"];

/// The part of an event that matters to the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A change was asked for. DOMAIN_DELETED says that the site's domain is not registered any more.
    Submitted(Host, Action),
    /// A validation has had its try. The contact that its end is told to is named by a digest, once a submission.
    Visited {
        told: Option<String>,
    },
    /// The list's own log took the leaf with this number.
    Logged(u64),
    /// A change of this site was confirmed and is put before the log.
    Confirming(Host),
    /// A submission ended without a change.
    Discarded,
    Completed(Completed),
}

/// A change that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    pub domain: Host,
    pub action: Action,
    pub policy: Option<Policy>,
    pub contact: Option<String>,
    /// The digest of the entry that the change was validated against.
    pub entry: Option<String>,
}

/// The metadata of the events that carry any.
#[derive(Debug, Deserialize)]
struct Metadata {
    domain: Host,
    action: Action,
    #[serde(default)]
    signers: Option<Vec<Signer>>,
    #[serde(default)]
    threshold: Option<u32>,
    #[serde(default)]
    contact: Option<String>,
    #[serde(default)]
    entry: Option<String>,
}

impl Change {
    /// Reads an event of the pipeline. Most say nothing about the list.
    pub fn of_event(event: &EventView) -> impl Iterator<Item = Change> {
        let (seq, submission, at) = (event.seq, event.submission, event.at);
        let notes = visited(event).into_iter().chain(note(event));
        notes.map(move |note| Change { seq, submission, at, note })
    }
}

fn visited(event: &EventView) -> Option<Note> {
    let state = if event.kind == Kind::Moved { event.from.as_ref()? } else { &event.to };
    let is_try = matches!(event.kind, Kind::Moved | Kind::Retried | Kind::Crashed);
    let told = || {
        let metadata: serde_json::Value = serde_json::from_str(event.metadata.as_ref()?.as_str()).ok()?;
        Some(metadata.get("told")?.as_str()?.to_owned())
    };
    (is_try && VALIDATING.contains(&&**state)).then(|| Note::Visited { told: told() })
}

fn note(event: &EventView) -> Option<Note> {
    let metadata = || -> Option<Metadata> { serde_json::from_str(event.metadata.as_ref()?.as_str()).ok() };
    match &*event.to {
        "SUBMITTED" => {
            let Metadata { domain, action, .. } = metadata()?;
            Some(Note::Submitted(domain, action))
        }
        "SUBMISSION_TO_LOG_OK" | "SECOND_SUBMISSION_TO_LOG_OK" => {
            let metadata: serde_json::Value = serde_json::from_str(event.metadata.as_ref()?.as_str()).ok()?;
            Some(Note::Logged(metadata.get("leaf_index")?.as_u64()?))
        }
        "SECOND_VALIDATION_OK" => Some(Note::Confirming(metadata()?.domain)),
        // COMPLETED follows in the same commit, without a condition.
        "SECOND_LOG_INCLUSION_OK" => {
            let Metadata { domain, action, signers, threshold, contact, entry } = metadata()?;
            let policy = signers.zip(threshold).map(|(signers, threshold)| Policy { signers, threshold });
            Some(Note::Completed(Completed { domain, action, policy, contact, entry }))
        }
        other if other.ends_with("_ERROR") => Some(Note::Discarded),
        _ => None,
    }
}
