//! Settlements: accepted from the lease in force or as an exact repeat, and otherwise from nobody.

use engine::core::Output;
use model::token::Bits;
use model::{Code, Command, Name, Refusal, Status, SubmissionId, Token};

use super::explained::Causes;
use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::actors::Heard;
use crate::report::Report;

/// The last settlement that was taken.
#[derive(Debug)]
pub(super) struct Accepted {
    lease_no: u64,
    bits: Bits,
    /// What it said; several where only one of them was taken and nobody heard which.
    said: Vec<String>,
    /// What it was answered; `None` while nobody has heard.
    answer: Option<(Name, Status)>,
}

/// One settlement or renewal of a step.
pub(super) struct Asked<'a> {
    pub(super) index: usize,
    pub(super) id: SubmissionId,
    pub(super) command: &'a Command,
    pub(super) token: Token,
    pub(super) causes: &'a Causes,
}

impl Asked<'_> {
    fn said(&self) -> String {
        format!("{:?}", self.command)
    }

    fn is_of(&self, no: u64, bits: Bits) -> bool {
        self.token.lease_no == no && self.token.bits == bits
    }
}

fn granted(ledger: &mut Ledger, asked: &Asked<'_>, output: &Output, report: &mut Report) -> Checked {
    let id = asked.id;
    let held = ledger.before(id).and_then(|row| row.lease());
    let in_force = held.is_some_and(|lease| asked.is_of(lease.no, lease.bits));
    match output {
        Output::Renewed { expires_at, .. } => {
            ensure!(in_force, "a lease of {id} was renewed that is not in force");
            ensure!(
                held.is_some_and(|lease| *expires_at >= lease.expires_at),
                "a renewal of {id} shortened its lease"
            );
            report.count("answer/renewed");
        }
        Output::Settled { state, status, repeated: false } => {
            ensure!(in_force, "{id} was settled with a token that is not that of the lease in force");
            let answer = (state.clone(), *status);
            let row = ledger.row(id).ok_or_else(|| format!("{id} was settled and is not there"))?;
            let sealed = row.settled.as_ref().is_some_and(|settled| {
                asked.is_of(settled.lease_no, settled.bits)
                    && (&settled.state, settled.status) == (&answer.0, answer.1)
            });
            ensure!(sealed, "{id} was settled, and its row does not know");
            accept(ledger, asked, Some(answer))?;
            report.count("answer/settled");
        }
        Output::Settled { state, status, repeated: true } => {
            let known = ledger.known.get_mut(&id).ok_or_else(|| format!("{id} does not exist"))?;
            let accepted =
                known.accepted.as_mut().filter(|accepted| asked.is_of(accepted.lease_no, accepted.bits));
            let accepted = accepted
                .ok_or_else(|| format!("{id} was never settled by this token, yet it is a repeat"))?;
            ensure!(accepted.said.contains(&asked.said()), "another answer to {id} was taken for a repeat");
            let answer = accepted.answer.get_or_insert_with(|| (state.clone(), *status));
            ensure!(*answer == (state.clone(), *status), "a repeat was answered differently for {id}");
            report.count("answer/settlement-repeated");
        }
        other => return Err(format!("a settlement was answered {other:?}")),
    }
    Ok(())
}

fn refused(ledger: &Ledger, asked: &Asked<'_>, refusal: &Refusal) -> Checked {
    let id = asked.id;
    let Some(before) = ledger.before(id) else {
        ensure!(refusal.code == Code::UnknownSubmission, "{id} does not exist, and was refused as {refusal}");
        return Ok(());
    };
    if !asked.causes.is_first(id, asked.index) {
        return Ok(());
    }
    let in_force = before.lease().is_some_and(|lease| asked.is_of(lease.no, lease.bits));
    let row_knows =
        before.settled.as_ref().is_some_and(|settled| asked.is_of(settled.lease_no, settled.bits));
    let is_repeat = ledger.known.get(&id).and_then(|known| known.accepted.as_ref()).is_some_and(|accepted| {
        asked.is_of(accepted.lease_no, accepted.bits) && accepted.said == [asked.said()]
    });
    let is_renewal = matches!(asked.command, Command::Renew(_));
    match refusal.code {
        Code::StaleLease => {
            ensure!(!in_force, "the lease in force of {id} was called stale");
            ensure!(is_renewal || !(is_repeat && row_knows), "an exact repeat to {id} was called stale");
        }
        Code::UnknownOutcome | Code::InvalidRequest | Code::Expired => {
            ensure!(in_force, "{id} refused a dead token with {refusal}");
        }
        code => return Err(format!("a settlement of {id} was refused with {}", code.as_str())),
    }
    Ok(())
}

/// Notes a settlement that was taken although its sender does not know.
fn unheard(ledger: &mut Ledger, asked: &Asked<'_>) -> Checked {
    if matches!(asked.command, Command::Renew(_)) {
        return Ok(());
    }
    let was = ledger.before(asked.id).and_then(|row| row.settled.as_ref().map(|settled| settled.lease_no));
    let taken = ledger
        .row(asked.id)
        .and_then(|row| row.settled.as_ref())
        .is_some_and(|settled| Some(settled.lease_no) != was && asked.is_of(settled.lease_no, settled.bits));
    if taken { accept(ledger, asked, None) } else { Ok(()) }
}

fn accept(ledger: &mut Ledger, asked: &Asked<'_>, answer: Option<(Name, Status)>) -> Checked {
    let known = ledger.known.get_mut(&asked.id).ok_or_else(|| format!("{} does not exist", asked.id))?;
    let same = known.accepted.as_mut().filter(|accepted| asked.is_of(accepted.lease_no, accepted.bits));
    if let Some(accepted) = same {
        let heard = accepted.answer.is_some();
        ensure!(!(heard && answer.is_some()), "{} was settled twice by one token", asked.id);
        if answer.is_none() {
            if !heard {
                accepted.said.push(asked.said());
            }
            return Ok(());
        }
    }
    let Token { lease_no, bits, .. } = asked.token;
    known.accepted = Some(Accepted { lease_no, bits, said: vec![asked.said()], answer });
    Ok(())
}

/// A settlement or renewal, and what the engine said to it.
pub(super) fn check(ledger: &mut Ledger, asked: &Asked<'_>, heard: &Heard, report: &mut Report) -> Checked {
    if heard.is_open() {
        return unheard(ledger, asked);
    }
    let Heard::Told(outcome) = heard else { return Ok(()) };
    match &**outcome {
        Ok(output) => granted(ledger, asked, output, report),
        Err(refusal) if refusal.code == Code::Unavailable => Ok(()),
        Err(refusal) => refused(ledger, asked, refusal),
    }
}
