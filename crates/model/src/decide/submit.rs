//! Submit: a new submission enters its pipeline, or an open one with its key stands for it.

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::{Fact, Walk, only};
use super::{Answer, Current, Decision};
use crate::actor::{ActorKind, Right};
use crate::admit::{Admission, guard_refusal};
use crate::context::Context;
use crate::event::{Change, NewDocuments, Submitted};
use crate::pipeline::{OnDuplicate, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::submission::{Cause, Documents, Stand, Submission, Wait};

pub(super) fn decide(
    pipeline: &Pipeline,
    holder: Option<Current<'_>>,
    admission: &Admission,
    context: &Context,
) -> Result<Decision, Refusal> {
    let key_waits = holder.is_some() && pipeline.on_duplicate == OnDuplicate::Queue;
    if let Some(holder) = holder.filter(|_| !key_waits) {
        return duplicate(pipeline, holder, admission);
    }
    let application = &admission.application;
    let documents = Documents { payload: application.payload.clone(), ..Documents::default() };
    let mut walk = Walk::unborn(pipeline, documents, context);
    walk.id = admission.child_id().or(admission.promised);
    walk.queued_at = admission.queued_at.unwrap_or(context.now);
    let edge = &pipeline.start[admission.edge];
    let to = only(edge);

    // What expressions see before there is a row.
    let mut seen = Submission::blank(pipeline.name.clone(), pipeline.version, context.now);
    seen.priority_given = application.priority;
    seen.labels = admission.labels.clone();
    seen.seat = admission.seat.clone();
    let refuse = |error| guard_refusal(&error);
    let ttl_at = match &pipeline.ttl {
        None => None,
        Some(ttl) => Some(walk.after(&ttl.after, &seen, context.now).map_err(refuse)?),
    };
    let mut entry = walk.entry(pipeline.known(to), &seen, Moment::default()).map_err(refuse)?;
    if let Some(until) = application.not_before.filter(|until| *until > context.now) {
        // Entered, but not looked at before its time; what the state waits for is decided then.
        entry.wait = Wait::Delay { until, cause: Cause::NotBefore };
        entry.state_ttl_at = entry.state_ttl_at.map(|at| at.plus(until.since(context.now)));
        entry.clocks = walk.clocks(pipeline.known(to), &seen, until);
    }
    if key_waits {
        entry.wait = Wait::Key;
        entry.seat = admission.seat.clone().map(|seat| seat.standing(Stand::Away));
    }
    let mut step = match admission.by_clock {
        true => Step::rule(),
        false => Step::by(application.caller.actor(), Right::Role(application.caller.role)),
    };
    step.reason = application.reason.as_deref();
    let metadata = walk.sight.metadata(&seen, edge, &step).map_err(refuse)?;
    let error = walk.sight.stated(&seen, edge, &step).map_err(refuse)?;
    let nobody = admission.by_clock || edge.actor == Some(ActorKind::System);
    let change = Change::Submitted(Box::new(Submitted {
        pipeline: pipeline.name.clone(),
        version: pipeline.version,
        key: admission.key.clone(),
        labels: admission.labels.clone(),
        parent: application.door.parent(),
        key_waits,
        priority_given: application.priority,
        ttl_at,
        trace: admission.trace.clone(),
        submitter: nobody.then(|| application.caller.name.clone()),
        on_behalf_of: admission.on_behalf_of.clone(),
        error,
        entry,
    }));
    step.documents = NewDocuments { payload: Some(application.payload.clone()), ..NewDocuments::default() };
    step.sealed = admission.sealed;
    walk.record(
        change,
        Fact { to, trigger: &edge.trigger, actor: edge.actor, metadata, tells: Some(&edge.notify) },
        step,
    );
    walk.pass_on().map_err(refuse)?;
    Ok(walk.done(Answer::Done))
}

fn duplicate(pipeline: &Pipeline, holder: Current<'_>, admission: &Admission) -> Result<Decision, Refusal> {
    let id = holder.row.id;
    let refuse = |code, message| Err(Refusal::new(code, message).with("submission", id.to_string()));
    match pipeline.on_duplicate {
        OnDuplicate::Reject => {
            refuse(Code::DuplicateKey, format!("submission {id} has this key and is still open"))
        }
        OnDuplicate::Return if !admission.payload().spells_same_as(&holder.documents.payload) => {
            let way = if pipeline.amend.is_some() { "amend that one, or wait" } else { "wait" };
            let message = format!(
                "submission {id} has this key with another payload and is still open; {way} until it has ended"
            );
            refuse(Code::KeyConflict, message)
        }
        OnDuplicate::Return | OnDuplicate::ReturnAny | OnDuplicate::Queue => {
            Ok(Decision::quiet(holder.row.clone(), Answer::Duplicate))
        }
    }
}
