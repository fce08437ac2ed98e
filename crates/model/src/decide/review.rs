//! Review: one person takes a review on, hands it to another, or lets it go.

use super::act::check_revision;
use super::cause::Step;
use super::moves::{Fact, Walk};
use super::{Answer, Current, Decision};
use crate::Name;
use crate::actor::{Caller, Right};
use crate::command::{Review, ReviewStep};
use crate::context::Context;
use crate::event::Change;
use crate::json::Json;
use crate::person::{is_invisible, is_same, spelled};
use crate::pipeline::{Edge, Pipeline};
use crate::refusal::{Code, Refusal};
use crate::role::Role;
use crate::submission::{Assignment, Submission, Wait};
use crate::time::{Millis, Time};

/// The time for which a review is somebody's where they do not say.
pub const CLAIM_DEFAULT: Millis = Millis::from_secs(30 * 60);
/// The longest time for which a review is somebody's without a word from them.
pub const CLAIM_MAX: Millis = Millis::from_secs(7 * 24 * 60 * 60);

const NAME_BYTES_MAX: usize = 256;

pub(super) fn decide(
    pipeline: &Pipeline,
    current: Current<'_>,
    review: &Review,
    context: &Context,
) -> Result<Decision, Refusal> {
    let (row, caller) = (current.row, &review.caller);
    check_revision(row, review.if_match)?;
    check_reviewer(pipeline, row, caller)?;
    let held = row.assigned(context.now);
    let mut walk = Walk::new(pipeline, current, context);
    match &review.step {
        ReviewStep::Claim { span } => {
            check_free(held, &caller.name)?;
            walk.assign(caller.name.clone(), *span, caller)?;
        }
        ReviewStep::HandOver { to, span } => {
            check_own(held, caller)?;
            walk.assign(person(to)?, *span, caller)?;
        }
        ReviewStep::Release => {
            if row.assignment.is_none() {
                return Ok(Decision::quiet(row.clone(), Answer::Done));
            }
            check_own(held, caller)?;
            walk.release(Step::by(caller.actor(), Right::Role(caller.role)));
        }
    }
    Ok(walk.done(Answer::Done))
}

/// Refuses whoever has no right to any action of the state, and a submission that waits for nobody.
fn check_reviewer(pipeline: &Pipeline, row: &Submission, caller: &Caller) -> Result<(), Refusal> {
    if row.wait != Wait::Person {
        let message = format!(
            "submission {} is {} in state {} and waits for no person",
            row.id,
            row.status.as_str(),
            row.state
        );
        return Err(Refusal::new(Code::NotInReview, message));
    }
    let state = pipeline.known(&row.state);
    let mut edges = state.actions.iter().flat_map(|action| &action.edges);
    if edges.any(|edge| state.may(edge, caller)) {
        return Ok(());
    }
    let message =
        format!("{} with the role {} may take no action in {}", caller.name, caller.role, row.state);
    Err(Refusal::new(Code::RoleRequired, message))
}

/// Refuses what somebody else has.
fn check_free(held: Option<&Assignment>, name: &str) -> Result<(), Refusal> {
    match held {
        Some(held) if !is_same(&held.to, name) => Err(taken(held)),
        _ => Ok(()),
    }
}

/// Refuses those who neither have the review nor may dispose of everybody's.
fn check_own(held: Option<&Assignment>, caller: &Caller) -> Result<(), Refusal> {
    if caller.role == Role::Admin { Ok(()) } else { check_free(held, &caller.name) }
}

/// Refuses to decide in a review that another person has. Admins go before, and so does what only the submitter does.
pub(super) fn check_claim(row: &Submission, edge: &Edge, caller: &Caller, now: Time) -> Result<(), Refusal> {
    let apart = edge.only_submitter || caller.role == Role::Admin;
    if apart { Ok(()) } else { check_free(row.assigned(now), &caller.name) }
}

fn taken(held: &Assignment) -> Refusal {
    let message = format!(
        "{} has the review until {}; ask them to hand it over, or wait until it is free",
        held.to, held.until
    );
    Refusal::new(Code::ReviewTaken, message)
        .with("assigned_to", &*held.to)
        .with("until", held.until.to_string())
}

fn person(name: &str) -> Result<Name, Refusal> {
    let plain = spelled(name);
    if plain.is_empty() || plain.len() > NAME_BYTES_MAX || plain.chars().any(is_invisible) {
        let message = format!("`to` is the name of a person: 1 to {NAME_BYTES_MAX} visible bytes");
        return Err(Refusal::new(Code::InvalidRequest, message));
    }
    Ok(plain.into())
}

impl Submission {
    /// Returns whose review it is at a time.
    #[must_use]
    pub fn assigned(&self, now: Time) -> Option<&Assignment> {
        self.assignment.as_ref().filter(|assignment| assignment.until > now)
    }
}

impl Walk<'_> {
    fn assign(&mut self, to: Name, span: Option<Millis>, caller: &Caller) -> Result<(), Refusal> {
        let span = span.unwrap_or(CLAIM_DEFAULT);
        if span.is_zero() || span > CLAIM_MAX {
            let message = format!("`for` is {span}; a review is somebody's for up to {CLAIM_MAX}");
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        let since = self.context.now;
        let until = since.plus(span);
        let metadata = serde_json::json!({ "to": to, "until": until });
        let assignment = Assignment { to, by: caller.name.clone(), since, until };
        let step = Step::by(caller.actor(), Right::Role(caller.role));
        self.disposed(Change::Assigned(assignment), "assign", Some(Json::from(metadata)), step);
        Ok(())
    }

    fn release(&mut self, step: Step<'_>) {
        let to = self.row().assignment.as_ref().map(|assignment| assignment.to.clone());
        let metadata = Json::from(serde_json::json!({ "from": to }));
        self.disposed(Change::Released, "release", Some(metadata), step);
    }

    /// Lets a review go whose time is over.
    pub(super) fn release_expired(&mut self) {
        let over = self.row().assignment.as_ref().is_some_and(|held| held.until <= self.context.now);
        if over && self.row().wait == Wait::Person {
            self.release(Step::rule());
        }
    }

    fn disposed(&mut self, change: Change, trigger: &str, metadata: Option<Json>, step: Step<'_>) {
        let state = self.row().state.clone();
        let fact = Fact { to: &state, trigger: &trigger.into(), actor: None, metadata, tells: None };
        self.record(change, fact, step);
    }
}
