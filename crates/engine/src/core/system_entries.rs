//! Entries of systems: compared and changed in one commit, alone or with the move that a worker's answer makes.

use model::entry::EntryChange;
use model::{Json, Refusal};
use store::Store;

use super::commit::Commit;
use super::{Output, Reply};
use crate::registry::{self, Entry, EntryKey};

/// The entries of systems, each system's in a part of its own, as the exact texts that their digests are of.
#[derive(Debug)]
pub enum SystemEntries {}

impl Entry for SystemEntries {
    const KIND: &'static str = "entry";
    type Body = Json;

    fn write(body: &Json) -> Json {
        body.clone()
    }

    fn read(body: &Json) -> Result<Json, serde_json::Error> {
        Ok(body.clone())
    }
}

pub(super) fn key(change: &EntryChange) -> EntryKey<SystemEntries> {
    EntryKey::within(&change.system, &*change.name)
}

/// An entry of a system, if there is one.
pub fn system_entry(store: &dyn Store, system: &str, name: &str) -> Result<Option<Json>, store::Error> {
    EntryKey::<SystemEntries>::within(system, name).readable(store)
}

/// At most so many entries of a system, those with names after one, in the order of their bytes.
pub fn system_entries(
    store: &dyn Store,
    system: &str,
    after: &str,
    limit: usize,
) -> Result<Vec<(String, Json)>, store::Error> {
    let found = registry::page_within::<SystemEntries>(store, system, after, limit)?;
    Ok(found.into_iter().filter_map(|(name, body)| Some((name, body.ok()?))).collect())
}

impl Commit<'_> {
    pub(super) fn put_entry(&mut self, change: &EntryChange) -> Reply {
        change.check()?;
        self.check_entries(std::slice::from_ref(change))?;
        self.put_entries(std::slice::from_ref(change));
        Ok(Output::Gone)
    }

    /// Checks that every entry is what its change expects.
    pub(super) fn check_entries(&self, changes: &[EntryChange]) -> Result<(), Refusal> {
        changes.iter().try_for_each(|change| change.check_expected(self.readable(&key(change)).as_ref()))
    }

    pub(super) fn put_entries(&mut self, changes: &[EntryChange]) {
        for change in changes {
            match &change.body {
                Some(body) => self.put(&key(change), body),
                None => self.remove(&key(change)),
            }
        }
    }
}
