//! The versions of a pipeline in the order they were applied: the last is in force.

use std::collections::BTreeMap;

use model::Name;
use serde::{Deserialize, Serialize};
use store::Store;

use crate::registry::{self, Entry, EntryKey};

/// The versions of each pipeline, in the order they were applied.
#[derive(Debug)]
pub(crate) enum Histories {}

impl Entry for Histories {
    const KIND: &'static str = "applied";
    type Body = Vec<AppliedVersion>;
}

/// A version that came into force, with the revision of its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct AppliedVersion {
    pub version: u32,
    pub revision: u32,
}

/// First revisions are written as they were before there were others.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    First(u32),
    Revised(u32, u32),
}

impl From<Written> for AppliedVersion {
    fn from(written: Written) -> Self {
        match written {
            Written::First(version) => AppliedVersion { version, revision: 1 },
            Written::Revised(version, revision) => AppliedVersion { version, revision },
        }
    }
}

impl From<AppliedVersion> for Written {
    fn from(AppliedVersion { version, revision }: AppliedVersion) -> Self {
        if revision == 1 { Written::First(version) } else { Written::Revised(version, revision) }
    }
}

/// The newest revision of a version that was applied; 0: none was.
pub(super) fn revision_of(history: &[AppliedVersion], version: u32) -> u32 {
    let of_version = history.iter().filter(|applied| applied.version == version);
    of_version.map(|applied| applied.revision).max().unwrap_or(0)
}

/// Returns the key of a pipeline's versions, listed in the order in which they were applied.
pub(crate) fn history_key(pipeline: &str) -> EntryKey<Histories> {
    EntryKey::new(pipeline)
}

/// The lists of all pipelines.
pub(crate) fn histories(store: &dyn Store) -> Result<BTreeMap<Name, Vec<AppliedVersion>>, store::Error> {
    let all = registry::all::<Histories>(store)?;
    Ok(all.into_iter().map(|(name, history)| (name.into(), history.unwrap_or_default())).collect())
}

#[cfg(test)]
mod tests {
    use model::Json;

    use super::*;

    #[test]
    fn lists_written_before_there_were_revisions_are_read() {
        let body = Json::from_stored("[1,2,[2,2],1]");
        let history = Histories::read(&body).unwrap();
        assert_eq!(history.last(), Some(&AppliedVersion { version: 1, revision: 1 }));
        assert_eq!((revision_of(&history, 2), revision_of(&history, 3)), (2, 0));
        assert_eq!(serde_json::to_string(&history).unwrap(), body.as_str());
    }
}
