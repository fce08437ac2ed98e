//! The bound on mails that a contact gets, whatever is submitted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The contacts that changes were tied to within the last day. A change writes to its contact once: at its end.
#[derive(Debug)]
pub(crate) struct Contacts {
    a_day: usize,
    given: Mutex<HashMap<String, Vec<Instant>>>,
}

impl Contacts {
    /// Lets a contact be written to so many times a day.
    #[must_use]
    pub(crate) fn at_most(a_day: usize) -> Contacts {
        Contacts { a_day, given: Mutex::default() }
    }

    /// Returns the contact if there is a mail left for it today; `counted` are those that the fleet has counted. Spelling makes no
    /// other contact.
    #[must_use]
    pub(crate) fn take(&self, contact: String, counted: usize) -> Option<String> {
        let now = Instant::now();
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.retain(|_, times| {
            times.retain(|at| now.duration_since(*at) < DAY);
            !times.is_empty()
        });
        let times = given.entry(contact.to_lowercase()).or_default();
        let is_left = times.len().max(counted) < self.a_day;
        if is_left {
            times.push(now);
        }
        is_left.then_some(contact)
    }
}
