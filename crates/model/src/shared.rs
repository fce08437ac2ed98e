//! Sharing of what is made from equal texts: expressions and schemas compiled once are used by every state, revision and
//! version that has the same text, for as long as one of them is loaded.

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

    /// The one that is alive, or one that is made now. Making goes on outside the lock: two at once may make it twice.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(found) = self.with(|inner| inner.alive.get(&key).and_then(Weak::upgrade)) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        self.with(|inner| {
            inner.alive.insert(key, Arc::downgrade(&made));
            if inner.alive.len() >= inner.look_at {
                inner.alive.retain(|_, value| value.strong_count() > 0);
                inner.look_at = (2 * inner.alive.len()).max(FEW);
            }
        });
        Ok(made)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner<K, V>) -> T) -> T {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        act(inner.get_or_insert_with(|| Inner { alive: HashMap::new(), look_at: FEW }))
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
    fn dead_ones_are_let_go() {
        let shared: Shared<usize, usize> = Shared::new();
        for value in 0..10 * FEW {
            shared.get(value, || Ok::<_, ()>(value)).expect("it is made");
        }
        assert!(shared.with(|inner| inner.alive.len()) <= FEW);
    }
}
