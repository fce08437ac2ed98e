//! Gates: rows that are locked so that nobody is left standing in a line that no one will look at again.
//!
//! Whoever leaves a lane, a key or a limit's slot owes a look at the line, in the commit that leaves. Whoever pays that
//! debt looks, lets the first one in, and deletes it. Now somebody joins the line because they saw a holder, while that
//! holder leaves in another commit and a third one pays, seeing nobody in line, before the joiner is visible: they
//! would wait for ever. So:
//!
//! - who sees a holder locks the line's gate to share it and looks again, before deciding;
//! - who pays a debt and sees *nobody at all* locks the gate alone and looks again, before deciding;
//! - both keep the lock until their commit is visible.
//!
//! Then either the payer waits for the joiner and sees them; or the joiner waits for the payer, and when they look again
//! the holder is gone, because what the payer paid was written with the leaving. Leavers need no gate, nor do those who
//! find a line empty: two who take one lane, key or slot at once meet at a unique index. A payer who sees a holder or
//! somebody in line needs none either: that one will leave some day, and owe.
//!
//! Rows parked for a full limit follow the same rules, with "all slots taken" for "a holder". Their line's name is
//! known only once decided, so its gate is locked when writing, without waiting, and the slots are counted again.
//!
//! Gates are numbered by a hash, so they exist from the beginning and a million lanes cost what one does. Two lines that
//! share a number wait for each other now and then, which is harmless. Waiting for gates goes up by number and comes
//! after every wait for rows, so no two ever wait for each other.

use std::collections::BTreeMap;

use store::{LaneKey, LimitKey, OpenKey, RegistryKey};

use crate::error::Result;
use crate::pipe::{Step, in_order};
use crate::query::{Client, rows};
use crate::sql;

/// The number of gates that all lines share.
pub(crate) const LINES: i32 = 1 << 15;
/// Gates of registry entries, after those of lines: apart, because every commit shares one of these.
pub(crate) const ENTRIES: i32 = 1 << 10;
/// The one of the sequencer, whose number `schema_sequence.sql` has.
pub(crate) const SEQUENCER: i32 = -1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Shared,
    Alone,
}

/// Gates to lock, each in the stronger of the ways it is wanted.
#[derive(Debug, Default)]
pub(crate) struct Gates(BTreeMap<i32, Mode>);

impl Gates {
    pub(crate) fn add(&mut self, gate: i32, mode: Mode) {
        let known = self.0.entry(gate).or_insert(mode);
        *known = mode.max(*known);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gates of one mode that follow each other are locked by one statement.
    fn runs(&self) -> Vec<(Mode, Vec<i32>)> {
        let mut runs: Vec<(Mode, Vec<i32>)> = Vec::new();
        for (&gate, &mode) in &self.0 {
            match runs.last_mut() {
                Some((last, gates)) if *last == mode => gates.push(gate),
                _ => runs.push((mode, vec![gate])),
            }
        }
        runs
    }

    pub(crate) async fn lock(&self, client: &Client) -> Result<()> {
        let lock = |(mode, gates): (Mode, Vec<i32>)| -> Step<'_> {
            let query = match mode {
                Mode::Shared => sql::GATE_SHARE,
                Mode::Alone => sql::GATE_LOCK,
            };
            Box::pin(async move { rows(client, query, &[&gates]).await.map(drop) })
        };
        in_order(self.runs().into_iter().map(lock).collect()).await
    }
}

pub(crate) fn of_lane(lane: &LaneKey) -> i32 {
    numbered(LINES, &["lane", &lane.pipeline, &lane.lane])
}

pub(crate) fn of_key(key: &OpenKey) -> i32 {
    numbered(LINES, &["key", &key.pipeline, &key.key])
}

pub(crate) fn of_limit(limit: &LimitKey) -> i32 {
    numbered(LINES, &["limit", &limit.pipeline, &limit.label, &limit.value])
}

pub(crate) fn of_parked(name: &str) -> i32 {
    numbered(LINES, &["parked", name])
}

pub(crate) fn of_entry(entry: &RegistryKey) -> i32 {
    LINES + numbered(ENTRIES, &["entry", &entry.kind, &entry.name])
}

fn numbered(count: i32, parts: &[&str]) -> i32 {
    let number = hashed(parts) % u64::from(count.unsigned_abs());
    i32::try_from(number).expect("less than a count that fits")
}

/// The same in every release (FNV-1a, then mixed as in SplitMix64): servers of two releases meet at one gate.
pub(crate) fn hashed(parts: &[&str]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    // Names that differ in their last letter alone are near each other up to here.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_locked_in_the_order_of_their_numbers_whatever_their_mode() {
        let mut gates = Gates::default();
        for (gate, mode) in
            [(9, Mode::Shared), (2, Mode::Alone), (5, Mode::Shared), (2, Mode::Shared), (7, Mode::Alone)]
        {
            gates.add(gate, mode);
        }
        let runs = gates.runs();
        let expected = [
            (Mode::Alone, vec![2]),
            (Mode::Shared, vec![5]),
            (Mode::Alone, vec![7]),
            (Mode::Shared, vec![9]),
        ];
        assert_eq!(runs, expected);
    }

    #[test]
    fn numbers_stay_as_they_are_and_are_spread() {
        let lane = LaneKey { pipeline: "alpha".into(), lane: "l1".into() };
        assert_eq!(
            (of_parked("h1"), of_lane(&lane)),
            (23_487, 7_467),
            "servers of two releases meet at one gate"
        );
        let numbers: std::collections::BTreeSet<_> = (0..1_000).map(|n| of_parked(&n.to_string())).collect();
        assert!(numbers.len() > 970, "{}", numbers.len());
        let entry = |name: &str| RegistryKey { kind: "epoch".to_owned(), name: name.to_owned() };
        assert!((0..1_000).all(|n| (LINES..LINES + ENTRIES).contains(&of_entry(&entry(&n.to_string())))));
    }
}
