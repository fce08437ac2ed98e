//! Events: what happened, one per revision, in the exact bytes a third party can check.
//!
//! An event has two halves. The *leaf* is what is proven: its bytes are hashed into the audit tree and chained to the
//! leaf before it, and it holds documents only as salted digests. The *detail* is what only this deployment keeps:
//! names, metadata, salts and what `evolve` needs. Documents live apart from both, so that erasing them breaks no
//! proof.

mod leaf_bytes;

pub use wire::event::{Kind, Notified};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Name;
use crate::actor::{Actor, ActorKind, Right};
use crate::digest::Digest;
use crate::json::Json;
use crate::submission::{
    Approval, Assignment, Failure, Kept, Request, Seat, SlaClock, Status, SubmissionId, Wait,
};
use crate::time::Time;
use crate::token::Bits;
use crate::trace::Trace;

#[derive(Debug, Clone)]
pub struct Event {
    pub leaf: Leaf,
    pub detail: Detail,
    /// The additions of the event to the submission's documents. Not stored with the event.
    pub documents: NewDocuments,
    /// The leaf's bytes, where they are at hand: they are hashed when it is decided and written when it is committed.
    pub bytes: Option<Arc<[u8]>>,
}

/// Compares without the bytes: having them at hand makes no difference.
impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        (&self.leaf, &self.detail, &self.documents) == (&other.leaf, &other.detail, &other.documents)
    }
}

/// The provable half. Field order is the byte order: it never changes within a format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaf {
    pub format: u32,
    pub kind: Kind,
    pub definition: Digest,
    pub submission: SubmissionId,
    pub revision: u64,
    /// The leaf hash of the submission's event before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Digest>,
    pub at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Name>,
    pub to: Name,
    pub trigger: Name,
    pub actor: Pseudonym,
    pub right: Right,
    pub held: bool,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Digest>,
}

impl Leaf {
    pub const FORMAT: u32 = 1;

    /// The hash of leaf bytes as RFC 6962 has it.
    #[must_use]
    pub fn hash(bytes: &[u8]) -> Digest {
        Digest::of_parts(&[&[0], bytes])
    }
}

/// The pseudonym of an actor: the kind in clear, the name as a keyed digest that is the same every time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pseudonym {
    #[serde(rename = "type")]
    pub kind: ActorKind,
    pub id: Digest,
}

impl Pseudonym {
    #[must_use]
    pub fn of(actor: &Actor, secret: &[u8; 32]) -> Self {
        // One fixed-length secret before the name: no two (secret, name) pairs give the same input, and SHA-256's
        // length extension is of no use because the digest is the end of the matter.
        Pseudonym { kind: actor.kind, id: Digest::of_parts(&[secret, actor.name.as_bytes()]) }
    }
}

/// The half that stays here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    pub actor: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    #[serde(default, skip_serializing_if = "Salts::is_empty")]
    pub salts: Salts,
    /// The recipients the event tells, and those it could not tell. The leaf has neither: a notification proves
    /// nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notified: Vec<Notified>,
    pub change: Change,
}

/// The salts of the digests of the leaf; erased together with the documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Salts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Bits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Bits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Bits>,
}

impl Salts {
    fn is_empty(&self) -> bool {
        *self == Salts::default()
    }
}

/// The change an event made to the row; `evolve` applies it without knowing the pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Submitted(Box<Submitted>),
    Moved(Moved),
    Retried {
        error: Failure,
        rule: Name,
        until: Time,
    },
    Crashed {
        task: Name,
        rank: i64,
        /// The worker that vanished; not known of events that were recorded before this was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<Name>,
    },
    Died {
        error: Failure,
        kept: Option<Kept>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<Seat>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<Spent>,
    },
    Requested {
        request: Box<Request>,
        task: Name,
        rank: i64,
    },
    Abandoned {
        error: Failure,
        wait: Wait,
        status: Status,
    },
    Amended(Amended),
    Redriven {
        wait: Wait,
        seat: Option<Seat>,
    },
    Sealed,
    Erased,
    Forgotten,
    /// The clocks that ran out.
    Late {
        clocks: Vec<Option<Name>>,
    },
    Approved(Approval),
    Acknowledged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Assigned(Assignment),
    Released,
    Noted,
    Migrated(Box<Migrated>),
    Refused {
        /// The one that was named: it may not exist.
        pipeline: Name,
        error: Failure,
    },
    Merged {
        pipeline: Name,
        into: SubmissionId,
    },
}

impl Change {
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Change::Submitted(_) => Kind::Submitted,
            Change::Moved(_) => Kind::Moved,
            Change::Retried { .. } => Kind::Retried,
            Change::Crashed { .. } => Kind::Crashed,
            Change::Died { .. } => Kind::Died,
            Change::Requested { .. } => Kind::Requested,
            Change::Abandoned { .. } => Kind::Abandoned,
            Change::Amended(_) => Kind::Amended,
            Change::Redriven { .. } => Kind::Redriven,
            Change::Sealed => Kind::Sealed,
            Change::Erased => Kind::Erased,
            Change::Forgotten => Kind::Forgotten,
            Change::Late { .. } => Kind::Late,
            Change::Approved(_) => Kind::Approved,
            Change::Acknowledged { .. } => Kind::Acknowledged,
            Change::Assigned(_) => Kind::Assigned,
            Change::Released => Kind::Released,
            Change::Noted => Kind::Noted,
            Change::Migrated(_) => Kind::Migrated,
            Change::Refused { .. } => Kind::Refused,
            Change::Merged { .. } => Kind::Merged,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submitted {
    pub pipeline: Name,
    pub version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SubmissionId>,
    /// Queued behind an open submission with the same key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key_waits: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_given: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Whoever submitted it, where the event shows the system instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitter: Option<Name>,
    /// The person who submitted the first of its parents, if it is a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Name>,
    /// The error it begins with, where the way in states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    pub entry: Entry,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    pub entry: Entry,
    /// The error it has from then on: the one that moved it, or the one that the edge states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Set if the edge states the error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stated: bool,
    /// The error that moved it, where the edge states another one instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restated: Option<Failure>,
    /// Set if the state that was left is now the submission's last good one.
    #[serde(default)]
    pub good: bool,
    /// Set if an ended submission was opened again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reopened: bool,
    /// The error is that of a state before: a pass state only handed it on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

impl Moved {
    /// The failure that moved it, whatever its edge says about it.
    #[must_use]
    pub fn cause(&self) -> Option<&Failure> {
        if self.stated { self.restated.as_ref() } else { self.error.as_ref() }
    }
}

/// A time to live that has done its work: it does not fire twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    State,
    Pipeline,
}

/// The result of entering a state: how the submission waits there, and what was derived on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub wait: Wait,
    pub status: Status,
    pub priority: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_ttl_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forget_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<SlaClock>,
    /// Set if somebody should look into the end that was reached here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub investigate: bool,
}

/// The place of a submission under the version it was moved to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Migrated {
    pub version: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_at: Option<Time>,
    pub entry: Entry,
    /// Set if the submission goes on waiting as it did: its tries count on.
    pub stays: bool,
    /// The names that the submission's states have now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_from: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_good: Option<Name>,
}

/// The changes of an amendment besides the payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amended {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Name, Name>,
    pub priority: i64,
    /// Set where a lease was taken back or a queue was joined anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewDocuments {
    pub payload: Option<Json>,
    /// The output of the state the event leaves.
    pub output: Option<Json>,
    pub result: Option<Json>,
    /// Of an amendment: the members of the payload that it replaced, as they were before.
    pub replaced: Option<Json>,
}

impl Event {
    /// An id of its own, out of its leaf: the same event has the same id on every store.
    #[must_use]
    pub fn id(&self) -> Uuid {
        Event::id_of(Leaf::hash(&self.leaf.bytes()))
    }

    /// Makes the same id as [`Event::id`], for whoever has the hash of the leaf already.
    #[must_use]
    pub fn id_of(hash: Digest) -> Uuid {
        uuid::Builder::from_custom_bytes(std::array::from_fn(|index| hash.0[index])).into_uuid()
    }

    /// Returns the failure, where the event tells of one.
    #[must_use]
    pub fn error(&self) -> Option<&Failure> {
        match &self.detail.change {
            Change::Retried { error, .. }
            | Change::Died { error, .. }
            | Change::Abandoned { error, .. }
            | Change::Refused { error, .. } => Some(error),
            Change::Moved(moved) => moved.error.as_ref(),
            Change::Submitted(submitted) => submitted.error.as_ref(),
            _ => None,
        }
    }

    /// Returns the failure that made the event, whatever an edge says about it.
    #[must_use]
    pub fn cause(&self) -> Option<&Failure> {
        match &self.detail.change {
            Change::Moved(moved) => moved.cause(),
            _ => self.error(),
        }
    }

    /// Returns the worker that vanished, where that is what happened.
    #[must_use]
    pub fn vanished(&self) -> Option<&Name> {
        match &self.detail.change {
            Change::Crashed { worker, .. } => worker.as_ref(),
            _ => None,
        }
    }

    /// The pipeline something named that never became a submission: there is no row to ask.
    #[must_use]
    pub fn unborn_pipeline(&self) -> Option<&Name> {
        match &self.detail.change {
            Change::Refused { pipeline, .. } | Change::Merged { pipeline, .. } => Some(pipeline),
            _ => None,
        }
    }

    /// The documents the event sets, by the names they are stored under.
    #[must_use]
    pub fn named_documents(&self) -> Vec<(String, Json)> {
        let NewDocuments { payload, output, result, replaced } = &self.documents;
        let output_name = || format!("output/{}", self.leaf.from.as_ref().unwrap_or(&self.leaf.to));
        let payload = payload.as_ref().map(|body| ("payload".to_owned(), body.clone()));
        let output = output.as_ref().map(|body| (output_name(), body.clone()));
        let result = result.as_ref().map(|body| ("result".to_owned(), body.clone()));
        let replaced =
            replaced.as_ref().map(|body| (format!("replaced/{}", self.leaf.revision), body.clone()));
        [payload, output, result, replaced].into_iter().flatten().collect()
    }
}

/// The stored form of an event: two texts, of which the first is the leaf's exact bytes.
impl Event {
    #[must_use]
    pub fn to_stored(&self) -> (Vec<u8>, Vec<u8>) {
        (self.leaf_bytes().into_owned(), self.detail_text().into_bytes())
    }

    #[must_use]
    pub fn leaf_bytes(&self) -> Cow<'_, [u8]> {
        self.bytes.as_deref().map_or_else(|| self.leaf.bytes().into(), Cow::Borrowed)
    }

    #[must_use]
    pub fn detail_text(&self) -> String {
        serde_json::to_string(&self.detail).expect("a detail has only string keys and finite numbers")
    }

    /// A stored detail without what the digests of erased documents were salted with; `None` if it has nothing of it.
    pub fn without_salts(detail: &[u8]) -> Result<Option<Vec<u8>>, serde_json::Error> {
        let mut detail: Detail = serde_json::from_slice(detail)?;
        let salts = &mut detail.salts;
        let had = salts.payload.take().is_some() | salts.output.take().is_some();
        had.then(|| serde_json::to_vec(&detail)).transpose()
    }

    /// Reads an event back, without the documents it brought.
    pub fn from_stored(leaf: &[u8], detail: &[u8]) -> Result<Event, serde_json::Error> {
        Ok(Event {
            leaf: serde_json::from_slice(leaf)?,
            detail: serde_json::from_slice(detail)?,
            documents: NewDocuments::default(),
            bytes: None,
        })
    }
}
