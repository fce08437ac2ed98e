//! The first thing wrong, and where.

use std::fmt;

use model::SubmissionId;

/// The kind of thing that is wrong. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Not a document, leaf or proof of a form known here.
    Malformed,
    /// Not signed by a key that is trusted, or not by that key.
    Signature,
    /// Too few witnesses.
    Witness,
    /// Not the log that was known before, or older than what was known.
    Consistency,
    /// A tile, or an entry, that the signed root does not vouch for.
    Tile,
    /// A leaf that is not where it is said to be.
    Inclusion,
    /// Events that are not in the order in which they were logged.
    Order,
    /// An event that does not follow the one before it.
    Chain,
    /// A revision that is missing, repeated, or not there yet.
    Revision,
    /// A definition that was not logged before it was used, or is not what was logged.
    Definition,
    /// A document that is not the one the event speaks of.
    Document,
    /// A move no edge allows, or not now.
    Move,
    /// A move under another name.
    Trigger,
    /// A move by somebody who may not make it.
    Right,
    /// A guard that says otherwise.
    Guard,
    /// Less than what is claimed.
    Incomplete,
    /// Entries that are gone without a policy that says so.
    Pruned,
    /// Another spelling of the same content.
    Spelling,
}

impl Fault {
    pub const ALL: [Fault; 18] = [
        Fault::Malformed,
        Fault::Signature,
        Fault::Witness,
        Fault::Consistency,
        Fault::Tile,
        Fault::Inclusion,
        Fault::Order,
        Fault::Chain,
        Fault::Revision,
        Fault::Definition,
        Fault::Document,
        Fault::Move,
        Fault::Trigger,
        Fault::Right,
        Fault::Guard,
        Fault::Incomplete,
        Fault::Pruned,
        Fault::Spelling,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Fault::Malformed => "malformed",
            Fault::Signature => "signature",
            Fault::Witness => "witness",
            Fault::Consistency => "consistency",
            Fault::Tile => "tile",
            Fault::Inclusion => "inclusion",
            Fault::Order => "order",
            Fault::Chain => "chain",
            Fault::Revision => "revision",
            Fault::Definition => "definition",
            Fault::Document => "document",
            Fault::Move => "move",
            Fault::Trigger => "trigger",
            Fault::Right => "right",
            Fault::Guard => "guard",
            Fault::Incomplete => "incomplete",
            Fault::Pruned => "pruned",
            Fault::Spelling => "spelling",
        }
    }
}

/// The place in the log, and in a submission's history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogPlace {
    pub index: Option<u64>,
    pub submission: Option<SubmissionId>,
    pub revision: Option<u64>,
}

impl LogPlace {
    pub(super) fn index(index: u64) -> Self {
        LogPlace { index: Some(index), ..LogPlace::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub fault: Fault,
    pub place: LogPlace,
    pub message: String,
}

impl Finding {
    pub(super) fn new(fault: Fault, message: impl Into<String>) -> Self {
        Finding { fault, place: LogPlace::default(), message: message.into() }
    }

    /// Says where, unless it is already said.
    pub(super) fn at(mut self, place: LogPlace) -> Self {
        self.place.index = self.place.index.or(place.index);
        self.place.submission = self.place.submission.or(place.submission);
        self.place.revision = self.place.revision.or(place.revision);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.fault.as_str(), self.message)?;
        let LogPlace { index, submission, revision } = self.place;
        let parts = [
            index.map(|index| format!("log index {index}")),
            submission.map(|submission| format!("submission {submission}")),
            revision.map(|revision| format!("revision {revision}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { Ok(()) } else { write!(f, " ({})", parts.join(", ")) }
    }
}

impl std::error::Error for Finding {}
