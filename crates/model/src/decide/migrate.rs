//! Migrate: a submission follows another version of its pipeline from here on.
//!
//! The names others know the submission by (its key, its lane) stay; labels and priority are derived again, times are
//! counted again from when it came. It goes on waiting as it did where its new state waits for the same thing.

use super::cause::Step;
use super::guard_view::Moment;
use super::moves::{Fact, Walk, lane_taken, line_up};
use super::{Answer, Current, Decision};
use crate::Name;
use crate::actor::Right;
use crate::admit::{check_reason, guard_refusal, schema_refusal};
use crate::command::Migrate;
use crate::context::Context;
use crate::event::{Change, Entry, Migrated};
use crate::json::Json;
use crate::pipeline::{Pipeline, State};
use crate::refusal::{Code, Refusal};
use crate::role::Role;
use crate::submission::{Cause, SlaClock, Status, Submission, Wait};

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    migrate: &Migrate,
    context: &Context,
) -> Result<Decision, Refusal> {
    let (row, target) = (current.row, &*migrate.target);
    check_reason(migrate.reason.as_deref())?;
    let state = check(pipeline, row, migrate)?;
    let payload = &current.documents.payload;
    if let Some(schema) = &target.payload {
        context.tank.check(schema, payload)?.map_err(|misfit| schema_refusal("its payload", &misfit))?;
    }
    let labels = super::amend::same_identity(target, row, &payload.value(), Code::NotMigratable)?;

    let mut walk = Walk::new(target, current, context);
    let seen = Submission { labels: labels.clone(), ..row.clone() };
    let refuse = |error| guard_refusal(&error);
    let (mut entry, stays) = entry(&walk, pipeline.known(&row.state), state, &seen)?;
    if let (true, Wait::Worker { task, rank }) = (stays, &row.wait) {
        // In its queue since when it was, by the new version's priority.
        let since = pipeline.ageing.ready_at(*rank, row.priority);
        entry.wait = Wait::Worker { task: task.clone(), rank: target.ageing.rank(since, entry.priority) };
    }
    let ttl_at = match (&target.ttl, &pipeline.ttl) {
        // One that has run out already does not run again.
        (Some(_), Some(_)) if row.ttl_at.is_none() => None,
        (Some(ttl), _) => Some(walk.after(&ttl.after, &seen, row.created_at).map_err(refuse)?),
        (None, _) => None,
    };
    // States it has been in go by the same map; one that has no place in the new version is nowhere to go back to.
    let mapped = |state: &Option<Name>| {
        let state = state.as_ref().map(|state| migrate.map.get(state).unwrap_or(state));
        state.filter(|state| target.state(state).is_some()).cloned()
    };
    let (failed_from, last_good) = (mapped(&row.failed_from), mapped(&row.last_good));
    let version = target.version;
    let migrated = Migrated { version, labels, ttl_at, entry, stays, failed_from, last_good };
    let change = Change::Migrated(Box::new(migrated));
    let metadata = serde_json::json!({
        "from_version": row.version, "to_version": target.version, "reason": migrate.reason,
    });
    let fact = Fact {
        to: &state.name,
        trigger: &"migrate".into(),
        actor: None,
        metadata: Some(Json::from(metadata)),
        tells: None,
    };
    walk.record(change, fact, Step::by(migrate.caller.actor(), Right::Role(migrate.caller.role)));
    walk.pass_on().map_err(refuse)?;
    let mut decision = walk.done(Answer::Done);
    if row.parked.is_some() {
        // It stands in its queues again, in line for its lane among them.
        decision.owed.extend(line_up(target, &decision.row));
    }
    Ok(decision)
}

/// Checks that a submission can be migrated at all, and returns the state it goes to.
fn check<'t>(pipeline: &Pipeline, row: &Submission, migrate: &'t Migrate) -> Result<&'t State, Refusal> {
    let target = &*migrate.target;
    if !migrate.caller.role.covers(Role::Admin) {
        return Err(Refusal::new(Code::RoleRequired, "migrating needs the role admin")
            .with("role", Role::Admin.as_str()));
    }
    let refuse = |message: String| Err(Refusal::new(Code::NotMigratable, message));
    if target.name != pipeline.name {
        return refuse(format!("it is a submission of `{}`", pipeline.name));
    }
    if target.version == row.version {
        return refuse(format!("it follows version {} already", row.version));
    }
    if row.status.is_final() {
        return refuse(format!("submission {} has ended", row.id));
    }
    if row.request.is_some() {
        return refuse("an action of it is under way; try when that is done".to_owned());
    }
    let wanted = migrate.map.get(&row.state).unwrap_or(&row.state);
    let Some(state) = target.state(wanted) else {
        return refuse(format!(
            "version {} has no state `{wanted}`; map `{}` to one it has",
            target.version, row.state
        ));
    };
    if state.is_final() {
        return refuse(format!("`{wanted}` is final; a migration ends nothing"));
    }
    if let Some(lease) = row.lease().filter(|lease| Some(&lease.task) != task(state)) {
        return refuse(format!("a worker has its task `{}`, which `{wanted}` does not run", lease.task));
    }
    Ok(state)
}

/// Returns the entry into the new state, and whether the submission goes on waiting there as it did.
fn entry(walk: &Walk<'_>, from: &State, to: &State, row: &Submission) -> Result<(Entry, bool), Refusal> {
    let refuse = |error| guard_refusal(&error);
    let mut entry = walk.entry(to, row, Moment::default()).map_err(refuse)?;
    let since = match row.wait {
        Wait::Delay { until, cause: Cause::NotBefore } => until,
        _ => row.entered_at,
    };
    entry.state_ttl_at = match (&to.ttl, &from.ttl) {
        // One that has run out already does not run again.
        (Some(_), Some(_)) if row.state_ttl_at.is_none() => None,
        (Some(ttl), _) => Some(walk.after(&ttl.after, row, since).map_err(refuse)?),
        (None, _) => None,
    };
    entry.clocks = walk.clocks(to, row, since);
    let was_late = row.clocks.iter().any(|clock| clock.leg.is_none() && clock.late);
    let missed = |clock: &&mut SlaClock| clock.leg.is_none() && clock.due_at <= walk.context.now;
    entry.clocks.iter_mut().filter(missed).for_each(|clock| clock.late = was_late);
    if matches!(entry.wait, Wait::Clock { .. }) {
        entry.wait = walk.wait(to, row, since, entry.priority).map_err(refuse)?;
    }
    if row.status == Status::Dead {
        (entry.status, entry.seat) = (Status::Dead, row.seat.clone());
    }
    // Whoever has no use for its lane in one version may need it in the other.
    let in_line = entry.wait == Wait::Line;
    let same = from.kind.as_str() == to.kind.as_str() && task(from) == task(to);
    let stays = match row.wait {
        Wait::Lease(_) if in_line => return Err(lane_taken(row)),
        Wait::Redrive | Wait::Lease(_) | Wait::Delay { cause: Cause::NotBefore, .. } => true,
        Wait::Line => in_line,
        Wait::Key | Wait::Delay { .. } | Wait::Worker { .. } => same && !in_line,
        _ => false,
    };
    Ok((entry, stays))
}

fn task(state: &State) -> Option<&Name> {
    state.task().map(|task| &task.name)
}
