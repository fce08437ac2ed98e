//! Reviews: one person's at a time, for as long as was said, and let go by whoever may; and notes.

use std::collections::BTreeMap;

use engine::core::{Output, Reply};
use model::command::{Note, Review, ReviewStep};
use model::decide::{CLAIM_DEFAULT, CLAIM_MAX, NOTES_MAX};
use model::event::Change;
use model::submission::{Assignment, Wait};
use model::{Code, Name, Right, Role, Submission, SubmissionId, Time};
use store::entries::{ReviewList, review_due};
use store::{Late, Store};

use super::law::Law;
use super::ledger::Ledger;
use super::timing::Moment;
use super::{Checked, ensure};
use crate::finding::finding;
use crate::report::Report;

pub(super) fn check(moment: &Moment<'_>, report: &mut Report) -> Checked {
    let (leaf, row) = (&moment.event.leaf, moment.stood());
    let held = row.assignment.as_ref();
    match &moment.event.detail.change {
        Change::Assigned(assignment) => {
            ensure!(row.wait == Wait::Person, "a review was taken on where nobody is waited for");
            ensure!(
                assignment.since == leaf.at && assignment.until > leaf.at,
                "a review ends before it begins"
            );
            let other = held.filter(|held| held.until > leaf.at && held.to != moment.event.detail.actor);
            let admin = leaf.right == Right::Role(Role::Admin);
            ensure!(other.is_none() || admin, "a review was taken from {other:?}");
            report.count(if assignment.to == assignment.by {
                "review/claimed"
            } else {
                "review/handed-over"
            });
        }
        Change::Released => {
            let held = held.ok_or("a review was let go that nobody had")?;
            if leaf.right == Right::Rule {
                ensure!(held.until <= leaf.at, "a review ended before its time");
                report.count("review/expired");
            }
        }
        Change::Moved(_) | Change::Approved(_) | Change::Requested { .. } => decided(moment, held, report)?,
        Change::Noted => ensure!(row.notes < NOTES_MAX, "more notes than there may be"),
        _ => {}
    }
    Ok(())
}

/// Nobody decides in a review that another one has, but admins, and submitters where only they may.
fn decided(moment: &Moment<'_>, held: Option<&Assignment>, report: &mut Report) -> Checked {
    let (leaf, by) = (&moment.event.leaf, &moment.event.detail.actor);
    let Some(held) = held.filter(|held| held.until > leaf.at) else { return Ok(()) };
    let Right::Role(role) = leaf.right else { return Ok(()) };
    let state = moment.book.pipeline.state(&moment.stood().state).ok_or("it is in no state")?;
    let mut edges = state.actions.iter().flat_map(|action| &action.edges);
    let apart = role == Role::Admin || held.to == *by || edges.any(|edge| edge.only_submitter);
    ensure!(apart, "{by} decided in the review of {}", held.to);
    report.count("review/decided");
    Ok(())
}

pub(super) fn answered(law: &Law, before: &Submission, asked: &Review, outcome: &Reply) -> Checked {
    let id = before.id;
    let revision_fits = asked.if_match.is_none_or(|seen| seen == before.revision);
    let refusal = match outcome {
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => return Ok(()),
        Ok(Output::Submission(_)) => {
            ensure!(revision_fits, "{id} was disposed of at another revision than the caller saw");
            return Ok(());
        }
        Ok(other) => return Err(finding!("a review was answered {other:?}")),
        Err(refusal) => refusal,
    };
    let book = law.of(before)?;
    let state = book.pipeline.state(&before.state).ok_or("it is in a state that does not exist")?;
    let mut edges = state.actions.iter().flat_map(|action| &action.edges);
    let span = match &asked.step {
        ReviewStep::Claim { span } | ReviewStep::HandOver { span, .. } => span.unwrap_or(CLAIM_DEFAULT),
        ReviewStep::Release => CLAIM_DEFAULT,
    };
    let justified = match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => true,
        Code::RevisionMismatch => !revision_fits,
        Code::NotInReview => before.wait != Wait::Person,
        Code::RoleRequired => !edges.any(|edge| state.may(edge, &asked.caller)),
        Code::ReviewTaken => before.assignment.as_ref().is_some_and(|held| held.to != asked.caller.name),
        Code::InvalidRequest => span > CLAIM_MAX,
        _ => false,
    };
    ensure!(justified, "a review of {id} was refused: {refusal}");
    Ok(())
}

pub(super) fn noted(before: &Submission, asked: &Note, outcome: &Reply) -> Checked {
    let revision_fits = asked.if_match.is_none_or(|seen| seen == before.revision);
    let refusal = match outcome {
        Ok(Output::Submission(answered)) if answered.row.revision <= before.revision => return Ok(()),
        Ok(Output::Submission(answered)) => {
            ensure!(answered.row.notes > before.notes && revision_fits, "a note was taken and is not there");
            return Ok(());
        }
        Ok(other) => return Err(finding!("a note was answered {other:?}")),
        Err(refusal) => refusal,
    };
    let justified = match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::IdempotencyMismatch => true,
        Code::RevisionMismatch => !revision_fits,
        Code::RoleRequired => asked.caller.role == Role::Viewer,
        Code::InvalidRequest => asked.text.trim().is_empty(),
        Code::TooLarge => before.notes >= NOTES_MAX,
        _ => false,
    };
    ensure!(justified, "a note on {} was refused: {refusal}", before.id);
    Ok(())
}

/// The lists of what waits for people are a recount: of each state, of what nobody has in it, and of each reviewer.
pub(super) fn listed(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut known: BTreeMap<Name, Vec<(Time, SubmissionId)>> = BTreeMap::new();
    for row in ledger.rows() {
        let (pipeline, state) = (row.pipeline.clone(), row.state.clone());
        let all = ReviewList::All { pipeline: pipeline.clone(), state: state.clone() };
        let free = ReviewList::Unassigned { pipeline, state };
        let waits = row.wait == Wait::Person;
        for (list, is_in) in [(all, waits), (free, waits && row.assignment.is_none())] {
            let list = known.entry(list.name()).or_default();
            list.extend(is_in.then(|| (review_due(row), row.id)));
        }
        if let Some(held) = row.assignment.as_ref().filter(|_| waits) {
            let list = known.entry(ReviewList::Of(held.to.clone()).name()).or_default();
            list.push((review_due(row), row.id));
        }
    }
    for (list, mut expected) in known {
        expected.sort_unstable();
        let late = Late { pipeline: list.clone(), until: Time::MAX, after: None, limit: 1_000 };
        let page = store.late(&late).map_err(|error| finding!("the store cannot be read: {error}"))?;
        let found: Vec<_> = page.iter().map(|row| (review_due(row), row.id)).collect();
        ensure!(found == expected, "in the list {list:?} are\n{found:?}\nand should be\n{expected:?}");
    }
    Ok(())
}
