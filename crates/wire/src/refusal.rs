//! Refusals: what is answered instead of a move. Expected, stable, never logged as trouble.

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::Name;

/// A refusal's stable code, and the reaction it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The request itself is wrong; sending it again will not help.
    Invalid,
    Unauthorized,
    Forbidden,
    NotFound,
    /// The thing asked for was there and is not any more.
    Gone,
    /// The request does not fit what is there now.
    Conflict,
    /// A condition the caller set does not hold.
    Precondition,
    TooLarge,
    /// Well formed, but not acceptable.
    Unprocessable,
    /// Too much was asked; less of it is welcome.
    TooMany,
    /// Try again later.
    Unavailable,
    /// Our fault.
    Internal,
}

macro_rules! codes {
    ($($name:ident = $text:literal, $class:ident, $title:literal;)*) => {
        /// Every code the product answers with; `docs/errors.md` is made from this list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($name),* }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$name),*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }

            #[must_use]
            pub fn class(self) -> Class {
                match self { $(Code::$name => Class::$class),* }
            }

            /// Returns the meaning of the code, in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title),* }
            }
        }
    };
}

codes! {
    InvalidRequest = "invalid-request", Invalid, "the request is not well formed";
    InvalidJson = "invalid-json", Invalid, "the body is not strict JSON";
    InvalidDefinition = "invalid-definition", Unprocessable, "the pipeline file has problems";
    SchemaViolation = "schema-violation", Unprocessable, "a document does not fit its JSON Schema";
    TooComplex = "too-complex", Unprocessable, "a document takes too long to check against its JSON Schema";
    NotAdmitted = "not-admitted", Unprocessable, "no way into the pipeline fits the submission";
    GuardError = "guard-error", Unprocessable, "an expression of the pipeline could not be evaluated";
    KeyMismatch = "key-mismatch", Unprocessable, "the given key is not the one the pipeline derives";
    UnknownOutcome = "unknown-outcome", Unprocessable, "the state declares no such outcome";
    ReasonRequired = "reason-required", Unprocessable, "this needs a reason";
    PickRequired = "pick-required", Unprocessable, "the action needs to be told which state to go to";
    IdempotencyMismatch = "idempotency-mismatch", Unprocessable, "the Idempotency-Key was used with another request";
    TooLarge = "too-large", TooLarge, "something is over its bound";
    Unauthorized = "unauthorized", Unauthorized, "no valid token was given";
    RoleRequired = "role-required", Forbidden, "the caller's role does not allow this";
    Reserved = "reserved", Forbidden, "this is the engine's own; nobody else may have it";
    SelfApproval = "self-approval", Forbidden, "somebody else than the submitter must do this";
    NotSubmitter = "not-submitter", Forbidden, "only whoever submitted it may do this";
    ForbiddenHost = "forbidden-host", Forbidden, "an open server answers only to this machine's own names";
    UnknownRoute = "unknown-route", NotFound, "there is nothing at this address";
    UnknownPipeline = "unknown-pipeline", NotFound, "no such pipeline";
    UnknownHold = "unknown-hold", NotFound, "no such hold";
    UnknownCursor = "unknown-cursor", NotFound, "no such cursor";
    UnknownEndpoint = "unknown-endpoint", NotFound, "no such endpoint";
    UnknownToken = "unknown-token", NotFound, "no such token";
    UnknownSubmission = "unknown-submission", NotFound, "no such submission";
    Refused = "refused", Gone, "what was sent under this id was refused and never became a submission";
    FeedRetired = "feed-retired", Gone, "the feed no longer goes back that far";
    MethodNotAllowed = "method-not-allowed", Invalid, "this address does not take this method";
    UnsupportedMediaType = "unsupported-media-type", Invalid, "the body's media type is not taken here";
    DuplicateKey = "duplicate-key", Conflict, "an open submission has this key";
    KeyConflict = "key-conflict", Conflict, "an open submission has this key with another payload";
    EntryConflict = "entry-conflict", Conflict, "an entry of a system is not what the request expects";
    EndpointExists = "endpoint-exists", Conflict, "the address has an endpoint already";
    StaleLease = "stale-lease", Conflict, "the lease is over or another's; the answer changes nothing";
    NotLeasable = "not-leasable", Conflict, "the submission is not waiting for a worker of this task";
    ActionNotAllowed = "action-not-allowed", Conflict, "the state has no such action";
    LaneTaken = "lane-taken", Conflict, "another submission has the lane; try when it has moved on";
    Erased = "erased", Conflict, "the submission's documents were erased";
    NotDead = "not-dead", Conflict, "only a dead letter can be redriven";
    NothingToAcknowledge = "nothing-to-acknowledge", Conflict, "nothing about the submission waits to be investigated";
    NotInReview = "not-in-review", Conflict, "the submission waits for no person";
    ReviewTaken = "review-taken", Conflict, "another person has the review";
    NotAmendable = "not-amendable", Conflict, "the pipeline does not let this be amended";
    NotMigratable = "not-migratable", Conflict, "the submission cannot follow that version as it stands";
    UnknownOperation = "unknown-operation", NotFound, "no such operation";
    OperationOver = "operation-over", Conflict, "the operation has ended";
    UnknownVersion = "unknown-version", NotFound, "no such version of the pipeline";
    CursorAhead = "cursor-ahead", Conflict, "the cursor is further on already";
    AlreadyAsked = "already-asked", Conflict, "the caller has asked for this already";
    GuardNotMet = "guard-not-met", Conflict, "the action's conditions do not hold now";
    Expired = "expired", Conflict, "the submission's time to live is over; finish or let go";
    VersionExists = "version-exists", Conflict, "this version was applied with other contents";
    VersionOutdated = "version-outdated", Conflict, "a later version is applied already";
    VersionInUse = "version-in-use", Conflict, "something follows this version, or may have to";
    TooManyVersions = "too-many-versions", Conflict, "as many versions of the pipeline are kept as may be";
    MetricTaken = "metric-taken", Conflict, "another pipeline has a metric that takes this name";
    NoLog = "no-log", NotFound, "this server publishes no audit log";
    UnknownTile = "unknown-tile", NotFound, "the log has no such file";
    UnknownKey = "unknown-key", NotFound, "the log is signed by no such key";
    LastKey = "last-key", Conflict, "a log needs a key; add another first";
    LogRunning = "log-running", Conflict, "the audit log goes on; there is nothing to fork";
    AdminFirst = "admin-first", Conflict, "the first token must be an admin's, for everything and without an end";
    LastAdmin = "last-admin", Conflict, "somebody must be able to make tokens; make another admin's first";
    RevisionMismatch = "revision-mismatch", Precondition, "the submission has moved on since the given revision";
    RateLimited = "rate-limited", TooMany, "more requests than this caller may make; wait as `Retry-After` says";
    Overloaded = "overloaded", Unavailable, "too much is waiting; try again soon";
    Draining = "draining", Unavailable, "the server is stopping; try another or wait";
    Unavailable = "unavailable", Unavailable, "the store cannot be reached";
    OutcomeUnknown = "outcome-unknown", Unavailable, "the store was lost while committing; ask before repeating";
    NotProven = "not-proven", Unavailable, "it is committed, and not yet under a signed checkpoint";
    Internal = "internal", Internal, "a fault on our side; nothing was changed";
}

/// The reason why a command was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{message}")]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    /// Extra members of the problem, such as the legal actions.
    pub details: Map<String, Value>,
}

impl Refusal {
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), details: Map::new() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a list of names, such as the outcomes that a state declares.
    #[must_use]
    pub fn with_names<'a>(self, name: &str, names: impl Iterator<Item = &'a Name>) -> Self {
        let list: Vec<&str> = names.map(|name| &**name).collect();
        self.with(name, json!(list))
    }
}
