//! Checks that finish, fail, snooze and give back share: the fence, and the exact repeat.

use super::renew::leased;
use super::{Answer, Current, Decision};
use crate::actor::{Actor, ActorKind, Right};
use crate::context::Context;
use crate::digest::Digest;
use crate::refusal::Refusal;
use crate::submission::{Lease, Settled};
use crate::token::LeaseToken;

/// A settlement that passed the fence.
pub(super) struct Settlement {
    pub(super) lease: Lease,
}

/// Settlements a row remembers. A lost answer is asked for again within seconds, in which a quick pipeline may have
/// moved on a few times.
const SETTLED_MAX: usize = 4;

/// Lets a settlement through once: `settle` runs only for the lease in force. An exact repeat of one of the last
/// settlements gets the answer it had, anything else a refusal.
pub(super) fn fenced(
    current: Current<'_>,
    token: LeaseToken,
    digest: Digest,
    context: &Context,
    settle: impl FnOnce(&Settlement) -> Result<Decision, Refusal>,
) -> Result<Decision, Refusal> {
    let row = current.row;
    let digest = Digest::of_parts(&[&token.bytes(), &digest.0]);
    if let Some(settled) = row.settled.iter().find(|settled| settled.digest == digest) {
        let answer = Answer::Settled { state: settled.state.clone(), status: settled.status, repeated: true };
        return Ok(Decision::quiet(row.clone(), answer));
    }
    let mut lease = leased(row, token, context)?.clone();
    if let Some(subject) = context.settler.as_ref().filter(|_| !lease.has_subject()) {
        // Whoever claimed it is nobody in particular: on record is who settles it.
        lease.worker = format!("{subject}/{}", lease.worker).into();
    }
    let settlement = Settlement { lease };
    let mut decision = settle(&settlement)?;
    let (state, status) = (decision.row.state.clone(), decision.row.status);
    let settled = &mut decision.row.settled;
    if settled.len() == SETTLED_MAX {
        settled.remove(0);
    }
    settled.push(Settled { digest, state: state.clone(), status });
    decision.answer = Answer::Settled { state, status, repeated: false };
    Ok(decision)
}

impl Settlement {
    pub(super) fn worker(&self) -> Actor {
        Actor::new(ActorKind::Worker, self.lease.worker.clone())
    }

    pub(super) fn right(&self) -> Right {
        Right::Lease(self.lease.no)
    }
}
