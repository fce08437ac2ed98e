//! Counts what each of many has at a time, such as a token its connections.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Clone)]
pub(crate) struct Crowd<K> {
    max: usize,
    /// The count of each that has any.
    here: Arc<Mutex<HashMap<K, usize>>>,
}

/// One place; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place<K: Hash + Eq> {
    crowd: Crowd<K>,
    whose: K,
}

impl<K: Hash + Eq + Clone> Crowd<K> {
    pub(crate) fn new(max: usize) -> Self {
        Crowd { max, here: Arc::default() }
    }

    /// Takes one more place; `None`: this one has enough.
    pub(crate) fn enter(&self, whose: K) -> Option<Place<K>> {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let count = here.get(&whose).copied().unwrap_or(0);
        if count >= self.max {
            return None;
        }
        here.insert(whose.clone(), count + 1);
        Some(Place { crowd: self.clone(), whose })
    }
}

impl<K: Hash + Eq> Drop for Place<K> {
    fn drop(&mut self) {
        let mut here = self.crowd.here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = here.get_mut(&self.whose) {
            *count -= 1;
            if *count == 0 {
                here.remove(&self.whose);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_so_many_places_and_gives_them_back() {
        let crowd = Crowd::new(2);
        let (one, other) = ("one", "other");
        let places = [crowd.enter(one).unwrap(), crowd.enter(one).unwrap()];
        assert!(crowd.enter(one).is_none());
        assert!(crowd.enter(other).is_some());
        drop(places);
        assert!(crowd.here.lock().unwrap().is_empty());
        assert!(crowd.enter(one).is_some());
    }
}
