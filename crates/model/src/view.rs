//! Rows and events as [`wire::api`] shows them.

use std::collections::BTreeMap;

use wire::api::{
    DeliveryView, EventView, FileProblem, LaneView, LeaseView, SlaView, SubmissionView, SubmitAnswer,
};

use crate::actor::Actor;
use crate::event::Event;
use crate::owed::Delivery;
use crate::pipeline::{Pipeline, Problems, Source};
use crate::submission::{Cause, Documents, SlaClock, Submission, Wait};

/// Shows a submission without its documents. Without its pipeline, the view has neither phase nor actions.
#[must_use]
pub fn submission(row: &Submission, pipeline: Option<&Pipeline>) -> SubmissionView {
    let state = pipeline.and_then(|pipeline| pipeline.state(&row.state));
    let wake_at = match &row.wait {
        Wait::Delay { until, .. } | Wait::Clock { until } => Some(*until),
        _ => None,
    };
    let lease = row.lease().map(|lease| LeaseView {
        task: lease.task.clone(),
        worker: lease.worker.clone(),
        expires_at: lease.expires_at,
        progress: lease.progress.clone(),
    });
    SubmissionView {
        id: row.id,
        stands_for: None,
        pipeline: row.pipeline.clone(),
        version: row.version,
        state: row.state.clone(),
        phase: state.and_then(|state| state.phase.clone()),
        status: row.status,
        revision: row.revision,
        attempt: row.attempt,
        requeues: row.requeues,
        priority: row.priority,
        key: row.key.clone(),
        key_waits: row.key_waits,
        lane: row.seat.as_ref().map(|seat| LaneView {
            key: seat.lane.clone(),
            holds: seat.holds(),
            waits: seat.waits(),
        }),
        labels: row.labels.clone(),
        parent: row.parent,
        children: row.children,
        failed_from: row.failed_from.clone(),
        last_good: row.last_good.clone(),
        error: row.error.clone(),
        waits_for: row.wait.as_str().to_owned(),
        wake_at,
        lease,
        holds: Vec::new(),
        parked: row.parked.clone(),
        actions: state
            .into_iter()
            .flat_map(|state| &state.actions)
            .map(|action| action.name.clone())
            .collect(),
        approvals: row.approvals.clone(),
        assigned: row.assignment.clone(),
        notes: row.notes,
        sla: row.clocks.iter().map(|clock| sla(clock, row)).collect(),
        investigation: row.investigation().cloned(),
        traceparent: row.trace.as_ref().map(|trace| trace.parent.clone()),
        tracestate: row.trace.as_ref().and_then(|trace| trace.state.clone()),
        created_at: row.created_at,
        entered_at: row.entered_at,
        finished_at: row.finished_at,
        payload: None,
        outputs: None,
        result: None,
        attempts: Vec::new(),
        attempts_left_out: 0,
        replaced: BTreeMap::new(),
    }
}

/// Adds the documents, for whoever asked for one submission by its id.
#[must_use]
pub fn with_documents(view: SubmissionView, documents: Documents) -> SubmissionView {
    let Documents { payload, outputs, result, replaced } = documents;
    SubmissionView { payload: Some(payload), outputs: Some(outputs), result, replaced, ..view }
}

/// Adds the tries of workers, for whoever asked for one submission by its id.
#[must_use]
pub fn with_attempts(view: SubmissionView, row: &Submission) -> SubmissionView {
    let (attempts, attempts_left_out) = (row.attempts.shown().collect(), row.attempts.left_out());
    SubmissionView { attempts, attempts_left_out, ..view }
}

fn sla(clock: &SlaClock, row: &Submission) -> SlaView {
    let name = clock.leg.as_ref().unwrap_or(&row.state).clone();
    SlaView { name, due_at: clock.due_at, late: clock.late }
}

/// Answers a request to submit with the row that came of it. A `duplicate` is the row that was there before.
#[must_use]
pub fn submit_answer(row: &Submission, duplicate: bool) -> SubmitAnswer {
    SubmitAnswer {
        id: row.id,
        pipeline: row.pipeline.clone(),
        version: row.version,
        state: row.state.clone(),
        revision: row.revision,
        created_at: row.created_at,
        duplicate,
    }
}

/// Shows an event at its position in the feed, with the actor's name in place of the pseudonym.
#[must_use]
pub fn event(seq: u64, event: &Event) -> EventView {
    let leaf = &event.leaf;
    EventView {
        id: event.id(),
        seq,
        submission: leaf.submission,
        pipeline: None,
        revision: leaf.revision,
        kind: leaf.kind,
        from: leaf.from.clone(),
        to: leaf.to.clone(),
        trigger: leaf.trigger.clone(),
        actor: Actor { kind: leaf.actor.kind, name: event.detail.actor.clone() },
        attempt: leaf.attempt,
        at: leaf.at,
        error: event.error().cloned(),
        worker: event.vanished().cloned(),
        metadata: event.detail.metadata.clone(),
        notified: event.detail.notified.clone(),
    }
}

/// Shows a submission of the pipeline `delivery` as the message that it is.
#[must_use]
pub fn delivery(row: &Submission, documents: &Documents) -> DeliveryView {
    let label = |name: &str| row.labels.get(name).cloned();
    // An operator's own version may carry messages of another shape.
    let message: Option<Delivery> = serde_json::from_str(documents.payload.as_str()).ok();
    let message = message.as_ref();
    DeliveryView {
        id: row.id,
        cause: message.map(|message| message.cause),
        name: message.map(|message| message.name.clone()),
        channel: label("channel"),
        to: message.map(|message| message.to.clone()),
        submission: label("submission"),
        pipeline: message.map(|message| message.pipeline.clone()),
        state: row.state.clone(),
        status: row.status,
        attempt: row.attempt,
        error: row.error.clone(),
        created_at: row.created_at,
        finished_at: row.finished_at,
        next_try_at: match row.wait {
            Wait::Delay { until, cause: Cause::Retry } => Some(until),
            _ => None,
        },
    }
}

/// Shows every problem of a pipeline file with its place.
#[must_use]
pub fn file_problems(problems: &Problems, source: &Source) -> Vec<FileProblem> {
    let shown = problems.located(source).map(|(at, problem)| FileProblem {
        code: problem.code.to_owned(),
        message: problem.message.clone(),
        file: problem.file.clone(),
        line: at.line,
        column: at.column,
        help: problem.help.clone(),
    });
    shown.collect()
}
