//! The counts of one pipeline in one span of minutes.

use std::collections::BTreeMap;

use model::{Name, Time};
use serde::{Deserialize, Serialize};

use crate::levels::Tally;

/// The minutes of a span: few, so that what is written every few seconds is small.
pub const MINUTES: i64 = 15;
/// The whole spans that are kept beside the one under way: six hours.
pub const SPANS_KEPT: i64 = 24;

/// Edges and states that one entry tells apart: more than any file declares.
const KEYS_MAX: usize = 2_000;

pub(super) fn minute_of(at: Time) -> i64 {
    at.millis().div_euclid(60_000)
}

pub(super) fn span_of(minute: i64) -> i64 {
    minute.div_euclid(MINUTES)
}

/// Moves by edge and minute, and the stays they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// By `FROM TO`, where `FROM` is empty for what was submitted; then by minute.
    #[serde(rename = "m", default)]
    moves: BTreeMap<String, BTreeMap<i64, u64>>,
    /// By the state that was left.
    #[serde(rename = "s", default)]
    stays: BTreeMap<Name, Tally>,
}

impl FlowRecord {
    pub(super) fn moved(&mut self, from: Option<&Name>, to: &Name, minute: i64, count: u64) {
        let edge = format!("{} {to}", from.map_or("", |from| from));
        if self.moves.len() < KEYS_MAX || self.moves.contains_key(&edge) {
            *self.moves.entry(edge).or_default().entry(minute).or_default() += count;
        }
    }

    pub(super) fn stayed(&mut self, state: &Name, tally: &Tally) {
        if self.stays.len() < KEYS_MAX || self.stays.contains_key(state) {
            self.stays.entry(state.clone()).or_default().add(tally);
        }
    }

    /// Adds what was counted besides.
    pub fn add(&mut self, other: &FlowRecord) {
        for (edge, minutes) in &other.moves {
            let mine = self.moves.entry(edge.clone()).or_default();
            minutes.iter().for_each(|(minute, count)| *mine.entry(*minute).or_default() += count);
        }
        other.stays.iter().for_each(|(state, tally)| self.stayed(state, tally));
    }

    /// Lists the moves: from, to, and the counts by minute.
    pub(super) fn moves(&self) -> impl Iterator<Item = (Option<&str>, &str, &BTreeMap<i64, u64>)> {
        self.moves.iter().filter_map(|(edge, minutes)| {
            let (from, to) = edge.split_once(' ')?;
            Some((Some(from).filter(|from| !from.is_empty()), to, minutes))
        })
    }

    pub(super) fn stays(&self) -> impl Iterator<Item = (&Name, &Tally)> {
        self.stays.iter()
    }
}
