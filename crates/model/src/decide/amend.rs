//! Amend: the payload changes while the submission is under way, in the fields the pipeline allows.

use std::collections::BTreeMap;

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::{Walk, line_up};
use super::{Answer, Current, Decision};
use crate::actor::Right;
use crate::admit::{DOCUMENT_BYTES_MAX, guard_refusal, schema_refusal};
use crate::command::Amend;
use crate::context::Context;
use crate::derive::{Derived, derive};
use crate::event::{Amended, Change, NewDocuments};
use crate::json::{Json, Value};
use crate::pipeline::{self, AmendLease, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::submission::{Submission, Wait};

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    amend: &Amend,
    context: &Context,
) -> Result<Decision, Refusal> {
    let row = current.row;
    let rule = allowed(pipeline, row, amend)?;
    super::act::check_revision(row, amend.if_match)?;
    let patch = amend.patch.value();
    check_fields(rule, &patch)?;
    let mut value = current.documents.payload.value();
    let replaced = Json::from_value(&before(&value, &patch));
    merge(&mut value, &patch);
    let mut payload = Json::from_value(&value);
    check_payload(pipeline, &payload, context)?;
    let normal = match &pipeline.payload_check {
        Some(check) => check.run(&payload)?,
        None => None,
    };
    if let Some(normal) = normal {
        check_payload(pipeline, &normal, context)?;
        (value, payload) = (normal.value(), normal);
    }
    let labels = same_identity(pipeline, row, &value, Code::NotAmendable)?;

    let mut walk = Walk::new(pipeline, current, context);
    walk.sight.amend(payload.clone());
    let mut seen = Submission { labels: labels.clone(), ..row.clone() };
    seen.priority = walk.priority(&seen, Moment::default()).map_err(|error| guard_refusal(&error))?;
    let wait = requeued(pipeline, rule, row, seen.priority, context);
    let change = Change::Amended(Amended { labels, priority: seen.priority, wait });
    let mut step = Step::by(amend.caller.actor(), Right::Role(amend.caller.role));
    step.documents =
        NewDocuments { payload: Some(payload), replaced: Some(replaced), ..NewDocuments::default() };
    walk.note(change, &"amend".into(), step);
    walk.pass_on().map_err(|error| guard_refusal(&error))?;
    let mut decision = walk.done(Answer::Done);
    if row.parked.is_some() {
        // It stands in its queues again, in line for its lane among them.
        decision.owed.extend(line_up(pipeline, &decision.row));
    }
    Ok(decision)
}

fn check_payload(pipeline: &Pipeline, payload: &Json, context: &Context) -> Result<(), Refusal> {
    if payload.as_str().len() > DOCUMENT_BYTES_MAX {
        return Err(Refusal::new(
            Code::TooLarge,
            format!("the payload would be over {DOCUMENT_BYTES_MAX} bytes"),
        ));
    }
    let Some(schema) = &pipeline.payload else { return Ok(()) };
    let checked = context.tank.check(schema, payload)?;
    checked.map_err(|misfit| schema_refusal("the amended payload", &misfit))
}

fn allowed<'p>(
    pipeline: &'p Pipeline,
    row: &Submission,
    amend: &Amend,
) -> Result<&'p pipeline::Amend, Refusal> {
    let Some(rule) = &pipeline.amend else {
        return Err(Refusal::new(
            Code::NotAmendable,
            format!("pipeline `{}` allows no amendments", pipeline.name),
        ));
    };
    if !amend.caller.role.covers(rule.role) {
        return Err(Refusal::new(Code::RoleRequired, format!("amending needs the role {}", rule.role))
            .with("role", rule.role.as_str()));
    }
    if row.status.is_final() {
        return Err(Refusal::new(Code::NotAmendable, format!("submission {} has ended", row.id)));
    }
    Ok(rule)
}

fn check_fields(rule: &pipeline::Amend, patch: &Value) -> Result<(), Refusal> {
    let Value::Object(members) = patch else {
        return Err(Refusal::new(
            Code::InvalidRequest,
            "an amendment is a JSON object: a merge patch of the payload",
        ));
    };
    match members.keys().find(|name| !rule.fields.iter().any(|field| **field == **name)) {
        None => Ok(()),
        Some(name) => Err(Refusal::new(Code::NotAmendable, format!("the field `{name}` cannot be amended"))
            .with_names("fields", rule.fields.iter())),
    }
}

/// Labels may change with the payload; what others know the submission by may not.
pub(super) fn same_identity(
    pipeline: &Pipeline,
    row: &Submission,
    payload: &Value,
    refused: Code,
) -> Result<BTreeMap<crate::Name, crate::Name>, Refusal> {
    let given = row.key.as_deref().filter(|_| pipeline.key.is_none());
    let Derived { labels, key, seat } = derive(pipeline, payload, given)?;
    let lane =
        |seat: Option<&crate::submission::Seat>| seat.map(|seat| (seat.lane.clone(), seat.tie.clone()));
    if key != row.key || lane(seat.as_ref()) != lane(row.seat.as_ref()) {
        return Err(Refusal::new(refused, "it would get another key or lane, which others know it by"));
    }
    Ok(labels)
}

/// A new place in the queue, where the rank changed or the lease is taken back.
fn requeued(
    pipeline: &Pipeline,
    rule: &pipeline::Amend,
    row: &Submission,
    priority: i64,
    context: &Context,
) -> Option<Wait> {
    let ageing = pipeline.ageing;
    match &row.wait {
        Wait::Lease(lease) if rule.lease == AmendLease::Restart => {
            Some(Wait::Worker { task: lease.task.clone(), rank: ageing.rank(context.now, priority) })
        }
        Wait::Worker { task, rank: old } if priority != row.priority => {
            let rank = ageing.rank(ageing.ready_at(*old, row.priority), priority);
            Some(Wait::Worker { task: task.clone(), rank })
        }
        _ => None,
    }
}

/// RFC 7386: objects are merged member by member, null removes, everything else replaces.
/// Returns the members of a payload that a patch changes, as they are before; null stands for one that is missing there.
fn before(payload: &Value, patch: &Value) -> Value {
    let (Value::Object(members), Value::Object(changes)) = (payload, patch) else {
        return Value::Object(BTreeMap::new());
    };
    let was = |name: &String| members.get(name).cloned().unwrap_or(Value::Null);
    Value::Object(changes.keys().map(|name| (name.clone(), was(name))).collect())
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !matches!(target, Value::Object(_)) {
        *target = Value::Object(BTreeMap::new());
    }
    let Value::Object(members) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            members.remove(name);
        } else {
            merge(members.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}
