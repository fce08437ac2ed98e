//! An event's leaf, read in place.
//!
//! A full audit reads every leaf of a log. Most are of the plain form the model writes, and for those a scan that borrows
//! its strings costs a fifth of what a general JSON parser costs; all others take the long way, through the model's own
//! type, and must be what that type writes to the byte.

use std::borrow::Cow;

use model::event::{Kind, Leaf};
use model::{ActorKind, Digest, Right, SubmissionId, Time};

use super::scan;

/// The provable half of an event: see [`model::event::Leaf`].
#[derive(Debug, Clone, PartialEq)]
pub struct EventLeaf<'a> {
    pub kind: Kind,
    pub definition: Digest,
    pub submission: SubmissionId,
    pub revision: u64,
    pub previous: Option<Digest>,
    pub at: Time,
    pub from: Option<Cow<'a, str>>,
    pub to: Cow<'a, str>,
    pub trigger: Cow<'a, str>,
    pub actor: ActorKind,
    pub actor_id: Digest,
    pub right: Right,
    pub held: bool,
    pub attempt: u32,
    pub payload: Option<Digest>,
    pub output: Option<Digest>,
    pub metadata: Option<Digest>,
}

impl<'a> EventLeaf<'a> {
    /// `None` if these are not the bytes of an event.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        scan::event(text).or_else(|| {
            let leaf: Leaf = serde_json::from_str(text).ok()?;
            (leaf.format == Leaf::FORMAT && leaf.bytes() == bytes).then(|| EventLeaf::of(&leaf))
        })
    }

    #[must_use]
    pub fn of(leaf: &Leaf) -> EventLeaf<'static> {
        let owned = |name: &model::Name| Cow::Owned(name.to_string());
        EventLeaf {
            kind: leaf.kind,
            definition: leaf.definition,
            submission: leaf.submission,
            revision: leaf.revision,
            previous: leaf.previous,
            at: leaf.at,
            from: leaf.from.as_ref().map(owned),
            to: owned(&leaf.to),
            trigger: owned(&leaf.trigger),
            actor: leaf.actor.kind,
            actor_id: leaf.actor.id,
            right: leaf.right,
            held: leaf.held,
            attempt: leaf.attempt,
            payload: leaf.payload,
            output: leaf.output,
            metadata: leaf.metadata,
        }
    }
}
