//! Facts that a submission itself tells: why it is here, its lease, its tries.

use wire::api::{AttemptEnd, AttemptView, LeaseView, Reason, SubmissionView};
use wire::{Investigation, Millis, SubmissionId};

use crate::look::{Eye, span};
use crate::parts::{Id, Link, When};

/// A reason, with what it names.
pub(super) struct Why {
    pub(super) sentence: String,
    pub(super) code: String,
    pub(super) tone: &'static str,
    pub(super) link: Option<Link>,
}

pub(super) struct Lease {
    pub(super) worker: String,
    pub(super) task: String,
    pub(super) until: When,
    pub(super) line: String,
    pub(super) done: u64,
    pub(super) total: u64,
    pub(super) told: Option<When>,
}

/// A try of a worker that has ended.
pub(super) struct Attempt {
    pub(super) state: String,
    pub(super) worker: String,
    pub(super) number: u32,
    pub(super) started: When,
    pub(super) took: String,
    pub(super) end: &'static str,
    pub(super) tone: &'static str,
    pub(super) trigger: String,
    pub(super) error: String,
}

pub(super) struct Level {
    pub(super) name: String,
    pub(super) due: When,
    pub(super) late: bool,
}

pub(super) fn facts(view: &SubmissionView) -> Vec<(&'static str, String)> {
    let some = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let lane = view.lane.as_ref().map(|lane| {
        let stands = if lane.holds {
            " (holds it)"
        } else if lane.waits {
            " (in line)"
        } else {
            ""
        };
        format!("{}{stands}", lane.key)
    });
    let all = [
        ("Key", some(view.key.as_deref())),
        ("Phase", some(view.phase.as_deref())),
        ("Lane", lane.unwrap_or_default()),
        ("Attempt", if view.attempt > 1 { view.attempt.to_string() } else { String::new() }),
        ("Came back", if view.requeues > 0 { format!("{} times", view.requeues) } else { String::new() }),
        ("Priority", if view.priority == 0 { String::new() } else { view.priority.to_string() }),
        ("Failed in", some(view.failed_from.as_deref())),
        ("Last good", some(view.last_good.as_deref())),
        ("Trace", some(view.traceparent.as_deref())),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

pub(super) fn lease(eye: &Eye, held: &LeaseView) -> Lease {
    let told = held.progress.as_ref();
    Lease {
        worker: held.worker.to_string(),
        task: held.task.to_string(),
        until: eye.when(held.expires_at),
        line: told.and_then(|told| told.line.clone()).unwrap_or_default(),
        done: told.map_or(0, |told| told.done),
        total: told.and_then(|told| told.total).unwrap_or(0),
        told: told.map(|told| eye.when(told.at)),
    }
}

pub(super) fn attempt(eye: &Eye, tried: &AttemptView) -> Attempt {
    let took = tried.ended_at.millis().saturating_sub(tried.started_at.millis());
    Attempt {
        state: tried.state.to_string(),
        worker: tried.worker.to_string(),
        number: tried.attempt,
        started: eye.when(tried.started_at),
        took: span(Millis::new(u64::try_from(took).unwrap_or(0))),
        end: tried.end.as_str(),
        tone: match tried.end {
            AttemptEnd::Finished => "good",
            AttemptEnd::Failed => "bad",
            AttemptEnd::Crashed => "dead",
            AttemptEnd::Revoked => "off",
        },
        trigger: tried.trigger.to_string(),
        error: tried
            .error
            .as_ref()
            .map(|error| format!("{}: {}", error.code, error.message))
            .unwrap_or_default(),
    }
}

pub(super) fn acknowledged(eye: &Eye, view: &SubmissionView) -> String {
    match &view.investigation {
        Some(Investigation::Acknowledged { by, at, note }) => {
            let note = note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
            format!("{by} looked into it {}{note}", eye.when(*at).relative)
        }
        _ => String::new(),
    }
}

/// Marks a reason by what it asks for, and links the submission or hold that it names.
pub(super) fn reason(reason: &Reason) -> Why {
    let named =
        ["holder", "submission", "blocker"].iter().find_map(|name| reason.details.get(*name)?.as_str());
    let id = named.and_then(|text| text.parse::<SubmissionId>().ok());
    let tone = match &*reason.code {
        "hold" | "held" | "parked" | "limit" => "held",
        "person" | "approval" => "person",
        "dead" | "dead-letter" | "guard-error" => "dead",
        code if code.contains("late") || code.contains("investig") || code.contains("unsent") => "warn",
        "ended" => "off",
        _ => "open",
    };
    Why {
        sentence: reason.sentence.clone(),
        code: reason.code.clone(),
        tone,
        link: id.map(|id| Link::new("see it", Id::of(id).link)),
    }
}
