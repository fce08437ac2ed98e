//! Renew: the worker is alive, and may say how far it has come. Durable, without event or revision.

use super::{Answer, Current, Decision};
use crate::command::Renew;
use crate::context::Context;
use crate::refusal::{Code, Refusal};
use crate::submission::{Lease, Submission, TimeToLive, Wait};
use crate::token::LeaseToken;

pub(super) fn decide(current: Current<'_>, renew: &Renew, context: &Context) -> Result<Decision, Refusal> {
    let lease = leased(current.row, renew.token, context)?;
    if current.row.time_to_live(context.now) != TimeToLive::Lasts {
        return Err(Refusal::new(
            Code::Expired,
            "the submission's time to live is over: finish now or let it go",
        ));
    }
    let mut lease = lease.clone();
    lease.expires_at = lease.expires_at.max(context.now.plus(lease.span));
    if let Some(progress) = &renew.progress {
        lease.progress = Some(progress.reported(context.now));
    }
    let expires_at = lease.expires_at;
    // The timer stays: it is a lower bound, and leaving it saves two index writes a renewal.
    let row = Submission { wait: Wait::Lease(lease), ..current.row.clone() };
    Ok(Decision::quiet(row, Answer::Renewed { expires_at }))
}

/// The lease a token names, if it is still in force and whoever asks has it. Late is fine; replaced is not.
pub(super) fn leased<'r>(
    row: &'r Submission,
    token: LeaseToken,
    context: &Context,
) -> Result<&'r Lease, Refusal> {
    match row.lease() {
        Some(lease) if lease.no == token.lease_no && lease.bits == token.bits => {
            match context.settler.as_ref().filter(|subject| !lease.is_of(subject)) {
                None => Ok(lease),
                Some(_) => Err(Refusal::new(
                    Code::RoleRequired,
                    "this lease was given to another subject; only a token of the one that claimed it settles it",
                )),
            }
        }
        _ => Err(Refusal::new(
            Code::StaleLease,
            "this lease is over: it expired, was ended by an action, or was settled before; drop the work",
        )),
    }
}
