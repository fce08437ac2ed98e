//! Changes have a cause: every row that changed was named by something that was granted, or its time had come.

use std::collections::{BTreeMap, BTreeSet};

use engine::core::{Ask, Output};
use model::submission::Wait;
use model::{Name, SubmissionId};

use super::ledger::Ledger;
use super::{Checked, Seen, ensure};
use crate::actors::Heard;

/// The causes that may have changed rows in a step.
#[derive(Debug, Default)]
pub(super) struct Causes {
    /// The first input that may have changed each row.
    pub(super) first: BTreeMap<SubmissionId, usize>,
    submitted: BTreeSet<SubmissionId>,
    /// Submissions and claims of which nobody knows the outcome.
    open_submits: usize,
    open_claims: Vec<Vec<Name>>,
    /// Every claim: it may have met a held row and parked it.
    claims: Vec<Vec<Name>>,
}

impl Causes {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let mut causes = Causes::default();
        for (index, (input, heard)) in seen.inputs.iter().zip(seen.heard).enumerate() {
            if let Ask::Claim(claim) = &input.ask {
                causes.claims.push(claim.tasks.clone());
            }
            match &input.ask {
                Ask::Tell(id, _) if heard.is_open() => causes.cause(*id, index),
                Ask::Submit(_) | Ask::Tick(_) if heard.is_open() => causes.open_submits += 1,
                Ask::Operate(chunk) if heard.is_open() => {
                    chunk.ids.iter().for_each(|id| causes.cause(*id, index));
                }
                Ask::Claim(claim) if heard.is_open() => causes.open_claims.push(claim.tasks.clone()),
                _ => {}
            }
            let Heard::Told(outcome) = heard else { continue };
            match (&input.ask, &**outcome) {
                (Ask::Tell(id, _), Ok(output)) if !is_repeat(output) => causes.cause(*id, index),
                (Ask::Submit(_), Ok(Output::Submission(answered))) if !answered.duplicate => {
                    causes.submitted.insert(answered.row.id);
                    causes.cause(answered.row.id, index);
                }
                (Ask::Tick(_), Ok(Output::Scheduled(scheduled))) => {
                    causes.submitted.extend(scheduled.submission);
                }
                (Ask::Operate(chunk), Ok(_)) => {
                    chunk.ids.iter().for_each(|id| causes.cause(*id, index));
                }
                (_, Ok(Output::Tasks(granted))) => {
                    granted.iter().for_each(|granted| causes.cause(granted.row.id, index));
                }
                _ => {}
            }
        }
        causes
    }

    fn cause(&mut self, id: SubmissionId, index: usize) {
        self.first.entry(id).or_insert(index);
    }

    /// Tells whether an input was decided on the row as it was before the step.
    pub(super) fn is_first(&self, id: SubmissionId, index: usize) -> bool {
        self.first.get(&id).is_none_or(|first| *first >= index)
    }
}

fn is_repeat(output: &Output) -> bool {
    matches!(output, Output::Settled { repeated: true, .. })
}

pub(super) fn check(ledger: &Ledger, seen: &Seen<'_>) -> Checked {
    let causes = Causes::of(seen);
    let mut unnamed = 0;
    for id in ledger.changed() {
        let Some(before) = ledger.before(id) else {
            let parent = ledger.row(id).and_then(|row| row.parent);
            let made = parent.is_some_and(|parent| causes.first.contains_key(&parent));
            let message = seen.due && ledger.messages.decided.contains(&id);
            unnamed += usize::from(!made && !message && !causes.submitted.contains(&id));
            continue;
        };
        let named = causes.first.contains_key(&id);
        let due = seen.due && before.timer.is_some_and(|at| at <= seen.now);
        let leased = match &before.wait {
            Wait::Worker { task, .. } => {
                let parked = ledger.row(id).is_some_and(|row| row.parked.is_some());
                let claims = if parked { &causes.claims } else { &causes.open_claims };
                claims.iter().any(|tasks| tasks.contains(task))
            }
            _ => false,
        };
        let owed = (seen.due && ledger.debts.concerned(before)) || ledger.debts.follows(before);
        ensure!(named || due || leased || owed, "{id} changed although nothing that was granted named it");
    }
    ensure!(unnamed <= causes.open_submits, "{unnamed} submissions appeared that nobody was told of");
    Ok(())
}
