//! The stand of a submission between two events: what makes an event that is legal somewhere legal now.

use model::event::Kind;
use model::{Digest, Right, Time};

use super::finding::{Fault, Finding};
use super::rules::{Due, Means, Rules, Verdict, Way, illegal};
use crate::leaf::EventLeaf;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stand {
    pub(super) state: usize,
    /// Set if the submission's past is known. Where a log was pruned, it is known again from the next move on.
    known: bool,
    dead: bool,
    redriven: bool,
    attempt: u32,
    /// The last lease that settled something.
    lease: u64,
    entered_at: Time,
    created_at: Time,
    pending: Option<Box<Pending>>,
    /// Set if somebody has looked into how the submission ended.
    acknowledged: bool,
    /// Set if the review was somebody's since the state was entered.
    assigned: bool,
}

/// An action that was granted and whose task runs.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    actor: Digest,
    right: Right,
    /// The edges it may take.
    ways: Vec<Way>,
}

/// The edges of a verdict that were open.
#[derive(Debug)]
pub(super) enum Taken {
    Any,
    OneOf(Vec<Way>),
}

impl Stand {
    /// Returns the stand after a submission's first event.
    pub(super) fn first(leaf: &EventLeaf<'_>, verdict: &Verdict) -> Result<Self, Finding> {
        if leaf.attempt != 1 {
            return Err(illegal("the first attempt is number 1"));
        }
        Ok(Stand { known: true, ..Stand::middle(leaf, verdict) })
    }

    /// Returns the stand after an event whose past was pruned.
    pub(super) fn middle(leaf: &EventLeaf<'_>, verdict: &Verdict) -> Self {
        let mut stand = Stand {
            state: verdict.to,
            known: false,
            dead: false,
            redriven: false,
            attempt: 1,
            lease: 0,
            entered_at: leaf.at,
            created_at: leaf.at,
            pending: None,
            acknowledged: false,
            assigned: false,
        };
        stand.known = leaf.kind == Kind::Moved;
        if let Right::Lease(no) = leaf.right {
            stand.lease = no;
        }
        stand
    }

    /// The edges an event that fits the definition may have taken as things stand.
    pub(super) fn allow(
        &self,
        rules: &Rules,
        leaf: &EventLeaf<'_>,
        verdict: &Verdict,
    ) -> Result<Taken, Finding> {
        if verdict.from != Some(self.state) {
            let stood = &rules.state(self.state).name;
            return Err(illegal(format!(
                "it stood in {stood}, not in {}",
                leaf.from.as_deref().unwrap_or("none")
            )));
        }
        if let Right::Lease(no) = leaf.right
            && no <= self.lease
        {
            let message = format!("lease {no} comes after lease {}, and each settles once", self.lease);
            return Err(Finding::new(Fault::Right, message));
        }
        if !self.known {
            return Ok(Taken::Any);
        }
        if leaf.attempt != self.attempt {
            return Err(illegal(format!("it is attempt {}, not {}", self.attempt, leaf.attempt)));
        }
        if leaf.kind == Kind::Moved {
            return self.allow_move(rules, leaf, verdict);
        }
        self.allow_note(rules, leaf)?;
        Ok(Taken::Any)
    }

    fn allow_note(&self, rules: &Rules, leaf: &EventLeaf<'_>) -> Result<(), Finding> {
        let state = rules.state(self.state);
        let working = !self.dead && (state.task().is_some() || self.pending.is_some());
        let allowed = match leaf.kind {
            Kind::Submitted | Kind::Refused | Kind::Merged => false,
            Kind::Retried | Kind::Crashed => working,
            Kind::Sealed => working && self.pending.is_none(),
            Kind::Abandoned => self.pending.is_some(),
            Kind::Redriven => self.dead,
            Kind::Amended => !state.is_final() || self.dead || self.pending.is_some(),
            Kind::Erased | Kind::Forgotten => !self.dead && self.pending.is_none(),
            Kind::Late => !state.is_final() || self.pending.is_some(),
            Kind::Acknowledged => !self.dead && self.pending.is_none() && !self.acknowledged,
            Kind::Assigned => !self.dead && self.pending.is_none(),
            Kind::Released => !self.dead && self.pending.is_none() && self.assigned,
            Kind::Noted => true,
            // While the task of a granted action runs, another action may still be asked for, by several people if need
            // be: whoever has the last word ends the task, as with an action that needs one.
            Kind::Approved | Kind::Died | Kind::Requested | Kind::Moved | Kind::Migrated => true,
        };
        if allowed {
            Ok(())
        } else {
            Err(illegal(format!("it cannot be {} as it stands", leaf.kind.as_str())))
        }
    }

    fn allow_move(&self, rules: &Rules, leaf: &EventLeaf<'_>, verdict: &Verdict) -> Result<Taken, Finding> {
        let mut refused = None;
        let mut ways = Vec::new();
        for way in &verdict.ways {
            match self.check_way(rules, leaf, way) {
                Ok(()) => ways.push(*way),
                Err(finding) => refused = refused.or(Some(finding)),
            }
        }
        match refused {
            None => Ok(Taken::Any),
            Some(finding) if ways.is_empty() => Err(finding),
            Some(_) => Ok(Taken::OneOf(ways)),
        }
    }

    fn check_way(&self, rules: &Rules, leaf: &EventLeaf<'_>, way: &Way) -> Result<(), Finding> {
        let reopens = way.by == Means::Children && rules.state(self.state).is_final();
        let leaves_death = matches!(way.by, Means::Action | Means::Ttl | Means::ParentCancelled);
        if self.dead && !leaves_death && !reopens {
            return Err(illegal("a dead letter goes on only when it is redriven, acted on or expires"));
        }
        if way.by == Means::Outcome && leaf.right == Right::Rule && !self.redriven {
            let message = "an outcome without a lease is followed only after a redrive";
            return Err(Finding::new(Fault::Right, message));
        }
        if way.by == Means::Outcome && self.pending.is_some() {
            return Err(illegal("the task that ran was that of a granted action"));
        }
        if way.by == Means::Crashed && (rules.state(self.state).task().is_none() || self.pending.is_some()) {
            return Err(illegal("no worker of the state's own task can have crashed"));
        }
        // An action with a task moves in the name of whoever was granted it.
        let granted = self.pending.as_ref().is_some_and(|pending| {
            let named = way.by_system || pending.actor == leaf.actor_id;
            named && pending.right == leaf.right && pending.ways.contains(way)
        });
        if way.task && !granted {
            return Err(illegal("the action has a task and was not granted to this actor before"));
        }
        let due = match way.due {
            Due::Always => return Ok(()),
            Due::SinceEntry(span) => rules.pipeline.over(span, None, self.entered_at),
            Due::SinceSubmission(span) => rules.pipeline.over(span, None, self.created_at),
            Due::Missed => match &rules.state(self.state).sla {
                Some(sla) => match sla.target.or(sla.p95) {
                    Some(span) => rules.pipeline.due(sla, span, self.entered_at),
                    None => return Ok(()),
                },
                None => return Ok(()),
            },
            Due::At(time) => time,
        };
        // Before it was entered: the clock was set back in between, and what waited for its turn first counts from then.
        if leaf.at >= due || leaf.at < self.entered_at {
            return Ok(());
        }
        Err(illegal(format!("it was not due before {due} and happened at {}", leaf.at)))
    }

    /// Changes the stand to the one after the event.
    pub(super) fn after(&mut self, leaf: &EventLeaf<'_>, verdict: &Verdict) {
        if let Right::Lease(no) = leaf.right {
            self.lease = no;
        }
        self.redriven = leaf.kind == Kind::Redriven;
        match leaf.kind {
            Kind::Submitted | Kind::Moved => {
                (self.known, self.dead, self.pending, self.attempt) = (true, false, None, 1);
                (self.state, self.entered_at) = (verdict.to, leaf.at);
                (self.acknowledged, self.assigned) = (false, false);
            }
            Kind::Retried => self.attempt = self.attempt.saturating_add(1),
            Kind::Died => (self.dead, self.pending) = (true, None),
            Kind::Requested => {
                let pending = Pending { actor: leaf.actor_id, right: leaf.right, ways: verdict.ways.clone() };
                (self.dead, self.pending, self.attempt) = (false, Some(Box::new(pending)), 1);
            }
            Kind::Abandoned => (self.pending, self.attempt) = (None, 1),
            Kind::Redriven => (self.dead, self.attempt) = (false, 1),
            Kind::Sealed => self.attempt = 1,
            Kind::Acknowledged => self.acknowledged = true,
            Kind::Assigned => self.assigned = true,
            Kind::Released => self.assigned = false,
            Kind::Migrated => {
                // Whether it goes on waiting as it did is not in the leaf: its next move tells.
                (self.known, self.pending, self.state) = (false, None, verdict.to);
            }
            Kind::Crashed
            | Kind::Amended
            | Kind::Erased
            | Kind::Forgotten
            | Kind::Late
            | Kind::Approved
            | Kind::Noted
            | Kind::Refused
            | Kind::Merged => {}
        }
    }
}
