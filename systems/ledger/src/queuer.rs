//! The one-round serial queuer: batches in, queue out.
//!
//! After "One-round serial queuer strategy", Copyright 2018-2022 Cargill Incorporated, CC BY 4.0. One round queues what the
//! ledger forgot, what it put off long enough ago, and one new batch of each service that has none under way. The pipeline
//! `ledger-batch` does the same by lanes, one event at a time; this is the rule alone, over a list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::seconds::Seconds;

/// The time after a failed submission in which a batch is not submitted again, unless somebody sets another.
pub const WINDOW: Seconds = Seconds::whole(15);

/// A batch as the queuer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub header: String,
    /// The service it goes to. Batches without one wait for each other, too.
    pub service: Option<String>,
    /// The place among the transactions of an account, which takes them in this order only.
    pub nonce: Option<u64>,
    pub created_at: Seconds,
    /// Set while the submitter has it, and once the ledger has.
    pub submitted: bool,
    pub status: Option<BatchStatus>,
    pub last_submitted_at: Option<Seconds>,
}

/// The words of a ledger, or of the attempt to reach it, about a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchStatus {
    Unknown,
    Pending,
    Delayed,
    Valid,
    Invalid,
    Committed,
}

impl BatchStatus {
    pub const ALL: [BatchStatus; 6] = [
        BatchStatus::Unknown,
        BatchStatus::Pending,
        BatchStatus::Delayed,
        BatchStatus::Valid,
        BatchStatus::Invalid,
        BatchStatus::Committed,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            BatchStatus::Unknown => "Unknown",
            BatchStatus::Pending => "Pending",
            BatchStatus::Delayed => "Delayed",
            BatchStatus::Valid => "Valid",
            BatchStatus::Invalid => "Invalid",
            BatchStatus::Committed => "Committed",
        }
    }
}

/// The outcome of one round.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Round<'a> {
    /// Batches to submit now, in this order.
    pub queue: Vec<&'a Batch>,
    /// Batches that a later round will queue, and what each waits for.
    pub later: Vec<(&'a Batch, Wait<'a>)>,
    /// Batches that are under way or decided: there is nothing to queue about them.
    pub never: Vec<&'a Batch>,
}

/// The one thing that a batch waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait<'a> {
    /// The end of its delay window.
    Window { ends_at: Seconds },
    /// A batch of its service that is under way.
    UnderWay(&'a Batch),
    /// A new batch of its service that goes first.
    Earlier(&'a Batch),
}

/// The stand of a batch in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    New,
    Forgotten,
    Delayed,
    /// With the submitter or the ledger: it is waited for.
    Taken,
    Decided,
}

impl Batch {
    fn stand(&self) -> Stand {
        use BatchStatus::{Committed, Delayed, Invalid, Pending, Unknown, Valid};
        match (self.submitted, self.status) {
            (_, Some(Valid | Invalid | Committed)) => Stand::Decided,
            (_, Some(Pending)) | (true, _) => Stand::Taken,
            (false, Some(Unknown)) => Stand::Forgotten,
            (false, Some(Delayed)) => Stand::Delayed,
            (false, None) => Stand::New,
        }
    }

    /// Returns the end of its delay window. A batch that nobody has submitted has none.
    fn window_ends_at(&self, window: Seconds) -> Option<Seconds> {
        self.last_submitted_at.map(|at| at + window)
    }

    /// Returns the order of new batches of a service: oldest first, ties by nonce or header.
    fn order(&self) -> (Seconds, Option<u64>, &str) {
        (self.created_at, self.nonce, &self.header)
    }
}

/// Queues one round of batches at a time, with a delay window.
#[must_use]
pub fn round(batches: &[Batch], now: Seconds, window: Seconds) -> Round<'_> {
    let is = |stand: Stand| batches.iter().filter(move |batch| batch.stand() == stand);
    let waits = |batch: &Batch| batch.window_ends_at(window).is_some_and(|end| end > now);
    let heads = heads(batches);
    let mut round = Round::default();
    round.queue.extend(is(Stand::Forgotten));
    round.queue.extend(is(Stand::Delayed).filter(|batch| !waits(batch)));
    round.queue.extend(heads.values().filter(|head| head.stand() == Stand::New));
    let queued: BTreeSet<*const Batch> = round.queue.iter().map(|batch| std::ptr::from_ref(*batch)).collect();
    for batch in batches.iter().filter(|batch| !queued.contains(&std::ptr::from_ref(*batch))) {
        let head = heads.get(&batch.service);
        match (batch.stand(), batch.window_ends_at(window), head) {
            (Stand::Delayed, Some(ends_at), _) => round.later.push((batch, Wait::Window { ends_at })),
            (Stand::New, _, Some(head)) if head.stand() == Stand::New => {
                round.later.push((batch, Wait::Earlier(head)));
            }
            (Stand::New, _, Some(head)) => round.later.push((batch, Wait::UnderWay(head))),
            _ => round.never.push(batch),
        }
    }
    round
}

/// Returns the batch of each service that keeps its others waiting: one under way, or else the first of the new ones.
fn heads(batches: &[Batch]) -> BTreeMap<&Option<String>, &Batch> {
    let mut heads: BTreeMap<&Option<String>, &Batch> = BTreeMap::new();
    for batch in batches.iter().filter(|batch| batch.stand() != Stand::Decided) {
        let head = heads.entry(&batch.service).or_insert(batch);
        let goes_first = match (batch.stand(), head.stand()) {
            (Stand::New, Stand::New) => batch.order() < head.order(),
            (_, Stand::New) => true,
            _ => false,
        };
        if goes_first {
            *head = batch;
        }
    }
    heads
}

impl fmt::Display for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Window { ends_at } => write!(f, "its delay window ends at {ends_at}"),
            Wait::Earlier(batch) => write!(f, "batch {} of its service goes first", batch.header),
            Wait::UnderWay(batch) => {
                let status = batch.status.map_or("being submitted", BatchStatus::as_str).to_lowercase();
                write!(f, "batch {} of its service is {status}", batch.header)
            }
        }
    }
}
