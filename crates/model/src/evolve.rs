//! The row after an event. No pipeline, no decision: the event already says everything.

use crate::event::{Change, Entry, Event, Leaf, Migrated, Moved, Spent, Submitted};
use crate::person::is_same;
use crate::submission::{Cause, Documents, GivenBack, Investigation, Status, Submission, Wait};
use crate::{Digest, Right};

/// Applies one event. `row` is `None` exactly for the first.
///
/// # Panics
/// Panics if the event does not follow the row: a later event without a row, or a revision that is not the next.
#[must_use]
pub fn evolve(row: Option<Submission>, event: &Event) -> Submission {
    let hash = Leaf::hash(&event.leaf.bytes());
    evolve_hashed(row, event, hash)
}

/// `evolve` for whoever has hashed the leaf already.
pub(crate) fn evolve_hashed(row: Option<Submission>, event: &Event, hash: Digest) -> Submission {
    let mut row = match (&event.detail.change, row) {
        (Change::Submitted(submitted), None) => first(event, submitted),
        (_, Some(row)) => later(row, event),
        (_, None) => panic!("the first event of a submission is its submission"),
    };
    row.revision = event.leaf.revision;
    row.leaf = hash;
    row.timer = row.deadline();
    row
}

fn first(event: &Event, submitted: &Submitted) -> Submission {
    let leaf = &event.leaf;
    let mut row = Submission::blank(submitted.pipeline.clone(), submitted.version, leaf.at);
    row.id = leaf.submission;
    row.state = leaf.to.clone();
    row.priority_given = submitted.priority_given;
    row.key = submitted.key.clone();
    row.labels = submitted.labels.clone();
    row.parent = submitted.parent;
    row.key_waits = submitted.key_waits;
    row.payload_revision = leaf.revision;
    row.ttl_at = submitted.ttl_at;
    row.submitter = submitted.submitter.as_ref().unwrap_or(&event.detail.actor).clone();
    row.on_behalf_of = submitted.on_behalf_of.clone();
    row.trace = submitted.trace.clone();
    row.error = submitted.error.clone();
    row.enter(event, &submitted.entry);
    row
}

fn later(mut row: Submission, event: &Event) -> Submission {
    assert_eq!(event.leaf.revision, row.revision + 1, "events of a submission follow each other");
    // A lease ended by anything but its own settlement was revoked: the number moves on, so its token is dead even
    // before the next grant.
    let keeps = match &event.detail.change {
        Change::Amended(amended) => amended.wait.is_none(),
        Change::Migrated(migrated) => migrated.stays,
        Change::Late { .. }
        | Change::Approved(_)
        | Change::Acknowledged { .. }
        | Change::Assigned(_)
        | Change::Released
        | Change::Noted => true,
        _ => false,
    };
    if let Wait::Lease(lease) = &row.wait
        && event.leaf.right != Right::Lease(lease.no)
        && !keeps
    {
        row.lease_no += 1;
    }
    match &event.detail.change {
        Change::Submitted(_) => panic!("a submission is submitted once"),
        Change::Refused { .. } | Change::Merged { .. } => panic!("what never was a submission has no row"),
        Change::Moved(moved) => row.leave(event, moved),
        Change::Retried { error, rule, until } => {
            *row.failures.entry(rule.clone()).or_default() += 1;
            row.attempt += 1;
            row.crashes = 0;
            row.given_back = GivenBack::default();
            row.error = Some(error.clone());
            row.wait = Wait::Delay { until: *until, cause: Cause::Retry };
        }
        Change::Crashed { task, rank, .. } => {
            row.crashes += 1;
            row.wait = Wait::Worker { task: task.clone(), rank: *rank };
        }
        Change::Died { error, kept, seat, spent } => {
            row.spend(*spent);
            row.seat = seat.clone();
            row.parked = None;
            row.request = None;
            row.assignment = None;
            row.status = Status::Dead;
            row.failed_from = Some(row.state.clone());
            row.error = Some(error.clone());
            row.kept = kept.clone();
            row.wait = Wait::Redrive;
        }
        Change::Requested { request, task, rank } => {
            row.request = Some((**request).clone());
            row.approvals.clear();
            row.assignment = None;
            // It joins another queue than the one it may have been set aside from.
            row.parked = None;
            row.anew();
            row.status = Status::Open;
            row.finished_at = None;
            row.wait = Wait::Worker { task: task.clone(), rank: *rank };
        }
        Change::Abandoned { error, wait, status } => {
            row.status = *status;
            row.finished_at = status.is_final().then_some(row.entered_at);
            row.anew();
            row.request = None;
            row.error = Some(error.clone());
            row.wait = wait.clone();
        }
        Change::Amended(amended) => {
            row.labels = amended.labels.clone();
            row.priority = amended.priority;
            row.payload_revision = event.leaf.revision;
            // What parked it went by labels that may be others now; who agreed has seen another payload.
            row.parked = None;
            row.approvals.clear();
            if let Some(wait) = &amended.wait {
                row.wait = wait.clone();
            }
        }
        Change::Erased => {
            row.erase_at = None;
            row.erased = true;
        }
        Change::Forgotten => row.forget_at = None,
        Change::Late { clocks } => {
            row.clocks.iter_mut().filter(|clock| clocks.contains(&clock.leg)).for_each(|clock| {
                clock.late = true;
            });
        }
        Change::Approved(approval) => {
            row.approvals.push(approval.clone());
            // Whoever has agreed is done with it; the next one may take it on.
            row.assignment = row.assignment.take().filter(|held| !is_same(&held.to, &approval.by));
        }
        Change::Assigned(assignment) => row.assignment = Some(assignment.clone()),
        Change::Released => row.assignment = None,
        Change::Noted => row.notes += 1,
        Change::Acknowledged { note } => {
            let (by, at) = (event.detail.actor.clone(), event.leaf.at);
            row.investigate = Some(Investigation::Acknowledged { by, at, note: note.clone() });
        }
        Change::Migrated(migrated) => row.migrate(event, migrated),
        Change::Sealed => {
            row.anew();
            row.sealed = true;
            row.wait = Wait::Children;
        }
        Change::Redriven { wait, seat } => {
            row.anew();
            row.requeues += 1;
            row.status = Status::Open;
            row.kept = None;
            row.seat = seat.clone();
            row.wait = wait.clone();
        }
    }
    row
}

impl Submission {
    fn leave(&mut self, event: &Event, moved: &Moved) {
        let left = std::mem::replace(&mut self.state, event.leaf.to.clone());
        if moved.reopened {
            self.requeues += 1;
        }
        if moved.good {
            self.last_good = Some(left.clone());
        }
        let failed = moved.error.is_some() || moved.entry.status == Status::Failed;
        if failed && !moved.carried {
            self.failed_from = Some(left.clone());
        }
        self.spend(moved.spent);
        self.from = Some(left);
        self.error = moved.error.clone();
        self.enter(event, &moved.entry);
    }

    fn enter(&mut self, event: &Event, entry: &Entry) {
        self.anew();
        self.request = None;
        self.kept = None;
        self.entered_at = event.leaf.at;
        self.status = entry.status;
        // One that has ended waits for its key no more.
        self.key_waits &= !entry.status.is_final();
        self.finished_at = entry.status.is_final().then_some(event.leaf.at);
        self.priority = entry.priority;
        self.state_ttl_at = entry.state_ttl_at;
        self.seat = entry.seat.clone();
        self.parked = None;
        self.erase_at = entry.erase_at;
        self.forget_at = entry.forget_at;
        self.clocks = entry.clocks.clone();
        self.approvals.clear();
        self.assignment = None;
        self.investigate = entry.investigate.then_some(Investigation::Open);
        self.wait = entry.wait.clone();
    }

    /// Enters a state of another version, except that the row has been there for a while.
    fn migrate(&mut self, event: &Event, migrated: &Migrated) {
        self.version = migrated.version;
        self.labels = migrated.labels.clone();
        self.ttl_at = migrated.ttl_at;
        self.state = event.leaf.to.clone();
        self.failed_from = migrated.failed_from.clone();
        self.last_good = migrated.last_good.clone();
        if !migrated.stays {
            self.anew();
        }
        let entry = &migrated.entry;
        self.status = entry.status;
        self.priority = entry.priority;
        self.state_ttl_at = entry.state_ttl_at;
        self.seat = entry.seat.clone();
        self.clocks = entry.clocks.clone();
        self.parked = None;
        self.approvals.clear();
        self.assignment = None;
        // One that stays in its queue may have another place there, by another priority.
        let ranked = matches!((&self.wait, &entry.wait), (Wait::Worker { .. }, Wait::Worker { .. }));
        if !migrated.stays || ranked {
            self.wait = entry.wait.clone();
        }
    }

    fn spend(&mut self, spent: Option<Spent>) {
        match spent {
            None => {}
            Some(Spent::State) => self.state_ttl_at = None,
            Some(Spent::Pipeline) => self.ttl_at = None,
        }
    }

    /// Tries are counted per visit.
    fn anew(&mut self) {
        self.attempt = 1;
        self.failures.clear();
        self.crashes = 0;
        self.given_back = GivenBack::default();
    }
}

/// Adds what an event brings to a submission's documents.
pub fn evolve_documents(documents: &mut Documents, event: &Event) {
    for (name, body) in event.named_documents() {
        documents.set(&name, body);
    }
}
