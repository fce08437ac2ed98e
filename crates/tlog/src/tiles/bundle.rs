//! Entry bundles: leaves one after the other, each after its length in two bytes.

use wire::Digest;

use crate::tree::leaf_hash;

/// The most that two bytes can count. An event's leaf holds names and digests, never documents, and is far smaller.
pub const LEAF_BYTES_MAX: usize = 65_535;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a leaf of {bytes} bytes does not fit into the log; the most is 65535")]
pub struct LeafTooLong {
    pub bytes: usize,
}

/// Checks that the log can hold these bytes. Ask before committing what must be logged.
pub fn check_leaf(leaf: &[u8]) -> Result<(), LeafTooLong> {
    if leaf.len() <= LEAF_BYTES_MAX { Ok(()) } else { Err(LeafTooLong { bytes: leaf.len() }) }
}

/// Writes one entry behind the others.
pub fn push_entry(bundle: &mut Vec<u8>, leaf: &[u8]) -> Result<(), LeafTooLong> {
    let length = u16::try_from(leaf.len()).map_err(|_| LeafTooLong { bytes: leaf.len() })?;
    bundle.extend_from_slice(&length.to_be_bytes());
    bundle.extend_from_slice(leaf);
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bundle ends within entry {entry}")]
pub struct BundleError {
    /// Counted from 0 within the bundle.
    pub entry: usize,
}

/// The entries of a bundle, in place.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    rest: &'a [u8],
    read: usize,
}

impl<'a> Entries<'a> {
    #[must_use]
    pub fn of(bundle: &'a [u8]) -> Self {
        Entries { rest: bundle, read: 0 }
    }

    /// The hashes of all entries.
    pub fn hashes(self) -> Result<Vec<Digest>, BundleError> {
        self.map(|entry| entry.map(leaf_hash)).collect()
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<&'a [u8], BundleError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let entry = self.rest.split_first_chunk::<2>().and_then(|(length, rest)| {
            let (leaf, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            self.rest = rest;
            Some(leaf)
        });
        let entry = entry.ok_or(BundleError { entry: self.read });
        if entry.is_err() {
            self.rest = &[];
        }
        self.read += 1;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_went_in() {
        let leaves: [&[u8]; 3] = [b"", b"one", &[7; LEAF_BYTES_MAX]];
        let mut bundle = Vec::new();
        leaves.iter().for_each(|leaf| push_entry(&mut bundle, leaf).unwrap());
        let read: Result<Vec<_>, _> = Entries::of(&bundle).collect();
        assert_eq!(read.unwrap(), leaves);
    }

    #[test]
    fn a_leaf_that_does_not_fit_is_refused_and_leaves_no_trace() {
        let mut bundle = Vec::new();
        let error = push_entry(&mut bundle, &[0; LEAF_BYTES_MAX + 1]).unwrap_err();
        assert_eq!((error.bytes, bundle.len()), (LEAF_BYTES_MAX + 1, 0));
        assert!(check_leaf(&[0; LEAF_BYTES_MAX]).is_ok());
    }

    #[test]
    fn a_bundle_cut_anywhere_names_the_entry() {
        let mut bundle = Vec::new();
        push_entry(&mut bundle, b"ab").unwrap();
        push_entry(&mut bundle, b"cd").unwrap();
        for cut in [1, 2, 3] {
            assert_eq!(Entries::of(&bundle[..cut]).last(), Some(Err(BundleError { entry: 0 })), "{cut}");
        }
        assert_eq!(Entries::of(&bundle[..7]).last(), Some(Err(BundleError { entry: 1 })));
    }
}
