//! Registries: small entries under names, of one kind and with bodies of one type each. No other module of the engine reads or
//! writes the text of an entry.
//!
//! Unreadable entries are treated differently: a hold or a definition must not be passed over, and a count that
//! another release wrote in another way begins anew. So readers are handed the fault and decide.

use std::fmt;
use std::marker::PhantomData;

use model::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{RegistryChange, RegistryKey, Store, Taken};
use thiserror::Error;

/// A kind of entries.
pub trait Entry: 'static {
    const KIND: &'static str;
    type Body: Serialize + DeserializeOwned;

    fn write(body: &Self::Body) -> Json {
        Json::from_stored(&serde_json::to_string(body).expect("bodies have only string keys"))
    }

    fn read(body: &Json) -> Result<Self::Body, serde_json::Error> {
        serde_json::from_str(body.as_str())
    }
}

/// A kind of which there is one entry.
pub trait OneEntry: Entry {
    const NAME: &'static str;
}

/// The key of one entry.
pub struct EntryKey<E> {
    key: RegistryKey,
    entry: PhantomData<fn() -> E>,
}

impl<E> Clone for EntryKey<E> {
    fn clone(&self) -> Self {
        EntryKey { key: self.key.clone(), entry: PhantomData }
    }
}

impl<E> PartialEq for EntryKey<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> fmt::Debug for EntryKey<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

impl<E: Entry> EntryKey<E> {
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        EntryKey { key: RegistryKey { kind: E::KIND.to_owned(), name: name.into() }, entry: PhantomData }
    }

    /// The key of an entry in the part of its kind that is `owner`'s.
    #[must_use]
    pub fn within(owner: &str, name: impl Into<String>) -> Self {
        EntryKey { key: RegistryKey { kind: kind_within::<E>(owner), name: name.into() }, entry: PhantomData }
    }

    /// Returns the key as stores know it.
    #[must_use]
    pub fn raw(&self) -> RegistryKey {
        self.key.clone()
    }

    /// Returns the change that writes the entry, or removes it.
    pub(crate) fn change(&self, body: Option<&E::Body>) -> RegistryChange {
        RegistryChange { key: self.raw(), body: body.map(E::write) }
    }

    /// Reads the entry as a transaction has taken it.
    pub(crate) fn of(&self, taken: &Taken) -> Result<Option<E::Body>, Unreadable> {
        taken.registry.get(&self.key).map(|body| read::<E>(&self.key.name, body)).transpose()
    }

    /// Reads the entry from the store, where one that cannot be read counts as none.
    pub fn readable(&self, store: &dyn Store) -> Result<Option<E::Body>, store::Error> {
        let body = store::registry_entry(store, &self.key.kind, &self.key.name)?;
        Ok(body.and_then(|body| E::read(&body).ok()))
    }

    /// Reads the entry from the store. One that cannot be read is corrupt.
    pub fn get(&self, store: &dyn Store) -> Result<Option<E::Body>, store::Error> {
        let body = store::registry_entry(store, &self.key.kind, &self.key.name)?;
        Ok(body.map(|body| read::<E>(&self.key.name, &body)).transpose()?)
    }
}

impl<E: OneEntry> EntryKey<E> {
    /// The key of the only entry of its kind.
    #[must_use]
    pub fn one() -> Self {
        EntryKey::new(E::NAME)
    }
}

/// Returns the kind under which the part of a kind is kept that is `owner`'s.
#[must_use]
pub fn kind_within<E: Entry>(owner: &str) -> String {
    format!("{}/{owner}", E::KIND)
}

/// An entry that cannot be read as it is kept.
#[derive(Debug, Error)]
#[error("the entry `{name}` of the registry `{kind}` cannot be read: {error}")]
pub struct Unreadable {
    kind: &'static str,
    name: String,
    error: serde_json::Error,
}

impl From<Unreadable> for store::Error {
    fn from(unreadable: Unreadable) -> Self {
        store::Error::corrupt(unreadable.to_string())
    }
}

/// Entries as they are found, by name.
pub type Found<E> = Vec<(String, Result<<E as Entry>::Body, Unreadable>)>;

/// All entries of a kind that is known to be small.
pub fn all<E: Entry>(store: &dyn Store) -> Result<Found<E>, store::Error> {
    Ok(found::<E>(store::registry_all(store, E::KIND)?))
}

/// At most so many entries of a kind, those after a name.
pub fn page<E: Entry>(store: &dyn Store, after: &str, limit: usize) -> Result<Found<E>, store::Error> {
    Ok(found::<E>(store.registry(E::KIND, after, limit)?))
}

/// At most so many entries of a kind backwards, those up to a name.
pub fn page_back<E: Entry>(store: &dyn Store, upto: &str, limit: usize) -> Result<Found<E>, store::Error> {
    Ok(found::<E>(store.registry_back(E::KIND, upto, limit)?))
}

/// At most so many entries of the part of a kind that is `owner`'s, those after a name.
pub fn page_within<E: Entry>(
    store: &dyn Store,
    owner: &str,
    after: &str,
    limit: usize,
) -> Result<Found<E>, store::Error> {
    Ok(found::<E>(store.registry(&kind_within::<E>(owner), after, limit)?))
}

/// All entries of a small kind that can be read.
pub fn readable<E: Entry>(store: &dyn Store) -> Result<Vec<(String, E::Body)>, store::Error> {
    Ok(all::<E>(store)?.into_iter().filter_map(|(name, body)| Some((name, body.ok()?))).collect())
}

fn found<E: Entry>(entries: Vec<(String, Json)>) -> Found<E> {
    let entries = entries.into_iter().map(|(name, body)| {
        let body = read::<E>(&name, &body);
        (name, body)
    });
    entries.collect()
}

fn read<E: Entry>(name: &str, body: &Json) -> Result<E::Body, Unreadable> {
    E::read(body).map_err(|error| Unreadable { kind: E::KIND, name: name.to_owned(), error })
}
