//! Owed effects and holds: what one commit writes and a later one applies.

use model::command::Child;
use model::owed::{DELIVERY, Delivery, Effect, Recipient};
use model::{Code, Command, Json, Name, Owed, Pipeline, Refusal, Submission, SubmissionId};
use store::{LaneView, OpenKey, OwedId, OwedTo, Received};

use super::administered;
use super::commit::Commit;
use super::{LaneKey, Output, Reply};
use crate::bounds;
use crate::holds::{Hold, KeptHolds};
use crate::registry::EntryKey;

/// The submitter of what notifications become. No application in the database has such a name: theirs begin with
/// `sql:`.
pub(super) const NOTIFIER: &str = "notify";

impl Commit<'_> {
    /// Writes down what a decision means for others.
    ///
    /// `cause` has the version that this commit gives it: turns in queues have no revision of their own, and debts of the
    /// event before may not be paid yet.
    pub(super) fn owe(&mut self, cause: &Submission, owed: impl Iterator<Item = Owed>) {
        for owed in owed {
            if let Effect::Deliver(delivery) = &owed.effect {
                self.send(delivery);
                continue;
            }
            if let Recipient::Children { of, pipeline } = &owed.to {
                self.cancel_children(*of, pipeline, cause.revision);
                continue;
            }
            let same = |id: &OwedId| id.submission == cause.id && id.revision == cause.revision;
            let written = self.changes.owed.iter().chain(self.lanes_left.iter().map(|(_, owed)| owed));
            let count = written.filter(|owed| same(&owed.id)).count() as u64;
            let id = OwedId::of_row(cause.id, cause.revision, cause.row_version, count);
            let to = match owed.to {
                Recipient::Submission(id) => OwedTo::Submission(id),
                Recipient::Key { pipeline, key } => OwedTo::Key(OpenKey { pipeline, key }),
                Recipient::Lane { pipeline, lane } => OwedTo::Lane(LaneKey { pipeline, lane }),
                Recipient::Parked(hold) => OwedTo::Parked(hold),
                Recipient::FirstParked(limit) => OwedTo::FirstParked(limit),
                Recipient::Children { .. } => unreachable!("an operation tells them"),
            };
            let owed = store::Owed { id, to, body: effect(&owed.effect) };
            match &owed.to {
                OwedTo::Lane(lane) if self.hands_over(lane) => {
                    // One look serves all who wait for it.
                    if !self.lanes_left.iter().any(|(left, _)| left == lane) {
                        self.lanes_left.push((lane.clone(), owed));
                    }
                }
                _ => self.changes.owed.push(owed),
            }
        }
    }

    /// Tells whether a lane without a holder is given to somebody at the end of the batch, because its line is known.
    fn hands_over(&self, lane: &LaneKey) -> bool {
        self.taken.successors.contains_key(lane)
            || (self.contested.contains(lane) && self.taken.lanes.contains_key(lane))
    }

    /// A lane without a holder goes to the first in line in the same commit, where it can be told who that is. Otherwise
    /// it is owed.
    pub(super) fn hand_over_lanes(&mut self) {
        for (lane, owed) in std::mem::take(&mut self.lanes_left) {
            self.contested.remove(&lane);
            let view = self.taken.lanes.get(&lane).copied().unwrap_or_default();
            let before = self.taken.successors.remove(&lane).unwrap_or(view.first);
            let Some(first) = self.first_in_line(&lane, before) else {
                self.changes.owed.push(owed);
                continue;
            };
            self.lanes_moved.remove(&lane);
            self.taken.lanes.insert(lane.clone(), LaneView { holder: None, first });
            if !self.pass_lane(&lane) {
                self.changes.owed.push(owed);
            }
        }
    }

    /// A message to the outside goes into the inbox: a later commit makes it a submission, or an event that says why not,
    /// like anything else that nobody waits for. Its id says what it is, so it is made once.
    fn send(&mut self, delivery: &Delivery) {
        self.changes.received.push(Received {
            id: delivery.id(self.now),
            submitter: NOTIFIER.into(),
            pipeline: DELIVERY.into(),
            payload: delivery.payload().as_str().to_owned(),
            key: None,
            priority: None,
            not_before: None,
            reason: None,
        });
    }

    /// A version in force is never retired: what notifies somebody once its messages have somewhere to go always can.
    pub(super) fn check_delivery(&self, pipeline: &Pipeline) -> Result<(), Refusal> {
        if pipeline.notify.is_empty() || self.definitions().in_force(DELIVERY).is_some() {
            return Ok(());
        }
        let message = format!(
            "`{}` notifies people, and there is no pipeline `{DELIVERY}` to carry that; apply it first",
            pipeline.name
        );
        Err(Refusal::new(Code::InvalidDefinition, message))
    }

    /// Applies what was owed, each once. What cannot be finished now stays owed.
    /// `parked`: so many of what a hold parked have been looked at.
    pub(super) fn pay_owed(&mut self, parked: usize) {
        for owed in self.taken.owed.clone() {
            let paid = match &owed.to {
                OwedTo::Lane(lane) => self.pass_lane(lane),
                OwedTo::Key(key) => self.pass_key(key),
                OwedTo::Parked(hold) => self.let_go(hold, parked),
                OwedTo::FirstParked(limit) => self.let_in(limit),
                OwedTo::Submission(id) => self.tell_of_child(*id, &owed.body),
            };
            if paid {
                self.changes.paid.push(owed.id);
            }
        }
    }

    /// A parent hears of its child. One that was forgotten hears nothing.
    fn tell_of_child(&mut self, parent: SubmissionId, body: &Json) -> bool {
        if let Ok(Effect::Child { before, after }) = serde_json::from_str(body.as_str())
            && self.taken.rows.contains_key(&parent)
        {
            self.parks(parent, &Command::Child(Child { before, after }));
        }
        true
    }

    /// To the first in line. A held one is taken out of the line, and the next look finds the next.
    fn pass_lane(&mut self, lane: &LaneKey) -> bool {
        if self.lanes_moved.contains(lane) {
            return false;
        }
        let view = self.taken.lanes.get(lane).copied().unwrap_or_default();
        match (view.holder, view.first) {
            (None, Some(first)) => !self.parks(first, &Command::Seat),
            _ => true,
        }
    }

    fn pass_key(&mut self, key: &OpenKey) -> bool {
        if !self.taken.holders.contains_key(key)
            && let Some(waiter) = self.taken.waiters.get(key).copied()
        {
            self.parks(waiter, &Command::TakeKey);
            // It may have ended in this batch: then somebody else waits longest.
            return self.taken.holders.get(key) == Some(&waiter);
        }
        true
    }

    /// Puts what a hold parked back into its queues, so many at a time.
    fn let_go(&mut self, hold: &Name, most: usize) -> bool {
        let parked = self.taken.parked.get(hold).cloned().unwrap_or_default();
        for id in &parked {
            self.parks(*id, &Command::Unpark);
        }
        parked.len() < most
    }

    /// The first of those a limit keeps out. A held one is set aside for its hold, and the next look finds the next.
    fn let_in(&mut self, limit: &Name) -> bool {
        let Some(first) = self.taken.parked.get(limit).and_then(|parked| parked.first()).copied() else {
            return true;
        };
        // Let in already, by another debt of this batch: who comes next is not known before the next one.
        let still =
            self.taken.rows.get(&first).is_some_and(|stored| stored.row.parked.as_ref() == Some(limit));
        still && !self.parks(first, &Command::Unpark)
    }

    /// Tells a submission something nobody waits for an answer to. Whether a hold took it out of its queue instead.
    fn parks(&mut self, id: SubmissionId, command: &Command) -> bool {
        let seed = self.draw();
        match self.command(id, command, seed) {
            Ok(answer) => answer == model::decide::Answer::Parked,
            Err(refusal) => {
                tracing::error!(submission = %id, code = refusal.code.as_str(), "{refusal}");
                false
            }
        }
    }

    /// The first of what is parked under each name gets another look: if nothing keeps it any more, it goes on.
    pub(super) fn look_aside(&mut self, names: &[Name]) {
        let revision = u64::try_from(self.now.millis()).unwrap_or(0);
        let overdue: Vec<_> =
            names.iter().filter(|name| !self.holds.all().any(|hold| hold.id == **name)).collect();
        for name in overdue {
            // Each name has ids of its own: another server may look at others at the same time.
            let id =
                OwedId { submission: SubmissionId::of_series(&format!("aside/{name}")), revision, no: 0 };
            let to = OwedTo::FirstParked(name.clone());
            self.changes.owed.push(store::Owed { id, to, body: effect(&Effect::Freed) });
        }
    }

    pub(super) fn place(&mut self, hold: &Hold) -> Reply {
        if hold.expires_at.is_some_and(|at| at <= self.now) {
            let message = "`expires_at` is over already: such a hold would stop nothing";
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        self.check_bound(&bounds::HOLDS, |subject| bounds::Taken {
            all: self.holds.all().count(),
            own: self.holds.all().filter(|hold| *hold.owner.name == *subject).count(),
        })?;
        let hold = Hold { created_at: self.now, ..hold.clone() };
        self.put(&hold_key(&hold.id), &hold);
        self.holds.insert(hold.clone());
        self.holds_changed = true;
        self.next_epoch();
        self.administered("hold-placed", &hold.id, &administered::of_hold(&hold));
        Ok(Output::Hold(Box::new(hold)))
    }

    pub(super) fn release(&mut self, id: &Name) -> Reply {
        match self.end_hold(id) {
            Some(hold) => {
                self.administered("hold-released", id, &[]);
                Ok(Output::Hold(Box::new(hold)))
            }
            None => Err(Refusal::new(Code::UnknownHold, format!("no hold {id}; it may have expired"))),
        }
    }

    /// Ends the holds whose time has come.
    pub(super) fn end_holds(&mut self) {
        for id in self.holds.expired(self.now) {
            self.end_hold(&id);
            self.administered("hold-expired", &id, &[]);
        }
    }

    fn end_hold(&mut self, id: &Name) -> Option<Hold> {
        let hold = self.holds.remove(id)?;
        self.holds_changed = true;
        self.next_epoch();
        self.remove(&hold_key(id));
        // Owed by the hold itself: its id is a UUID like a submission's. It may end, be placed again and end again, and the
        // end before may be paid for in this very commit: each has an epoch of its own, and one look serves all of a commit.
        let cause = id.parse().unwrap_or(SubmissionId::NIL);
        let id = OwedId { submission: cause, revision: self.epoch, no: 0 };
        if !self.changes.owed.iter().any(|owed| owed.id == id) {
            let to = OwedTo::Parked(hold.id.clone());
            self.changes.owed.push(store::Owed { id, to, body: effect(&Effect::Freed) });
        }
        Some(hold)
    }
}

fn hold_key(id: &Name) -> EntryKey<KeptHolds> {
    EntryKey::new(&**id)
}

fn effect(effect: &Effect) -> Json {
    Json::from_stored(&serde_json::to_string(effect).expect("an effect has only string keys"))
}
