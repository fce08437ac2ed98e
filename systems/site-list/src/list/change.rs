//! Changes, as the events of the pipeline tell them.

use serde::Deserialize;
use wire::SubmissionId;
use wire::api::EventView;

use crate::action::Action;
use crate::policy::{Policy, Signer};
use crate::rules::Host;

/// An event that the list takes note of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub seq: u64,
    pub submission: SubmissionId,
    pub at: String,
    pub note: Note,
}

/// The part of an event that matters to the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A submission says that this site's domain is not registered any more.
    ReportedGone(Host),
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
    #[must_use]
    pub fn of_event(event: &EventView) -> Option<Change> {
        let note = note(event)?;
        Some(Change { seq: event.seq, submission: event.submission, at: event.at.to_string(), note })
    }
}

fn note(event: &EventView) -> Option<Note> {
    let metadata = || -> Option<Metadata> { serde_json::from_str(event.metadata.as_ref()?.as_str()).ok() };
    match &*event.to {
        "SUBMITTED" => {
            let Metadata { domain, action, .. } = metadata()?;
            (action == Action::DomainDeleted).then_some(Note::ReportedGone(domain))
        }
        "SECOND_SUBMISSION_TO_LOG_IN_PROGRESS" => Some(Note::Confirming(metadata()?.domain)),
        "COMPLETED" => {
            let Metadata { domain, action, signers, threshold, contact, entry } = metadata()?;
            let policy = signers.zip(threshold).map(|(signers, threshold)| Policy { signers, threshold });
            Some(Note::Completed(Completed { domain, action, policy, contact, entry }))
        }
        other if other.ends_with("_ERROR") => Some(Note::Discarded),
        _ => None,
    }
}
