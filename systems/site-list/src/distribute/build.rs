//! Building a distribution: the log is replayed, and must lead to the list.

use std::fs;
use std::path::Path;

use tlog::durable;

use super::files::{BIN, JSON, Latest, UPDATE, Witnessed};
use super::leaves::{LeavesError, LogLeaves};
use crate::leaf::{Leaf, Phase};
use crate::list::{Disagreement, Distribution, List, Replay};

/// A distribution, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub distribution: Distribution,
    pub witnessed: Witnessed,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Leaves(#[from] LeavesError),
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    #[error("{0}")]
    Folder(String),
}

/// Builds a distribution of a list that follows from its log. The same list and log give the same bytes.
///
/// # Errors
/// When the list does not follow from the log.
pub fn build(list: &List, log: &LogLeaves) -> Result<Built, BuildError> {
    let replay = replayed(log)?;
    replay.check(list)?;
    let newest = log.leaves.iter().enumerate().rev().find(|(_, leaf)| is_in(list, leaf));
    let witnessed = Witnessed {
        leaf: newest.map(|(_, leaf)| String::from_utf8_lossy(leaf).into_owned()),
        proof: newest.map(|(index, _)| log.path(index as u64)),
        tree_head: log.tree_head.clone(),
    };
    Ok(Built { distribution: Distribution::of(list), witnessed })
}

/// Returns whether a leaf is a confirmed change that the list has. The newest leaves may be of changes that are not complete.
fn is_in(list: &List, leaf: &[u8]) -> bool {
    Leaf::read(leaf).filter(|leaf| leaf.phase == Phase::Confirmation).is_some_and(|leaf| {
        let policy = if leaf.action.removes() { None } else { leaf.policy() };
        list.entry(&leaf.domain).map(|entry| &entry.policy) == policy.as_ref()
    })
}

fn replayed(log: &LogLeaves) -> Result<Replay, Disagreement> {
    let mut replay = Replay::default();
    log.leaves.iter().try_for_each(|leaf| replay.push(leaf))?;
    Ok(replay)
}

impl Built {
    #[must_use]
    pub fn latest(&self) -> Latest {
        Latest { latest: self.distribution.name(), entries: self.distribution.len() }
    }

    /// Writes the files into a folder: first the content, then the file that names it.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), BuildError> {
        let failed = |error: &dyn std::fmt::Display| {
            BuildError::Folder(format!("cannot write {}: {error}", folder.display()))
        };
        let json = |document: Result<Vec<u8>, serde_json::Error>| document.map_err(|error| failed(&error));
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let latest = self.latest();
        let files = [
            (format!("{}.{BIN}", latest.latest), self.distribution.bytes().to_vec()),
            (format!("{}.{JSON}", latest.latest), json(serde_json::to_vec(&self.witnessed))?),
            (UPDATE.to_owned(), json(serde_json::to_vec(&latest))?),
        ];
        for (name, bytes) in files {
            durable::replace(&folder.join(name), &bytes).map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}
