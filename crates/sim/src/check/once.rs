//! Idempotency keys: the first answer again, never a second effect, and another body is refused.

use engine::core::{Answered, Output};
use model::submission::{Attempts, Wait};
use model::token::Bits;
use model::{Code, Digest, Millis, Submission, Time};

use super::ledger::Ledger;
use super::{Checked, Seen, ensure};
use crate::actors::Heard;
use crate::finding::finding;
use crate::report::Report;

const ONCE_FOR: Millis = Millis::from_secs(24 * 3600);

#[derive(Debug)]
pub(super) struct Receipt {
    digest: Digest,
    /// `None` while nobody has heard the answer.
    row: Option<Submission>,
    until: Time,
    /// Set if the receipt's time was over once. Every transaction clears a few of those away, also one that writes
    /// nothing, such as those of the checker itself. So this one may be gone, and a clock that was set back since does
    /// not bring it back. The receipt was kept for its day all the same: whoever repeats the request now hears the
    /// first answer or is served anew, and both are right.
    swept: bool,
}

impl Receipt {
    fn is_in_force(&self, now: Time) -> bool {
        now < self.until && !self.swept
    }
}

pub(super) fn check(ledger: &mut Ledger, seen: &Seen<'_>, report: &mut Report) -> Checked {
    for (input, heard) in seen.inputs.iter().zip(seen.heard) {
        let Some(once) = &input.once else { continue };
        let Heard::Told(outcome) = heard else { continue };
        let answer = match &**outcome {
            Ok(Output::Submission(answered)) => Ok(&**answered),
            Ok(other) => return Err(finding!("a request with a key was answered {other:?}")),
            Err(refusal) => Err(refusal.code),
        };
        if matches!(answer, Err(Code::Unavailable | Code::OutcomeUnknown)) {
            continue;
        }
        match ledger.receipts.get_mut(&once.key) {
            Some(receipt) if receipt.is_in_force(seen.now) => {
                repeated(receipt, &once.digest, answer, report)?
            }
            known => {
                let mismatch = matches!(answer, Err(Code::IdempotencyMismatch));
                ensure!(known.is_some() || !mismatch, "a fresh key was said to be used");
                let again = known.and_then(|known| known.row.clone());
                if let Ok(answered) = answer
                    && again.is_none_or(|row| row != plain(&answered.row))
                {
                    let (digest, row) = (once.digest, Some(plain(&answered.row)));
                    let receipt = Receipt { digest, row, until: seen.now.plus(ONCE_FOR), swept: false };
                    ledger.receipts.insert(once.key.clone(), receipt);
                }
            }
        }
    }
    unheard(ledger, seen);
    let over = ledger.receipts.values_mut().filter(|receipt| receipt.until <= seen.now);
    over.for_each(|receipt| receipt.swept = true);
    Ok(())
}

fn repeated(
    receipt: &mut Receipt,
    digest: &Digest,
    answer: Result<&Answered, Code>,
    report: &mut Report,
) -> Checked {
    if receipt.digest != *digest {
        ensure!(
            answer.is_err_and(|code| code == Code::IdempotencyMismatch),
            "a used key was taken with another body: {answer:?}"
        );
        return Ok(());
    }
    let answered = answer.map_err(|code| finding!("a repeated request was refused: {}", code.as_str()))?;
    let row = plain(&answered.row);
    let first = receipt.row.get_or_insert_with(|| row.clone());
    ensure!(*first == row, "a repeated request was answered\n{row:?}\nafter\n{first:?}");
    report.count("answer/request-repeated");
    Ok(())
}

/// Answers that were kept for requests whose sender heard nothing.
fn unheard(ledger: &mut Ledger, seen: &Seen<'_>) {
    for change in seen.commits.iter().flat_map(|commit| &commit.changes.answers) {
        let is_known = ledger.receipts.get(&change.key).is_some_and(|receipt| receipt.is_in_force(seen.now));
        if is_known {
            continue;
        }
        let asked =
            seen.inputs.iter().filter_map(|input| input.once.as_ref()).find(|once| once.key == change.key);
        if let Some(once) = asked {
            let until = seen.now.plus(ONCE_FOR);
            let receipt = Receipt { digest: once.digest, row: None, until, swept: false };
            ledger.receipts.insert(change.key.clone(), receipt);
        }
    }
}

/// A kept answer leaves out what callers are not shown: the store's own version, a granted action's data, and what
/// settles a lease.
fn plain(row: &Submission) -> Submission {
    let mut row = Submission {
        row_version: 0,
        request: None,
        settled: Vec::new(),
        attempts: Attempts::default(),
        ..row.clone()
    };
    if let Wait::Lease(lease) = &mut row.wait {
        lease.bits = Bits([0; 16]);
    }
    row
}
