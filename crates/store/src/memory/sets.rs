//! Sets of values by key: what a slim index table is in memory.

use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Sets<K, V>(BTreeMap<K, BTreeSet<V>>);

impl<K, V> Default for Sets<K, V> {
    fn default() -> Self {
        Sets(BTreeMap::new())
    }
}

impl<K: Ord, V: Ord> Sets<K, V> {
    pub(super) fn add(&mut self, key: K, value: V) {
        self.0.entry(key).or_default().insert(value);
    }

    /// A key without values is forgotten, so that a million past keys cost nothing.
    pub(super) fn remove(&mut self, key: &K, value: &V) {
        if let Some(values) = self.0.get_mut(key) {
            values.remove(value);
            if values.is_empty() {
                self.0.remove(key);
            }
        }
    }

    pub(super) fn of(&self, key: &K) -> Option<&BTreeSet<V>> {
        self.0.get(key)
    }

    /// The keys after one.
    pub(super) fn after<Q: Ord + ?Sized>(&self, key: &Q) -> impl Iterator<Item = &K>
    where
        K: std::borrow::Borrow<Q>,
    {
        use std::ops::Bound::{Excluded, Unbounded};
        self.0.range::<Q, _>((Excluded(key), Unbounded)).map(|(key, _)| key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &BTreeSet<V>)> {
        self.0.iter()
    }
}
