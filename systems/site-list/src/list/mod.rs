//! The list: a fold over the events of its changes. Files and blobs are caches of it.

mod change;
mod distribution;
mod lately;
mod replay;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use wire::{Digest, SubmissionId};

use crate::action::Action;
use crate::hex::hex;
use crate::policy::Policy;
use crate::rules::{Host, Listed};

pub use change::{Change, Completed, Note};
pub use distribution::{BadDistribution, Distribution, ENTRY_BYTES, domain_digest};
pub use lately::Lately;
pub use replay::{Disagreement, Replay};

/// A site on the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub policy: Policy,
    /// The address that a system action is told to: that which the site named when it was last changed.
    pub contact: Option<String>,
    /// The submission that made the entry what it is.
    pub submission: SubmissionId,
    /// The time of that submission's completion.
    pub at: String,
}

impl Entry {
    /// Returns the digest by which a second validation knows that the entry is as it was. The submission is part of it:
    /// an entry that was changed and changed back is not as it was.
    #[must_use]
    pub fn digest(&self, host: &Host) -> String {
        let parts = [host.as_str(), &self.policy.json(), &self.submission.to_string()];
        hex(&Digest::of(parts.join("\n").as_bytes()))
    }
}

/// The entries at one place of the feed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The position up to which the feed was read.
    pub seq: u64,
    entries: BTreeMap<Host, Entry>,
    /// Sites whose domain is reported gone, by the open submission that reports it.
    marked: BTreeMap<SubmissionId, Host>,
    /// Sites whose confirmed change is with the log and not complete yet.
    pending: BTreeMap<SubmissionId, Host>,
    /// Every submission, in the order of the feed: the first has the number 1.
    submissions: Vec<SubmissionId>,
    /// The hosts of open submissions.
    #[serde(default)]
    open: BTreeMap<SubmissionId, Host>,
    #[serde(default)]
    lately: Lately,
    /// The size that the list's own log has at least.
    #[serde(default)]
    log_size: u64,
    #[serde(skip)]
    numbers: HashMap<SubmissionId, usize>,
}

/// The result of an event for the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// The entries are as they were.
    Nothing,
    Changed,
    /// The change was complete, and the entry not the one it was validated against: an emergency came first, and stays.
    Superseded,
}

impl List {
    /// Takes the next event in.
    pub fn apply(&mut self, change: &Change) -> Applied {
        self.seq = self.seq.max(change.seq);
        match &change.note {
            Note::Submitted(host, action) => {
                self.count(change.submission);
                self.open.insert(change.submission, host.clone());
                if action.is_public() {
                    self.lately.ask(host, change.at);
                }
                if *action == Action::DomainDeleted {
                    self.marked.insert(change.submission, host.clone());
                }
                Applied::Nothing
            }
            Note::Visited { told } => {
                if let Some(host) = self.open.get(&change.submission) {
                    self.lately.visit(host, change.at);
                }
                if let Some(told) = told {
                    self.lately.tell(told, change.at);
                }
                Applied::Nothing
            }
            Note::Logged(index) => {
                self.log_size = self.log_size.max(index.saturating_add(1));
                Applied::Nothing
            }
            Note::Confirming(host) => {
                self.pending.insert(change.submission, host.clone());
                Applied::Nothing
            }
            Note::Discarded => {
                self.settle(change.submission);
                Applied::Nothing
            }
            Note::Completed(completed) => {
                self.settle(change.submission);
                self.complete(change, completed)
            }
        }
    }

    fn count(&mut self, submission: SubmissionId) {
        self.number_all();
        if !self.numbers.contains_key(&submission) {
            self.submissions.push(submission);
            self.numbers.insert(submission, self.submissions.len());
        }
    }

    /// Numbers the submissions of a list that was kept: the numbers themselves are not.
    fn number_all(&mut self) {
        if self.numbers.len() < self.submissions.len() {
            self.numbers = self.submissions.iter().copied().zip(1..).collect();
        }
    }

    /// Returns the number of a submission, by which the list's own API knows it.
    #[must_use]
    pub fn number_of(&self, submission: SubmissionId) -> Option<usize> {
        match self.numbers.get(&submission) {
            Some(number) => Some(*number),
            None => self.submissions.iter().position(|known| *known == submission).map(|at| at + 1),
        }
    }

    /// Returns the submission with a number.
    #[must_use]
    pub fn submission(&self, number: usize) -> Option<SubmissionId> {
        self.submissions.get(number.checked_sub(1)?).copied()
    }

    #[must_use]
    pub fn submissions(&self) -> usize {
        self.submissions.len()
    }

    /// Returns the size that the list's own log has at least: whoever has a smaller one has another log.
    #[must_use]
    pub fn log_size(&self) -> u64 {
        self.log_size
    }

    /// Returns what was done lately: the same on every server of a fleet.
    #[must_use]
    pub fn lately(&self) -> &Lately {
        &self.lately
    }

    fn settle(&mut self, submission: SubmissionId) {
        self.open.remove(&submission);
        self.marked.remove(&submission);
        self.pending.remove(&submission);
    }

    fn complete(&mut self, change: &Change, completed: &Completed) -> Applied {
        let Completed { domain, action, policy, contact, entry } = completed;
        let found = self.entries.get(domain);
        if found.map(|found| found.digest(domain)) != *entry {
            // The same event twice is no second change.
            let is_known = found.is_some_and(|found| found.submission == change.submission);
            return if is_known { Applied::Nothing } else { Applied::Superseded };
        }
        match policy {
            Some(policy) if !action.removes() => {
                let entry = Entry {
                    policy: policy.clone(),
                    contact: contact.clone(),
                    submission: change.submission,
                    at: change.at.to_string(),
                };
                self.entries.insert(domain.clone(), entry);
            }
            _ => {
                self.entries.remove(domain);
            }
        }
        Applied::Changed
    }

    #[must_use]
    pub fn entry(&self, host: &Host) -> Option<&Entry> {
        self.entries.get(host)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&Host, &Entry)> {
        self.entries.iter()
    }

    /// Returns the entries from a host on, in the order of their names.
    pub fn entries_after<'a>(
        &'a self,
        start: Bound<&'a Host>,
    ) -> impl Iterator<Item = (&'a Host, &'a Entry)> {
        self.entries.range::<Host, _>((start, Bound::Unbounded))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether a site's domain is reported gone, by a submission that is still open.
    #[must_use]
    pub fn is_marked(&self, host: &Host) -> bool {
        self.marked.values().any(|marked| marked == host)
    }

    /// Returns how many changes of a site are with the log, confirmed and not complete.
    #[must_use]
    pub fn pending(&self, host: &Host) -> usize {
        self.pending.values().filter(|pending| *pending == host).count()
    }

    /// Returns a site's entry as the rules look at it.
    #[must_use]
    pub fn listed(&self, host: &Host) -> Listed<'_> {
        match self.entry(host) {
            None => Listed::Absent,
            Some(entry) => Listed::Present(Some(&entry.policy)),
        }
    }
}
