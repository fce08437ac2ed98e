//! Settlements: accepted from the lease in force or as an exact repeat, and otherwise from nobody.

use engine::core::Output;
use model::token::Bits;
use model::{Code, Command, LeaseToken, Name, Refusal, Status, Submission, SubmissionId, Time};

use super::explained::Causes;
use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::actors::Heard;
use crate::finding::finding;
use crate::report::Report;

/// The settlements that a row remembers: an exact repeat of one of them gets its answer again.
const REMEMBERED: usize = 4;

/// A settlement that was taken.
#[derive(Debug)]
pub(super) struct Accepted {
    lease_no: u64,
    bits: Bits,
    /// The settlement's words; several where only one of them was taken and nobody heard which.
    said: Vec<String>,
    /// The answer to the settlement; `None` while nobody has heard.
    answer: Option<(Name, Status)>,
}

/// One settlement or renewal of a step.
pub(super) struct Asked<'a> {
    pub(super) index: usize,
    pub(super) id: SubmissionId,
    pub(super) command: &'a Command,
    pub(super) token: LeaseToken,
    pub(super) causes: &'a Causes,
    pub(super) now: Time,
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
    // A migration earlier in the step may have given it more time.
    let is_over =
        |row: Option<&Submission>| row.and_then(Submission::expires_at).is_some_and(|at| at <= asked.now);
    let expired = is_over(ledger.before(id)) && is_over(ledger.row(id));
    match output {
        Output::Renewed { expires_at, .. } => {
            ensure!(in_force, "a lease of {id} was renewed that is not in force");
            ensure!(
                held.is_some_and(|lease| *expires_at >= lease.expires_at),
                "a renewal of {id} shortened its lease"
            );
            ensure!(!expired, "{id} was renewed after its time to live");
            report.count("answer/renewed");
        }
        Output::Settled { state, status, repeated: false } => {
            ensure!(in_force, "{id} was settled with a token that is not that of the lease in force");
            let row = ledger.row(id).ok_or_else(|| finding!("{id} was settled and is not there"))?;
            let sealed =
                row.settled.last().is_some_and(|last| (&last.state, &last.status) == (state, status));
            ensure!(sealed, "{id} was settled, and its row does not know");
            accept(ledger, asked, Some((state.clone(), *status)))?;
            report.count("answer/settled");
        }
        Output::Settled { state, status, repeated: true } => {
            let accepted = accepted(ledger, asked)
                .ok_or_else(|| finding!("{id} was never settled by this token, yet it is a repeat"))?;
            ensure!(accepted.said.contains(&asked.said()), "another answer to {id} was taken for a repeat");
            let answer = accepted.answer.get_or_insert_with(|| (state.clone(), *status));
            ensure!(*answer == (state.clone(), *status), "a repeat was answered differently for {id}");
            report.count("answer/settlement-repeated");
        }
        Output::Submission(_) if matches!(asked.command, Command::Spawn(_)) => {
            ensure!(
                in_force,
                "children of {id} were made with a token that is not that of the lease in force"
            );
            report.count("answer/spawned");
        }
        other => return Err(finding!("a settlement was answered {other:?}")),
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
    let is_repeat =
        ledger.known.get(&id).is_some_and(|known| {
            known.accepted.iter().rev().take(REMEMBERED).any(|accepted| {
                asked.is_of(accepted.lease_no, accepted.bits) && accepted.said == [asked.said()]
            })
        });
    let is_renewal = matches!(asked.command, Command::Renew(_) | Command::Spawn(_));
    let has_children = match asked.command {
        Command::Finish(finish) => !finish.children.is_empty(),
        Command::Spawn(spawn) => !spawn.children.is_empty(),
        _ => false,
    };
    match refusal.code {
        Code::StaleLease => {
            ensure!(!in_force, "the lease in force of {id} was called stale");
            ensure!(is_renewal || !is_repeat, "an exact repeat to {id} was called stale");
        }
        Code::UnknownOutcome | Code::InvalidRequest | Code::Expired => {
            ensure!(in_force, "{id} refused a dead token with {refusal}");
        }
        Code::DuplicateKey | Code::KeyConflict => {
            ensure!(in_force && has_children, "{id} refused an answer without children for a key");
        }
        code => return Err(finding!("a settlement of {id} was refused with {}", code.as_str())),
    }
    Ok(())
}

/// Notes a settlement that was taken although its sender does not know.
fn unheard(ledger: &mut Ledger, asked: &Asked<'_>) -> Checked {
    if matches!(asked.command, Command::Renew(_) | Command::Spawn(_)) {
        return Ok(());
    }
    let (before, after) = (ledger.before(asked.id), ledger.row(asked.id));
    let was_its = before.and_then(Submission::lease).is_some_and(|lease| asked.is_of(lease.no, lease.bits));
    let taken = was_its && before.map(|row| &row.settled) != after.map(|row| &row.settled);
    if taken { accept(ledger, asked, None) } else { Ok(()) }
}

fn accept(ledger: &mut Ledger, asked: &Asked<'_>, answer: Option<(Name, Status)>) -> Checked {
    let LeaseToken { lease_no, bits, .. } = asked.token;
    match accepted(ledger, asked) {
        Some(known) => {
            let heard = known.answer.is_some();
            ensure!(!(heard && answer.is_some()), "{} was settled twice by one token", asked.id);
            if answer.is_some() {
                *known = Accepted { lease_no, bits, said: vec![asked.said()], answer };
            } else if !heard {
                known.said.push(asked.said());
            }
        }
        None => {
            let known =
                ledger.known.get_mut(&asked.id).ok_or_else(|| finding!("{} does not exist", asked.id))?;
            known.accepted.push(Accepted { lease_no, bits, said: vec![asked.said()], answer });
        }
    }
    Ok(())
}

/// Returns what was taken under this token before.
fn accepted<'a>(ledger: &'a mut Ledger, asked: &Asked<'_>) -> Option<&'a mut Accepted> {
    // It may have been forgotten in the very step.
    let known = ledger.known.get_mut(&asked.id).or_else(|| ledger.gone.get_mut(&asked.id))?;
    known.accepted.iter_mut().find(|accepted| asked.is_of(accepted.lease_no, accepted.bits))
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
