//! Messages to the outside: one for each cause, name and address, made in a later commit than the move, none lost.

use std::collections::{BTreeMap, BTreeSet};

use model::SubmissionId;
use model::owed::DELIVERY;

use super::ledger::Ledger;
use super::{Checked, ensure};
use crate::faults::Commit;
use crate::finding::finding;
use crate::report::Report;

#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Every message an event says it makes, and that event's place in the sequence.
    promised: BTreeMap<SubmissionId, usize>,
    /// The messages in the inbox.
    waiting: BTreeSet<SubmissionId>,
    /// The messages taken out of the inbox by the step being checked.
    pub(super) decided: BTreeSet<SubmissionId>,
}

impl Messages {
    pub(super) fn begin(&mut self) {
        self.decided.clear();
    }

    /// `first` is the place in the sequence of the commit's first event.
    pub(super) fn take(&mut self, commit: &Commit, first: usize, report: &mut Report) -> Checked {
        let mut said: BTreeSet<SubmissionId> = BTreeSet::new();
        for (place, event) in (first..).zip(&commit.changes.events) {
            for told in &event.detail.notified {
                report.count(if told.deliveries.is_empty() {
                    "notified/nobody"
                } else {
                    "notified/somebody"
                });
                for id in &told.deliveries {
                    ensure!(
                        self.promised.insert(*id, place).is_none(),
                        "two events tell by the message {id}"
                    );
                    said.insert(*id);
                }
            }
        }
        let sent: BTreeSet<SubmissionId> = commit.changes.received.iter().map(|sent| sent.id).collect();
        ensure!(sent == said, "events tell by {said:?}, and {sent:?} were put into the inbox");
        for id in &commit.changes.decided {
            ensure!(self.waiting.remove(id), "{id} was taken out of the inbox and was not in it");
            self.decided.insert(*id);
        }
        self.waiting.extend(sent);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// At rest: whatever was promised is there, says what it is about, and is all there is.
pub(crate) fn all_made(ledger: &Ledger) -> Checked {
    let promised = &ledger.messages.promised;
    for (id, place) in promised {
        let known = ledger.ever(*id).ok_or_else(|| finding!("the message {id} was lost"))?;
        ensure!(
            &*known.row.pipeline == DELIVERY,
            "the message {id} is a submission of {}",
            known.row.pipeline
        );
        let cause = ledger.events[*place].id().to_string();
        let payload = known.documents.payload.as_str();
        ensure!(
            known.row.erased || payload.contains(&cause),
            "the message {id} names another cause than {cause}"
        );
    }
    let others = ledger.rows().find(|row| &*row.pipeline == DELIVERY && !promised.contains_key(&row.id));
    ensure!(others.is_none(), "a message that no event tells of: {others:?}");
    Ok(())
}
