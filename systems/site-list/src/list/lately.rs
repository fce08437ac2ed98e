//! The last days of a list, by which strangers are kept in bounds. A part of the fold, so that a fleet has one answer.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wire::{Digest, Millis, Time};

use crate::hex::hex;
use crate::rules::Host;

const DAY: Millis = Millis::from_secs(24 * 60 * 60);
/// The first wait of a host that is submitted again; each later one is twice as long, up to a day.
const FIRST: Millis = Millis::from_secs(60);
/// The time between two looks for what may be forgotten.
const SWEEP: Millis = Millis::from_secs(60 * 60);

/// The submissions, visits and mails of the last days.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lately {
    /// The newest submission of a host, and how long the next has to wait.
    asked: BTreeMap<Host, Asked>,
    /// The end of the newest visit to a host.
    visited: BTreeMap<Host, Time>,
    /// The changes that contacts are told of, by the digest of the contact.
    told: BTreeMap<String, Vec<Time>>,
    swept_at: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    at: Time,
    wait: Millis,
}

impl Lately {
    /// Returns the digest by which a contact is known here. Spelling makes no other contact.
    #[must_use]
    pub fn contact(address: &str) -> String {
        hex(&Digest::of(address.trim().to_lowercase().as_bytes()))
    }

    pub(super) fn ask(&mut self, host: &Host, at: Time) {
        self.sweep(at);
        let wait = match self.asked.get(host) {
            // Whoever waited as long again is as good as new.
            Some(before) if at.since(before.at) < twice(before.wait) => twice(before.wait).min(DAY),
            _ => FIRST,
        };
        self.asked.insert(host.clone(), Asked { at, wait });
    }

    pub(super) fn visit(&mut self, host: &Host, at: Time) {
        self.visited.insert(host.clone(), at);
    }

    pub(super) fn tell(&mut self, contact: &str, at: Time) {
        self.told.entry(contact.to_owned()).or_default().push(at);
    }

    /// Checks that a host may be submitted again.
    ///
    /// # Errors
    /// With the time until it may.
    pub fn may_ask(&self, host: &Host, now: Time) -> Result<(), Duration> {
        self.asked.get(host).map_or(Ok(()), |asked| over(asked.at.plus(asked.wait), now))
    }

    /// Checks that a host may be visited again, which it may once in this time.
    ///
    /// # Errors
    /// With the time until it may.
    pub fn may_visit(&self, host: &Host, every: Millis, now: Time) -> Result<(), Duration> {
        self.visited.get(host).map_or(Ok(()), |at| over(at.plus(every), now))
    }

    /// Returns how many changes a contact is told of within the day.
    #[must_use]
    pub fn told(&self, address: &str, now: Time) -> usize {
        let times = self.told.get(&Lately::contact(address)).map_or(&[][..], Vec::as_slice);
        times.iter().filter(|at| now.since(**at) < DAY).count()
    }

    /// Forgets what no longer matters, once in a while.
    fn sweep(&mut self, now: Time) {
        if self.swept_at.is_some_and(|at| now.since(at) < SWEEP) {
            return;
        }
        self.swept_at = Some(now);
        self.asked.retain(|_, asked| now.since(asked.at) < twice(asked.wait));
        self.visited.retain(|_, at| now.since(*at) < DAY);
        self.told.retain(|_, times| {
            times.retain(|at| now.since(*at) < DAY);
            !times.is_empty()
        });
    }
}

fn twice(wait: Millis) -> Millis {
    Millis::new(wait.millis().saturating_mul(2))
}

fn over(at: Time, now: Time) -> Result<(), Duration> {
    match at.since(now) {
        Millis::ZERO => Ok(()),
        left => Err(Duration::from_millis(left.millis())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Onions;

    fn host(name: &str) -> Host {
        Host::read(name, Onions::Refused).unwrap()
    }

    fn at(seconds: u64) -> Time {
        Time::EPOCH.plus(Millis::from_secs(seconds))
    }

    #[test]
    fn each_time_the_next_has_to_wait_twice_as_long() {
        let (one, other) = (host("example.com"), host("example.org"));
        let mut lately = Lately::default();
        lately.ask(&one, at(0));
        assert_eq!(lately.may_ask(&one, at(59)), Err(Duration::from_secs(1)));
        assert_eq!(lately.may_ask(&other, at(0)), Ok(()));
        assert_eq!(lately.may_ask(&one, at(60)), Ok(()));
        lately.ask(&one, at(60));
        assert_eq!(lately.may_ask(&one, at(60)), Err(Duration::from_secs(120)));
        lately.ask(&one, at(300));
        assert_eq!(
            lately.may_ask(&one, at(300)),
            Err(Duration::from_secs(60)),
            "it was left alone long enough"
        );
        (0..40).for_each(|_| lately.ask(&one, at(301)));
        assert_eq!(lately.may_ask(&one, at(301)), Err(Duration::from_secs(24 * 60 * 60)));
    }

    #[test]
    fn visits_and_mails_are_counted_over_their_time_and_forgotten() {
        let site = host("example.com");
        let minute = Millis::from_secs(60);
        let mut lately = Lately::default();
        lately.visit(&site, at(10));
        assert_eq!(lately.may_visit(&site, minute, at(30)), Err(Duration::from_secs(40)));
        assert_eq!(lately.may_visit(&site, minute, at(70)), Ok(()));
        lately.tell(&Lately::contact("Ada@example.com"), at(10));
        assert_eq!((lately.told(" ada@EXAMPLE.com", at(11)), lately.told("bob@example.com", at(11))), (1, 0));
        assert_eq!(lately.told("ada@example.com", at(10 + 24 * 60 * 60)), 0);
        lately.ask(&site, at(200_000));
        assert_eq!((lately.visited.len(), lately.told.len(), lately.asked.len()), (0, 0, 1));
    }
}
