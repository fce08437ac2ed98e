//! Walking index tables in order, several at once, without ever stepping over what does not match.
//!
//! Everything is said by one operation: the first key at or after a place. A union is the least of its parts' answers;
//! an intersection asks its parts in turn until they agree, so that it leaps over whatever one of them leaves out.

use std::collections::VecDeque;

use rusqlite::Connection;

use crate::error::Result;

/// The number of keys a walk reads ahead along one table at most.
const PAGE_MAX: usize = 64;

pub(crate) trait Key: Copy + Ord {
    /// The key right after this one; `None` after the last there can be.
    fn next(self) -> Option<Self>;
}

/// One range of an index table, ordered by its last columns.
pub(crate) trait Index {
    type Key: Key;

    /// The first keys at or after `from`.
    fn page(&self, connection: &Connection, from: Self::Key, limit: usize) -> Result<Vec<Self::Key>>;
}

pub(crate) enum Walk<I: Index> {
    Along(Cursor<I>),
    /// The keys that all of these have.
    All(Vec<Walk<I>>),
    /// The keys that any of these has.
    Any(Vec<Walk<I>>),
}

impl<I: Index> Walk<I> {
    pub(crate) fn along(index: I) -> Self {
        Walk::Along(Cursor { index: Some(index), read: VecDeque::new(), page: 1 })
    }

    /// A walk along keys that are already known, in any order.
    pub(crate) fn along_known(mut keys: Vec<I::Key>) -> Self {
        keys.sort_unstable();
        Walk::Along(Cursor { index: None, read: keys.into(), page: 0 })
    }

    /// The first key at or after `from`, which never goes back from call to call.
    pub(crate) fn seek(&mut self, connection: &Connection, from: I::Key) -> Result<Option<I::Key>> {
        match self {
            Walk::Along(cursor) => cursor.seek(connection, from),
            Walk::Any(parts) => {
                let mut first: Option<I::Key> = None;
                for part in parts {
                    if let Some(key) = part.seek(connection, from)? {
                        first = Some(first.map_or(key, |first| first.min(key)));
                    }
                }
                Ok(first)
            }
            Walk::All(parts) => {
                let mut candidate = from;
                loop {
                    let before = candidate;
                    for part in &mut *parts {
                        let Some(key) = part.seek(connection, candidate)? else { return Ok(None) };
                        candidate = key;
                    }
                    // No part leapt: all of them have it.
                    if candidate == before {
                        return Ok(Some(candidate));
                    }
                }
            }
        }
    }
}

pub(crate) struct Cursor<I: Index> {
    /// `None` once all of it has been read.
    index: Option<I>,
    read: VecDeque<I::Key>,
    /// Doubles from one: a walk that is only asked for its head does not pay for a page.
    page: usize,
}

impl<I: Index> Cursor<I> {
    fn seek(&mut self, connection: &Connection, from: I::Key) -> Result<Option<I::Key>> {
        while self.read.front().is_some_and(|key| *key < from) {
            self.read.pop_front();
        }
        if self.read.is_empty()
            && let Some(index) = &self.index
        {
            self.read = index.page(connection, from, self.page)?.into();
            if self.read.len() < self.page {
                self.index = None;
            }
            self.page = PAGE_MAX.min(self.page * 2);
        }
        Ok(self.read.front().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Key for u8 {
        fn next(self) -> Option<u8> {
            self.checked_add(1)
        }
    }

    struct Listed(Vec<u8>);

    impl Index for Listed {
        type Key = u8;

        fn page(&self, _: &Connection, from: u8, limit: usize) -> Result<Vec<u8>> {
            Ok(self.0.iter().copied().filter(|key| *key >= from).take(limit).collect())
        }
    }

    fn along(keys: impl IntoIterator<Item = u8>) -> Walk<Listed> {
        Walk::along(Listed(keys.into_iter().collect()))
    }

    fn walked(mut walk: Walk<Listed>) -> Vec<u8> {
        let connection = Connection::open_in_memory().unwrap();
        let mut keys = Vec::new();
        let mut from = Some(0);
        while let Some(at) = from
            && let Some(key) = walk.seek(&connection, at).unwrap()
        {
            keys.push(key);
            from = key.next();
        }
        keys
    }

    #[test]
    fn one_table_is_walked_to_its_end() {
        assert_eq!(walked(along(0..=255)), (0..=255).collect::<Vec<_>>());
        assert!(walked(along([])).is_empty());
    }

    #[test]
    fn union_has_each_key_once_and_in_order() {
        let walk = Walk::Any(vec![along([1, 4, 9]), along([]), along([2, 4, 200])]);
        assert_eq!(walked(walk), [1, 2, 4, 9, 200]);
    }

    #[test]
    fn intersection_has_what_every_part_has() {
        let threes = along((0..=255).step_by(3));
        let fives = along((0..=255).step_by(5));
        let known = Walk::along_known(vec![90, 15, 31, 255, 0]);
        assert_eq!(walked(Walk::All(vec![threes, fives, known])), [0, 15, 90, 255]);
    }

    #[test]
    fn intersection_of_a_union_is_walked_as_one() {
        let either = Walk::Any(vec![along([3, 6, 12]), along([5, 10])]);
        assert_eq!(walked(Walk::All(vec![either, along((0..100).step_by(2))])), [6, 10, 12]);
    }
}
