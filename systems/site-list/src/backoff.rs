//! Patience with hosts that are submitted over and over: each time, the next has to wait twice as long.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::rules::Host;

const FIRST: Duration = Duration::from_secs(60);
const MOST: Duration = Duration::from_secs(24 * 60 * 60);
/// More hosts than this are not remembered: the oldest are forgotten first.
const HOSTS_MAX: usize = 100_000;

/// The hosts that strangers submitted lately.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    hosts: Mutex<HashMap<Host, Tried>>,
}

#[derive(Debug, Clone, Copy)]
struct Tried {
    at: Instant,
    wait: Duration,
}

impl Backoff {
    /// Takes a host's turn, or tells how long there is none.
    pub(crate) fn take(&self, host: &Host) -> Result<(), Duration> {
        let now = Instant::now();
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = match hosts.get(host) {
            Some(tried) if now.duration_since(tried.at) < tried.wait => {
                return Err(tried.wait - now.duration_since(tried.at));
            }
            // Whoever waited as long again is as good as new.
            Some(tried) if now.duration_since(tried.at) < 2 * tried.wait => (2 * tried.wait).min(MOST),
            _ => FIRST,
        };
        if hosts.len() >= HOSTS_MAX {
            hosts.retain(|_, tried| now.duration_since(tried.at) < tried.wait);
        }
        if hosts.len() < HOSTS_MAX {
            hosts.insert(host.clone(), Tried { at: now, wait });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Onions;

    #[tokio::test(start_paused = true)]
    async fn each_time_the_next_has_to_wait_twice_as_long() {
        let host = Host::read("example.com", Onions::Refused).unwrap();
        let other = Host::read("example.org", Onions::Refused).unwrap();
        let backoff = Backoff::default();
        assert_eq!(backoff.take(&host), Ok(()));
        assert_eq!(backoff.take(&host), Err(FIRST));
        assert_eq!(backoff.take(&other), Ok(()));
        tokio::time::advance(FIRST).await;
        assert_eq!(backoff.take(&host), Ok(()));
        assert_eq!(backoff.take(&host), Err(2 * FIRST));
        tokio::time::advance(4 * FIRST).await;
        assert_eq!(backoff.take(&host), Ok(()));
        assert_eq!(backoff.take(&host), Err(FIRST), "it was left alone long enough");
    }
}
