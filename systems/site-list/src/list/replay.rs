//! The log, replayed: the list must follow from it.

use std::collections::BTreeMap;

use super::List;
use crate::leaf::{Leaf, Phase};
use crate::policy::Policy;
use crate::rules::Host;

/// The list as the log alone tells it.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    sites: BTreeMap<Host, Site>,
    /// The number of leaves replayed.
    size: u64,
    /// The place of the last leaf that changed the list.
    last: Option<u64>,
}

#[derive(Debug, Clone, Default)]
struct Site {
    /// Preliminary leaves that are not confirmed yet.
    announced: Vec<Leaf>,
    /// The policies that confirmed leaves gave the site, in their order. None: it left the list.
    confirmed: Vec<Option<Policy>>,
}

/// A contradiction between the list and its log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    #[error("leaf {0} of the log is not a leaf of this list: is it another log?")]
    Unreadable(u64),
    #[error("leaf {index} of the log confirms {action} of {domain}, which no leaf before it announces")]
    NotAnnounced { index: u64, domain: Host, action: &'static str },
    #[error("leaf {0} of the log gives a site a policy without signers")]
    NoPolicy(u64),
    #[error(
        "the list and its log disagree about {0}: find out which of them is right before anything is built"
    )]
    Entry(Host),
}

impl Replay {
    /// Takes the next leaf of the log in.
    ///
    /// # Errors
    /// When it is no leaf of a list, or confirms a change that was never announced: a wait that nobody could see.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Disagreement> {
        let index = self.size;
        let leaf = Leaf::read(bytes).ok_or(Disagreement::Unreadable(index))?;
        let site = self.sites.entry(leaf.domain.clone()).or_default();
        match leaf.phase {
            Phase::Preliminary => site.announced.push(leaf),
            Phase::Confirmation => {
                let is_same = |announced: &Leaf| {
                    announced.action == leaf.action
                        && announced.signers == leaf.signers
                        && announced.threshold == leaf.threshold
                };
                let Some(place) = site.announced.iter().position(is_same) else {
                    let (domain, action) = (leaf.domain, leaf.action.as_str());
                    return Err(Disagreement::NotAnnounced { index, domain, action });
                };
                site.announced.remove(place);
                let policy = match leaf.action.removes() {
                    true => None,
                    false => Some(leaf.policy().ok_or(Disagreement::NoPolicy(index))?),
                };
                site.confirmed.push(policy);
                self.last = Some(index);
            }
        }
        self.size += 1;
        Ok(())
    }

    /// Returns the place of the last leaf that changed the list.
    #[must_use]
    pub fn last_change(&self) -> Option<u64> {
        self.last
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the sites that are on the list after the last leaf.
    pub fn entries(&self) -> impl Iterator<Item = (&Host, &Policy)> {
        self.sites.iter().filter_map(|(host, site)| Some((host, site.confirmed.last()?.as_ref()?)))
    }

    /// Checks that a list follows from the log. A change whose leaf is in the log and that is not complete yet may be in
    /// the list or not.
    ///
    /// # Errors
    /// With the first site about which the two disagree.
    pub fn check(&self, list: &List) -> Result<(), Disagreement> {
        let unknown = list.entries().map(|(host, _)| host).find(|host| !self.sites.contains_key(*host));
        let differs = |(host, site): &(&Host, &Site)| {
            let listed = list.entry(host).map(|entry| &entry.policy);
            let none = None;
            let before = std::iter::once(&none);
            let mut states = before.chain(&site.confirmed).rev().take(1 + list.pending(host));
            !states.any(|state| state.as_ref() == listed)
        };
        let differing = self.sites.iter().find(differs).map(|(host, _)| host);
        match unknown.or(differing) {
            Some(host) => Err(Disagreement::Entry(host.clone())),
            None => Ok(()),
        }
    }
}
