//! Snooze: "not yet". The lease ends for a while; it costs no attempt and leaves no event.

use super::settle::fenced;
use super::{Answer, Current, Decision};
use crate::command::Snooze;
use crate::context::Context;
use crate::digest::Digest;
use crate::refusal::{Code, Refusal};
use crate::submission::{Cause, GivenBack, Wait};
use crate::time::Millis;

/// Longer than this is a wait state in disguise.
pub const SNOOZE_MAX: Millis = Millis::from_secs(7 * 24 * 3600);

pub(super) fn decide(current: Current<'_>, snooze: &Snooze, context: &Context) -> Result<Decision, Refusal> {
    let digest = Digest::of_parts(&[b"snooze\0", &snooze.span.millis().to_be_bytes()]);
    fenced(current, snooze.token, digest, context, |_| {
        if snooze.span > SNOOZE_MAX {
            return Err(Refusal::new(Code::InvalidRequest, format!("a snooze is at most {SNOOZE_MAX}")));
        }
        let mut row = current.row.clone();
        row.wait = Wait::Delay { until: context.now.plus(snooze.span), cause: Cause::Snooze };
        row.crashes = 0;
        row.given_back = GivenBack::default();
        row.timer = row.deadline();
        Ok(Decision::quiet(row, Answer::Done))
    })
}
