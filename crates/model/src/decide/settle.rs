//! What finish, fail and snooze share: the fence, and the exact repeat.

use super::renew::leased;
use super::{Answer, Current, Decision};
use crate::actor::{Actor, ActorKind, Right};
use crate::digest::Digest;
use crate::refusal::Refusal;
use crate::submission::{Lease, Settled, Submission};
use crate::token::Token;

/// A settlement that passed the fence.
pub(super) struct Settlement {
    pub(super) lease: Lease,
    digest: Digest,
}

/// Lets a settlement through once: `settle` runs only for the lease in force. An exact repeat of the last settlement
/// gets the answer it had, anything else a refusal.
pub(super) fn fenced(
    current: Current<'_>,
    token: Token,
    digest: Digest,
    settle: impl FnOnce(&Settlement) -> Result<Decision, Refusal>,
) -> Result<Decision, Refusal> {
    let row = current.row;
    if let Some(settled) = &row.settled
        && (settled.lease_no, settled.bits, settled.digest) == (token.lease_no, token.bits, digest)
    {
        let answer = Answer::Settled { state: settled.state.clone(), status: settled.status, repeated: true };
        return Ok(Decision { row: row.clone(), events: Vec::new(), answer });
    }
    let settlement = Settlement { lease: leased(row, token)?.clone(), digest };
    let mut decision = settle(&settlement)?;
    settlement.seal(&mut decision.row);
    let (state, status) = (decision.row.state.clone(), decision.row.status);
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

    /// Keeps what is needed to know a repeat and to answer it.
    fn seal(&self, row: &mut Submission) {
        row.settled = Some(Settled {
            lease_no: self.lease.no,
            bits: self.lease.bits,
            digest: self.digest,
            state: row.state.clone(),
            status: row.status,
            revision: row.revision,
        });
    }
}
