//! Sharing of what is equal: expressions, schemas and states are kept once for every revision and version that has the
//! same, for as long as one of them is loaded.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Entries are looked through for dead ones once there are twice as many as were alive the last time, and never below this.
const FEW: usize = 256;

/// The values that are alive, by what each was made from.
#[derive(Debug)]
pub(crate) struct Shared<K, V> {
    inner: Mutex<Option<Inner<K, V>>>,
}

#[derive(Debug)]
struct Inner<K, V> {
    alive: HashMap<K, Weak<V>>,
    look_at: usize,
}

impl<K: Hash + Eq, V> Shared<K, V> {
    pub(crate) const fn new() -> Self {
        Shared { inner: Mutex::new(None) }
    }

    /// The one that is alive, or one that is made now. Making goes on outside the lock: two at once may make it twice, and
    /// both get the one that was there first.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(found) = self.with(|inner| inner.alive.get(&key).and_then(Weak::upgrade)) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        Ok(self.with(|inner| match inner.alive.get(&key).and_then(Weak::upgrade) {
            Some(found) => found,
            None => inner.insert(key, made),
        }))
    }

    /// The one that is alive under a key where it is equal, or this one, which takes its place.
    pub(crate) fn equal(&self, key: K, value: Arc<V>) -> Arc<V>
    where
        V: PartialEq,
    {
        self.with(|inner| match inner.alive.get(&key).and_then(Weak::upgrade) {
            Some(found) if found == value => found,
            _ => inner.insert(key, value),
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner<K, V>) -> T) -> T {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        act(inner.get_or_insert_with(|| Inner { alive: HashMap::new(), look_at: FEW }))
    }
}

impl<K: Hash + Eq, V> Inner<K, V> {
    fn insert(&mut self, key: K, value: Arc<V>) -> Arc<V> {
        self.alive.insert(key, Arc::downgrade(&value));
        if self.alive.len() >= self.look_at {
            self.alive.retain(|_, value| value.strong_count() > 0);
            self.look_at = (2 * self.alive.len()).max(FEW);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_are_one_while_somebody_has_it() {
        let shared: Shared<u32, u32> = Shared::new();
        let make = |value: u32| move || Ok::<_, ()>(value);
        let first = shared.get(1, make(7)).expect("it is made");
        let second = shared.get(1, make(8)).expect("it is there");
        assert!(Arc::ptr_eq(&first, &second) && *second == 7);
        drop((first, second));
        assert_eq!(shared.get(1, make(8)).as_deref(), Ok(&8), "nobody had it any more");
        assert_eq!(shared.get(2, || Err::<u32, _>("no")).map(|_| ()), Err("no"));
    }

    #[test]
    fn newest_takes_the_place_of_one_that_differs() {
        let shared: Shared<u32, u32> = Shared::new();
        let first = shared.equal(1, Arc::new(7));
        assert!(Arc::ptr_eq(&first, &shared.equal(1, Arc::new(7))));
        let second = shared.equal(1, Arc::new(8));
        assert!(*second == 8 && Arc::ptr_eq(&second, &shared.equal(1, Arc::new(8))));
    }

    #[test]
    fn dead_ones_are_let_go() {
        let shared: Shared<usize, usize> = Shared::new();
        for value in 0..10 * FEW {
            shared.get(value, || Ok::<_, ()>(value)).expect("it is made");
        }
        assert!(shared.with(|inner| inner.alive.len()) <= FEW);
    }
}
