//! Any leaf of the log.

use model::Time;

use super::{EventLeaf, Record};

#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every leaf is an event, and a box would cost each an allocation"
)]
pub enum Entry<'a> {
    Event(EventLeaf<'a>),
    Record(Record),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the leaf is neither an event nor an act in a format known here, spelled as it is written")]
pub struct MalformedLeaf;

impl<'a> Entry<'a> {
    /// Reads a leaf. Only the one spelling that is written is read: what was added, repeated or rearranged is malformed.
    pub fn read(bytes: &'a [u8]) -> Result<Self, MalformedLeaf> {
        let event = EventLeaf::read(bytes).map(Entry::Event);
        event.or_else(|| Record::read(bytes).map(Entry::Record)).ok_or(MalformedLeaf)
    }

    /// Returns when it was recorded.
    #[must_use]
    pub fn at(&self) -> Time {
        match self {
            Entry::Event(event) => event.at,
            Entry::Record(act) => act.at(),
        }
    }
}
