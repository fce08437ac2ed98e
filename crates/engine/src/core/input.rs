//! The requests to the core and its answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::admit::Admission;
use model::entry::EntryChange;
use model::submission::{Attempts, Wait};
use model::token::Bits;
use model::{
    Caller, Code, Command, Digest, Documents, LeaseToken, Millis, Name, Pipeline, Refusal, Status,
    Submission, SubmissionId, Time,
};
use serde::{Deserialize, Serialize};
use store::RequestKey;

use super::cursors::{Cursor, CursorName, MoveCursor};
use super::endpoints::{EndpointDeed, EndpointEntry};
use super::fleet::{Server, Shift};
use super::log::{Deed as LogDeed, KeptActs};
use super::operations::{Chunk, Operation};
use super::schedules::{Scheduled, Tick};
use super::tokens::{TokenDeed, TokenEntry};
use crate::bounds::Part;
use crate::flow;
use crate::holds::Hold;
use crate::levels::News;
use crate::pipelines::{Apply, Brought};
use crate::registry::EntryKey;

/// One thing asked. Inputs of a batch are decided in order, each seeing what the ones before it did.
#[derive(Debug, Clone)]
pub struct Input {
    pub ask: Ask,
    /// Whoever asks, where it matters: what goes on record says who, and what is bounded is counted for them.
    pub by: Option<Asker>,
    /// Makes the ask answerable once: a repeat gets the first answer.
    pub once: Option<Once>,
}

/// Somebody in whose name something is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub caller: Caller,
    /// The part that they may use of what is bounded.
    pub part: Part,
}

impl Asker {
    /// One that may use all there is.
    #[must_use]
    pub fn owner(caller: Caller) -> Asker {
        Asker { caller, part: Part::Whole }
    }

    /// One that gets no more than a subject's share, and nothing of the reserve.
    #[must_use]
    pub fn sharing(caller: Caller) -> Asker {
        Asker { caller, part: Part::Share }
    }
}

impl Input {
    /// Returns the same input in somebody's name.
    #[must_use]
    pub fn by(self, asker: Asker) -> Input {
        Input { by: Some(asker), ..self }
    }

    /// Returns the same input, answered once.
    #[must_use]
    pub fn once(self, once: Option<Once>) -> Input {
        Input { once, ..self }
    }

    /// A smaller one to begin with, of those that come in chunks.
    pub(super) fn half(&self) -> Option<Input> {
        match &self.ask {
            Ask::Operate(chunk) => chunk.half().map(|half| Ask::Operate(Box::new(half)).into()),
            _ => None,
        }
    }
}

impl From<Ask> for Input {
    fn from(ask: Ask) -> Self {
        Input { ask, by: None, once: None }
    }
}

#[derive(Debug, Clone)]
pub enum Ask {
    Submit(Arc<Admission>),
    /// A command to one submission: a settlement, a renewal, an action.
    Tell(SubmissionId, Command),
    Claim(ClaimMany),
    /// Brings a definition into force.
    Apply(Box<Apply>),
    /// Lets go of a version that nothing follows.
    RetireVersion {
        pipeline: Name,
        version: u32,
    },
    /// Stops what the hold covers, from this commit on.
    Hold(Box<Hold>),
    Release(Name),
    MoveCursor(MoveCursor),
    DropCursor(CursorName),
    /// Submits what a schedule says, once for each of its times.
    Tick(Box<Tick>),
    /// Begins an operation.
    Start(Box<Operation>),
    Stop(Name),
    /// Does the next few submissions of an operation.
    Operate(Box<Chunk>),
    /// Removes so much of an ended operation: these results, or itself once they are gone.
    Drop {
        operation: Name,
        results: Vec<String>,
    },
    /// A server over a shared store says that it is there.
    Present {
        server: Box<Server>,
        gone: Vec<Name>,
    },
    /// Takes a duty that one server is enough for.
    TakeDuty {
        duty: Name,
        server: Name,
    },
    /// A server stops, and lets go of these duties where it has them.
    Leave {
        server: Name,
        duties: Vec<Name>,
    },
    /// Has those looked at that are parked under these names, unless a hold in force keeps them there.
    LookAside(Vec<Name>),
    /// Lets go of events before a position, and keeps these entries about what goes.
    Retire {
        before: u64,
        kept: Vec<(EntryKey<KeptActs>, LoggedRecord)>,
    },
    /// Adds what a server measured of service levels to what is registered.
    Measured(Box<News>),
    /// Adds what a server counted of the flow to its entries.
    Flowed(Box<flow::News>),
    /// Does something to the log.
    Log(Box<LogDeed>),
    /// Believes the clock, though it is far from what is known.
    ConfirmClock,
    /// Changes one entry of a system, if it is what is expected.
    PutEntry(Box<EntryChange>),
    /// Makes, ends or replaces a token.
    Token(Box<TokenDeed>),
    /// Makes, changes or ends an endpoint of webhooks.
    Endpoint(Box<EndpointDeed>),
}

impl Ask {
    /// Goes on to a pipeline.
    #[must_use]
    pub fn apply(pipeline: Arc<Pipeline>) -> Ask {
        Ask::Apply(Box::new(Apply::new(pipeline)))
    }
}

/// An act that is kept though its place in the sequence of events is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedRecord {
    /// The act's index in the log.
    pub index: u64,
    /// The act's exact bytes.
    pub leaf: String,
}

/// A worker's wish for work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimMany {
    pub worker: Name,
    pub tasks: Vec<Name>,
    pub pipelines: Vec<Name>,
    pub labels: BTreeMap<Name, Name>,
    pub max: usize,
    /// Only what the batch itself brings: whoever asks has looked at the queue and found nothing.
    pub arriving: bool,
    /// The only submission wanted, wherever it stands among the first in its queue.
    pub only: Option<SubmissionId>,
    /// The time the leases are to be good without a renewal; none: as each state says.
    pub lease: Option<Millis>,
}

#[derive(Debug, Clone)]
pub struct Once {
    pub key: RequestKey,
    /// The digest of the request: the same key with another request is a mistake.
    pub digest: Digest,
    /// The number of answers that are kept for the subject at a time at most; none: any number.
    pub most: Option<usize>,
}

/// The answer to an `Ask` that was granted.
#[derive(Debug, Clone)]
pub enum Output {
    Submission(Box<Answered>),
    Settled {
        state: Name,
        status: Status,
        repeated: bool,
    },
    Renewed {
        expires_at: Time,
        payload_revision: u64,
    },
    Tasks(Vec<Granted>),
    Applied(Box<Brought>),
    Hold(Box<Hold>),
    Cursor(Cursor),
    Scheduled(Box<Scheduled>),
    Operation(Box<Operation>),
    Shift(Shift),
    Token(Box<TokenEntry>),
    Endpoint(Box<EndpointEntry>),
    /// The request is done, and there is nothing to tell.
    Gone,
}

pub type Reply = Result<Output, Refusal>;

/// The submission as the command left it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answered {
    pub row: Arc<Submission>,
    #[serde(default)]
    pub duplicate: bool,
}

/// A lease and everything its worker needs.
#[derive(Debug, Clone)]
pub struct Granted {
    pub token: LeaseToken,
    pub row: Arc<Submission>,
    pub documents: Documents,
    pub pipeline: Arc<Pipeline>,
}

/// The stored form of an answer given once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Receipt {
    digest: Digest,
    answer: Answered,
}

impl Receipt {
    pub(super) fn new(once: &Once, answer: &Answered) -> Self {
        let mut answer = answer.clone();
        // What callers are never shown is not kept for them: a granted action's data, and who may settle a lease.
        let row = Arc::make_mut(&mut answer.row);
        row.request = None;
        row.settled.clear();
        row.attempts = Attempts::default();
        if let Wait::Lease(lease) = &mut row.wait {
            lease.bits = Bits([0; 16]);
        }
        Receipt { digest: once.digest, answer }
    }

    /// The first answer, if this is the first request again.
    pub(super) fn answer(self, once: &Once) -> Reply {
        if self.digest != once.digest {
            return Err(Refusal::new(
                Code::IdempotencyMismatch,
                "this Idempotency-Key was used with another request; use a new one",
            ));
        }
        Ok(Output::Submission(Box::new(self.answer)))
    }
}
