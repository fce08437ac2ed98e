//! Entries of systems: small named documents that a system keeps beside its submissions.

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::digest::Digest;
use crate::json::Json;

/// An entry as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryView {
    pub name: Name,
    /// The digest that names this body to whoever means to replace it; null where there is no such entry.
    pub digest: Option<Digest>,
    pub body: Option<Json>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryPage {
    pub entries: Vec<EntryView>,
    pub next: Option<String>,
}

/// A change of one entry, made only if the entry is what is expected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryBody {
    /// The digest of the body that is to be replaced. Left out: there is to be no such entry yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Digest>,
    /// The new body. Left out: the entry is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Json>,
}

/// A change of an entry in the commit of a worker's answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryChangeBody {
    pub system: Name,
    pub name: Name,
    /// The digest of the body that is to be replaced. Left out: there is to be no such entry yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Digest>,
    /// The new body. Left out: the entry is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Json>,
}
