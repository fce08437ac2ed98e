//! The pace at which a host may be fetched.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::rules::Host;

/// The moments at which hosts were last fetched from here.
#[derive(Debug)]
pub(crate) struct Pace {
    every: Duration,
    last: Mutex<HashMap<Host, Instant>>,
}

impl Pace {
    /// Lets a host be fetched once in this time.
    #[must_use]
    pub(crate) fn once_in(every: Duration) -> Pace {
        Pace { every, last: Mutex::default() }
    }

    /// Takes the turn of a host, or tells how long there is none.
    ///
    /// # Errors
    /// With the time until the next turn.
    pub(crate) fn take(&self, host: &Host) -> Result<(), Duration> {
        let now = Instant::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever had a turn longer ago than that may be forgotten: the memory is as large as what is fetched in the time.
        last.retain(|_, at| now.duration_since(*at) < self.every);
        match last.get(host) {
            Some(at) => Err(self.every - now.duration_since(*at)),
            None => {
                last.insert(host.clone(), now);
                Ok(())
            }
        }
    }
}
