//! The list as browsers get it: 64 bytes an entry, sorted, named by its own digest.

use wire::Digest;

use super::List;
use crate::hex::hex;
use crate::policy::Policy;
use crate::rules::Host;

/// The bytes of one entry: the digest of the domain, and that of its policy.
pub const ENTRY_BYTES: usize = 64;
const DIGEST_BYTES: usize = 32;

/// The bytes that are handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    blob: Vec<u8>,
}

/// A mistake in bytes that were to be a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadDistribution {
    #[error("{0} bytes are no whole number of entries of 64 bytes")]
    Length(usize),
    #[error(
        "entry {0} is not behind the one before it: they are sorted by the digest of the domain, without repeats"
    )]
    Order(usize),
}

/// Returns the digest by which a distribution knows a domain.
#[must_use]
pub fn domain_digest(host: &Host) -> Digest {
    Digest::of(host.as_str().as_bytes())
}

impl Distribution {
    /// Writes a list. The same list gives the same bytes.
    #[must_use]
    pub fn of(list: &List) -> Distribution {
        Distribution::of_policies(list.entries().map(|(host, entry)| (host, &entry.policy)))
    }

    #[must_use]
    pub fn of_policies<'a>(entries: impl Iterator<Item = (&'a Host, &'a Policy)>) -> Distribution {
        let mut pairs: Vec<(Digest, Digest)> =
            entries.map(|(host, policy)| (domain_digest(host), policy.digest())).collect();
        pairs.sort_unstable();
        let blob = pairs.iter().flat_map(|(domain, policy)| [domain.0, policy.0].concat()).collect();
        Distribution { blob }
    }

    /// Reads bytes that somebody handed out.
    ///
    /// # Errors
    /// When they are cut, or not sorted.
    pub fn read(blob: Vec<u8>) -> Result<Distribution, BadDistribution> {
        if !blob.len().is_multiple_of(ENTRY_BYTES) {
            return Err(BadDistribution::Length(blob.len()));
        }
        let distribution = Distribution { blob };
        let domains: Vec<&[u8]> = distribution.entries().map(|entry| &entry[..DIGEST_BYTES]).collect();
        match domains.windows(2).position(|pair| pair[0] >= pair[1]) {
            Some(index) => Err(BadDistribution::Order(index + 1)),
            None => Ok(distribution),
        }
    }

    fn entries(&self) -> impl Iterator<Item = &[u8]> {
        self.blob.chunks_exact(ENTRY_BYTES)
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.blob
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.blob.len() / ENTRY_BYTES
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blob.is_empty()
    }

    /// Returns the name under which the bytes are handed out.
    #[must_use]
    pub fn name(&self) -> String {
        hex(&Digest::of(&self.blob))
    }

    /// Returns the digest of a site's policy; none where the site is not on the list.
    #[must_use]
    pub fn policy_digest(&self, host: &Host) -> Option<Digest> {
        let domain = domain_digest(host).0;
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let entry = &self.blob[middle * ENTRY_BYTES..][..ENTRY_BYTES];
            match entry[..DIGEST_BYTES].cmp(&domain) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return Some(Digest(entry[DIGEST_BYTES..].try_into().expect("an entry has two digests")));
                }
            }
        }
        None
    }
}
