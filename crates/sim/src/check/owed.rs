//! Checks what is owed: written by one commit, applied by another, and never lost in between.

use std::collections::BTreeMap;

use model::owed::Effect;
use model::{Name, Status, Submission, SubmissionId};
use store::entries::{held_lane, unheld_key, unheld_lane};
use store::{LaneKey, OpenKey, Owed, OwedId, OwedTo, RowChange};

use crate::faults::Commit;
use crate::report::Report;

#[derive(Debug, Default)]
pub(crate) struct Debts {
    /// The effects that are owed now.
    pub(super) open: BTreeMap<OwedId, Owed>,
    /// The submissions that were owed something at some time of the step being checked.
    seen: Vec<OwedTo>,
    /// Lanes that were left in the step being checked: whoever came next may have got them at once.
    left: Vec<LaneKey>,
}

impl Debts {
    pub(super) fn begin(&mut self) {
        self.seen = self.open.values().map(|owed| owed.to.clone()).collect();
        self.left.clear();
    }

    pub(super) fn take(&mut self, commit: &Commit, report: &mut Report) {
        for owed in &commit.changes.owed {
            let kind = match &owed.to {
                OwedTo::Submission(_) => "child",
                OwedTo::Key(_) => "key",
                OwedTo::Lane(_) => "lane",
                OwedTo::Parked(_) => "parked",
                OwedTo::FirstParked(_) => "limit",
            };
            report.count(format!("owed/{kind}"));
            self.seen.push(owed.to.clone());
            self.open.entry(owed.id.clone()).or_insert_with(|| owed.clone());
        }
        for id in &commit.changes.paid {
            self.open.remove(id);
        }
        let leaves = |change: &&RowChange| held_lane(&change.after).is_none();
        let left = commit.changes.rows.iter().filter(leaves);
        self.left.extend(left.filter_map(|change| held_lane(change.before.as_deref()?)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn to_lane(&self, lane: &LaneKey) -> bool {
        self.open.values().any(|owed| matches!(&owed.to, OwedTo::Lane(to) if to == lane))
    }

    pub(super) fn to_key(&self, key: &OpenKey) -> bool {
        self.open.values().any(|owed| matches!(&owed.to, OwedTo::Key(to) if to == key))
    }

    /// To what a hold or a limit set aside.
    pub(super) fn to_parked(&self, name: &Name) -> bool {
        let of_it =
            |owed: &Owed| matches!(&owed.to, OwedTo::Parked(to) | OwedTo::FirstParked(to) if to == name);
        self.open.values().any(of_it)
    }

    /// The changes of children their parent has not heard of.
    pub(super) fn to_parent(&self, id: SubmissionId) -> impl Iterator<Item = (Status, Status)> {
        let effects = self.open.values().filter(move |owed| owed.to == OwedTo::Submission(id));
        effects.filter_map(|owed| match serde_json::from_str(owed.body.as_str()) {
            Ok(Effect::Child { before, after }) => Some((before, after)),
            _ => None,
        })
    }

    /// Tells whether the lane that a row stood in line for was left in this step.
    pub(super) fn follows(&self, row: &Submission) -> bool {
        unheld_lane(row).is_some_and(|lane| self.left.contains(&lane))
    }

    /// Tells whether something owed in this step can have changed a row that stood like this.
    pub(super) fn concerned(&self, row: &Submission) -> bool {
        self.seen.iter().any(|to| match to {
            OwedTo::Submission(id) => *id == row.id,
            OwedTo::Key(key) => unheld_key(row).as_ref() == Some(key),
            OwedTo::Lane(lane) => unheld_lane(row).as_ref() == Some(lane),
            OwedTo::Parked(name) | OwedTo::FirstParked(name) => row.parked.as_ref() == Some(name),
        })
    }
}
