//! Actions that need several people, or somebody else than the submitter: nobody is counted twice, and none is missing.

use model::event::Change;
use model::pipeline::{By, Edge};
use model::{Name, Right};

use super::timing::Moment;
use super::{Checked, ensure};
use crate::finding::Finding;

/// One thing somebody did, or agreed to.
struct Wish<'a> {
    action: &'a Name,
    to: &'a Name,
    by: &'a Name,
}

pub(super) fn check(moment: &Moment<'_>) -> Checked {
    let (leaf, row) = (&moment.event.leaf, moment.stood());
    let by = &moment.event.detail.actor;
    match &moment.event.detail.change {
        Change::Approved(approval) => {
            let wish = Wish { action: &approval.action, to: &approval.to, by: &approval.by };
            ensure!(approval.by == *by, "somebody agreed in another's name");
            ensure!(!row.approvals.contains(approval), "{by} was counted twice");
            let edges = edges(moment, &wish)?;
            let few = edges.iter().any(|edge| others(moment, &wish) + 1 < edge.approvals as usize);
            ensure!(few, "enough had agreed to `{}`, and it was not done", wish.action);
            somebody_else(moment, &wish, &edges)
        }
        Change::Requested { request, .. } => {
            carried(moment, &Wish { action: &request.action, to: &request.to, by })
        }
        // After its task, a request moves in the name of whoever was granted it.
        Change::Moved(_) if matches!(leaf.right, Right::Role(_)) && row.request.is_none() => {
            let mut last = Ok(());
            for way in moment.book.ways(moment.event)? {
                let By::Action(action) = way else { continue };
                last = carried(moment, &Wish { action, to: &leaf.to, by });
                if last.is_ok() {
                    break;
                }
            }
            last
        }
        _ => Ok(()),
    }
}

/// Checks an action that was done: with all who had to agree.
fn carried(moment: &Moment<'_>, wish: &Wish<'_>) -> Checked {
    let edges = edges(moment, wish)?;
    let agreed = others(moment, wish) + 1;
    let enough = edges.iter().any(|edge| agreed >= edge.approvals as usize);
    ensure!(enough, "`{}` was done when {agreed} had agreed", wish.action);
    somebody_else(moment, wish, &edges)
}

fn somebody_else(moment: &Moment<'_>, wish: &Wish<'_>, edges: &[&Edge]) -> Checked {
    let allowed = *wish.by != moment.stood().submitter || edges.iter().any(|edge| edge.self_approval);
    ensure!(allowed, "the submitter themselves did or agreed to `{}`", wish.action);
    Ok(())
}

/// The edges it may have been.
fn edges<'a>(moment: &Moment<'a>, wish: &Wish<'_>) -> Result<Vec<&'a Edge>, Finding> {
    let state = moment.book.pipeline.state(&moment.stood().state);
    let action = state.and_then(|state| state.action(wish.action)).ok_or("there is no such action")?;
    Ok(action.edges.iter().filter(|edge| edge.targets().contains(wish.to)).collect())
}

/// Counts the others that had agreed to the same.
fn others(moment: &Moment<'_>, wish: &Wish<'_>) -> usize {
    let approvals = moment.stood().approvals.iter();
    approvals.filter(|yes| yes.action == *wish.action && yes.to == *wish.to && yes.by != *wish.by).count()
}
