//! Counts the connections of each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rates::caller;

#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    max: usize,
    /// Those that have any: no more than there are connections.
    here: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One connection's place; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Crowd,
    address: IpAddr,
}

impl Crowd {
    pub(crate) fn new(max: usize) -> Self {
        Crowd { max, here: Arc::default() }
    }

    /// None: this address has enough.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<Place> {
        let address = caller(address);
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let count = here.entry(address).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        Some(Place { crowd: self.clone(), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut here = self.crowd.here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = here.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                here.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_gives_them_back() {
        let crowd = Crowd::new(2);
        let (one, other) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let places = [crowd.enter(one).unwrap(), crowd.enter(one).unwrap()];
        assert!(crowd.enter(one).is_none());
        assert!(crowd.enter(other).is_some());
        drop(places);
        assert!(crowd.here.lock().unwrap().is_empty());
        assert!(crowd.enter(one).is_some());
    }
}
