//! The timeline of a submission, as its page tells it.

use wire::api::EventView;
use wire::event::Kind;

use crate::diff::Changed;
use crate::look::{Eye, span};
use crate::parts::{Id, When};
use crate::raw::Raw;

/// One event.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) revision: u64,
    pub(crate) tone: &'static str,
    pub(crate) what: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) trigger: String,
    pub(crate) actor: String,
    pub(crate) actor_kind: &'static str,
    pub(crate) at: When,
    /// The time since the event before.
    pub(crate) after: String,
    pub(crate) attempt: u32,
    pub(crate) error: String,
    /// The words that a person wrote.
    pub(crate) note: String,
    pub(crate) metadata: Option<Raw>,
    /// The members that an amendment changed.
    pub(crate) changed: Vec<Changed>,
    pub(crate) notified: Vec<Notice>,
}

/// A notification that an event made, or could not make.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) deliveries: Vec<Id>,
    pub(crate) problem: String,
}

/// Tells events, the newest first.
pub(crate) fn timeline(eye: &Eye, events: &[EventView]) -> Vec<Moment> {
    let before = std::iter::once(None).chain(events.iter().map(|event| Some(event.at)));
    let mut moments: Vec<Moment> =
        events.iter().zip(before).map(|(event, before)| moment(eye, event, before)).collect();
    moments.reverse();
    moments
}

fn moment(eye: &Eye, event: &EventView, before: Option<wire::Time>) -> Moment {
    let apart = before.map(|before| event.at.millis().saturating_sub(before.millis()));
    let apart = apart.and_then(|millis| u64::try_from(millis).ok()).filter(|millis| *millis > 0);
    let notified = event.notified.iter().map(|told| Notice {
        text: format!("{} by {}", told.name, told.channel.as_str()),
        deliveries: told.deliveries.iter().map(|id| Id::of(*id)).collect(),
        problem: told.problem.clone().unwrap_or_default(),
    });
    Moment {
        revision: event.revision,
        tone: tone(event.kind),
        what: said(event.kind).to_owned(),
        from: event.from.as_deref().filter(|from| **from != *event.to).unwrap_or_default().to_owned(),
        to: event.to.to_string(),
        trigger: event.trigger.to_string(),
        actor: event.actor.name.to_string(),
        actor_kind: event.actor.kind.as_str(),
        at: eye.when(event.at),
        after: apart.map(|millis| span(wire::Millis::new(millis))).unwrap_or_default(),
        attempt: event.attempt,
        error: event
            .error
            .as_ref()
            .map(|error| format!("{}: {}", error.code, error.message))
            .unwrap_or_default(),
        note: note(event),
        changed: Vec::new(),
        metadata: event.metadata.as_ref().filter(|metadata| !metadata.is_null()).map(Raw::of),
        notified: notified.collect(),
    }
}

/// Returns what a person wrote with an event: a note, or the reason of what they did.
fn note(event: &EventView) -> String {
    let metadata = event.metadata.as_ref().map(wire::Json::to_serde);
    let written = metadata
        .as_ref()
        .and_then(|metadata| metadata.get("note").or_else(|| metadata.get("reason"))?.as_str());
    written.unwrap_or_default().to_owned()
}

fn tone(kind: Kind) -> &'static str {
    match kind {
        Kind::Died | Kind::Crashed | Kind::Refused => "dead",
        Kind::Retried | Kind::Late | Kind::Abandoned => "warn",
        Kind::Approved
        | Kind::Acknowledged
        | Kind::Redriven
        | Kind::Assigned
        | Kind::Released
        | Kind::Noted => "person",
        Kind::Moved | Kind::Submitted => "open",
        _ => "off",
    }
}

/// Says what happened in words.
pub(crate) fn said(kind: Kind) -> &'static str {
    match kind {
        Kind::Submitted => "submitted",
        Kind::Moved => "moved",
        Kind::Retried => "failed, will be tried again",
        Kind::Crashed => "its worker vanished",
        Kind::Died => "became a dead letter",
        Kind::Requested => "asked for; its task runs first",
        Kind::Abandoned => "the task of the action failed",
        Kind::Amended => "payload amended",
        Kind::Redriven => "redriven",
        Kind::Sealed => "children are all made",
        Kind::Erased => "documents erased",
        Kind::Forgotten => "row removed",
        Kind::Late => "missed a service level",
        Kind::Approved => "agreed to",
        Kind::Acknowledged => "acknowledged",
        Kind::Migrated => "migrated to another version",
        Kind::Refused => "refused",
        Kind::Merged => "merged into an open submission",
        Kind::Assigned => "review taken on",
        Kind::Released => "review let go",
        Kind::Noted => "note",
    }
}
