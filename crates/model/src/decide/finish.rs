//! Finish: a worker names its outcome, and the outcome's edges decide where that leads.

use wire::api::SEALED;

use super::cause::Step;
use super::fail::{Again, attempt_failed, bad_output};
use super::guard_error::guard_failure;
use super::guard_view::Moment;
use super::moves::{Walk, only};
use super::settle::{Settlement, fenced};
use super::{Answer, Current, Decision};
use crate::actor::Right;
use crate::admit::{DOCUMENT_BYTES_MAX, schema_refusal};
use crate::command::Finish;
use crate::context::Context;
use crate::digest::Digest;
use crate::entry::EntryChange;
use crate::event::{Change, NewDocuments};
use crate::pipeline::{Kind, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::submission::{Kept, Request};

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    finish: &Finish,
    context: &Context,
) -> Result<Decision, Refusal> {
    fenced(current, finish.token, digest(finish), context, |settlement| {
        check_bounds(finish)?;
        let mut walk = Walk::new(pipeline, current, context);
        walk.entries.clone_from(&finish.entries);
        match current.row.request.clone() {
            Some(request) => Ok(perform(walk, settlement, &request, finish)),
            None => follow(walk, settlement, finish),
        }
    })
}

/// A document a worker sends is as bounded as one a submitter sends. The lease stays with a worker that sends less.
fn check_bounds(finish: &Finish) -> Result<(), Refusal> {
    for (what, document) in [("output", &finish.output), ("result", &finish.result)] {
        if document.as_ref().is_some_and(|document| document.as_str().len() > DOCUMENT_BYTES_MAX) {
            let message =
                format!("the {what} is over {DOCUMENT_BYTES_MAX} bytes; store it elsewhere and name it");
            return Err(Refusal::new(Code::TooLarge, message).with("max_bytes", DOCUMENT_BYTES_MAX));
        }
    }
    crate::entry::check_all(&finish.entries)
}

/// Along the edges of the outcome.
fn follow(mut walk: Walk<'_>, settlement: &Settlement, finish: &Finish) -> Result<Decision, Refusal> {
    let on = match &walk.state().kind {
        Kind::Task { on, .. } => on,
        Kind::Join { on, .. } => on,
        _ => unreachable!("a lease without a request is that of a task"),
    };
    super::children::check(&walk, &finish.children)?;
    let mut step = Step::by(settlement.worker(), settlement.right());
    step.moment = Moment { output: finish.output.as_ref(), ..Moment::default() };
    step.documents = documents(finish);
    if let Some(message) = misfit(&walk, finish)? {
        refuse_output(&mut walk, settlement, &message);
        return Ok(walk.done(Answer::Done));
    }
    if matches!(walk.state().kind, Kind::Join { .. }) && &*finish.outcome == SEALED {
        walk.spawn(&finish.children);
        walk.note(Change::Sealed, &SEALED.into(), step);
        if let Err(error) = walk.pass_on() {
            walk.guard_failed(&error, None, Step::rule());
        }
        return Ok(walk.done(Answer::Done));
    }
    let Some(edges) = on.get(&finish.outcome) else {
        return Err(Refusal::new(
            Code::UnknownOutcome,
            format!(
                "state {} has no outcome `{}`; the lease is still yours",
                walk.row().state,
                finish.outcome
            ),
        )
        .with_names("outcomes", on.keys()));
    };
    step.success = true;
    let kept = Kept {
        outcome: finish.outcome.clone(),
        worker: settlement.lease.worker.clone(),
        lease_no: settlement.lease.no,
    };
    walk.note_late();
    let before = walk.row().revision;
    let moved = match walk.sight.choose(walk.row(), step.moment, edges) {
        Ok(Some((_, edge))) => walk.go(edge, only(edge), step.clone()),
        Ok(None) => unreachable!("the last edge of an outcome has no guard; the file was checked"),
        Err(error) => Err(error),
    };
    match moved {
        Ok(()) => {}
        Err(error) if error.reads_output && walk.row().revision == before => {
            refuse_output(&mut walk, settlement, &error.message);
        }
        Err(error) => walk.interrupted(before, &error, Some(kept), step),
    }
    Ok(walk.done(Answer::Done))
}

/// Counts an answer that cannot be used as a failed attempt of its worker; nothing of it is kept.
fn refuse_output(walk: &mut Walk<'_>, settlement: &Settlement, message: &str) {
    walk.entries.clear();
    let step = Step::by(settlement.worker(), settlement.right());
    attempt_failed(walk, &bad_output(message), Again::After(None), step);
}

/// The reason why an output does not fit the schema that its outcome declares.
fn misfit(walk: &Walk<'_>, finish: &Finish) -> Result<Option<String>, Refusal> {
    let Some(schema) = walk.state().output.get(&finish.outcome) else { return Ok(None) };
    let tank = &walk.context.tank;
    let checked = match &finish.output {
        Some(output) => tank.check(schema, output)?,
        None => tank.check(schema, &crate::Json::default())?,
    };
    Ok(checked.err().map(|misfit| schema_refusal("the output", &misfit).message))
}

/// The move an action promised, in the name and by the right of whoever was granted it.
fn perform(mut walk: Walk<'_>, settlement: &Settlement, request: &Request, finish: &Finish) -> Decision {
    let state = walk.state();
    let action =
        state.action(&request.action).expect("a granted action exists in the version it was granted under");
    let edge = &action.edges[request.edge];
    let mut step = Step::by(request.caller.actor(), Right::Role(request.caller.role));
    step.moment = Moment { output: finish.output.as_ref(), data: request.data.as_ref(), ..Moment::default() };
    step.reason = request.reason.as_deref();
    step.documents = documents(finish);
    walk.note_late();
    let before = walk.row().revision;
    if let Err(error) = walk.go(edge, &request.to, step) {
        if error.reads_output && walk.row().revision == before {
            refuse_output(&mut walk, settlement, &error.message);
        } else if walk.row().revision == before {
            // What the worker did is done: its answer is kept even though the move could not be made.
            let mut step = Step::by(settlement.worker(), settlement.right());
            step.documents = documents(finish);
            super::fail::abandon(&mut walk, guard_failure(&error), step);
        } else {
            walk.guard_failed(&error, None, Step::rule());
        }
    }
    walk.done(Answer::Done)
}

fn documents(finish: &Finish) -> NewDocuments {
    NewDocuments { output: finish.output.clone(), result: finish.result.clone(), ..NewDocuments::default() }
}

/// Computes the digest that makes two finishes the same.
fn digest(finish: &Finish) -> Digest {
    let (output, result) = (text(finish.output.as_ref()), text(finish.result.as_ref()));
    let own: [&[u8]; 6] = [b"finish\0", finish.outcome.as_bytes(), b"\0", output, b"\0", result];
    if finish.children.is_empty() && finish.entries.is_empty() {
        return Digest::of_parts(&own);
    }
    let mut parts = own.to_vec();
    let children: Vec<_> = finish.children.iter().map(identity).collect();
    for (child, identity) in finish.children.iter().zip(&children) {
        parts.push(identity.as_bytes());
        parts.push(child.payload().as_str().as_bytes());
    }
    let entries: Vec<_> = finish.entries.iter().map(EntryChange::identity).collect();
    parts.extend(entries.iter().map(String::as_bytes));
    Digest::of_parts(&parts)
}

fn text(json: Option<&crate::Json>) -> &[u8] {
    json.map_or("", |json| json.as_str()).as_bytes()
}

/// Returns everything that a worker says of a child besides its payload: with another name, key, priority or time it is
/// another child. Labels and places follow from the definition, and are not the worker's words.
fn identity(child: &crate::admit::Admission) -> String {
    let crate::admit::Application { priority, not_before, reason, .. } = &child.application;
    let (id, pipeline, key) = (child.child_id(), child.pipeline(), child.key());
    format!("\0{:?}", (id, pipeline, key, priority, not_before, reason))
}
