//! Flow: how many submissions took each edge in each minute of the last hours, and how long they had stayed before.
//!
//! Each server counts what its commits did ([`Flows`]) and adds it every few seconds to entries of its own, one for each
//! pipeline and span of minutes ([`FlowRecord`]). A reader adds up the servers. Entries are named by their span first, so those that
//! are too old are the first ones. A server that is killed loses what it counted in those seconds.

mod record;
mod report;

pub use record::{FlowRecord, MINUTES, SPANS_KEPT};
pub use report::{Dwell, Edge, FlowReport};

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use model::{Event, Millis, Name, Submission, Time};
use store::Store;

use crate::levels::Tally;
use crate::registry::{self, Entry, EntryKey};

/// Edges that are told apart by one server between two writes. Files declare few; the rest is not counted.
const EDGES_MAX: usize = 5_000;
/// Entries read at a time.
const PAGE: usize = 200;

/// The counts that are registered.
pub(crate) enum Registered {}

impl Entry for Registered {
    const KIND: &'static str = "flow";
    type Body = FlowRecord;
}

/// The part of all counts that one entry has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    pub(crate) span: i64,
    pub(crate) pipeline: Name,
    pub(crate) server: Name,
}

impl Part {
    pub(crate) fn registered(&self) -> EntryKey<Registered> {
        EntryKey::new(format!("{}{}/{}", first_name(self.span), self.pipeline, self.server))
    }

    /// Reads the span and the pipeline out of the name of an entry.
    fn read(name: &str) -> Option<(i64, Name)> {
        let mut parts = name.splitn(3, '/');
        Some((parts.next()?.parse().ok()?, parts.next()?.into()))
    }
}

/// Returns a text that the names of a span's entries begin with. Spans of this age of the world have seven digits.
fn first_name(span: i64) -> String {
    format!("{span:08}/")
}

/// The counts of one server that are to be registered, and entries that are too old.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    pub parts: BTreeMap<Part, FlowRecord>,
    pub old: Vec<String>,
}

impl News {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.old.is_empty()
    }
}

/// A move from a state to another, or into the first one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Move {
    pub(crate) pipeline: Name,
    pub(crate) from: Option<Name>,
    pub(crate) to: Name,
}

impl Move {
    pub(crate) fn of(row: &Submission, event: &Event) -> Move {
        let (from, to) = (event.leaf.from.clone(), event.leaf.to.clone());
        Move { pipeline: row.pipeline.clone(), from, to }
    }
}

/// The counts of this server that are not registered yet.
#[derive(Debug, Default)]
pub struct Flows(Mutex<Unregistered>);

#[derive(Debug, Default)]
struct Unregistered {
    moves: HashMap<Move, Counts>,
    /// On its way into the store; added again if it does not get there.
    sent: BTreeMap<(i64, Name), FlowRecord>,
}

#[derive(Debug, Default)]
struct Counts {
    minutes: BTreeMap<i64, u64>,
    /// By span.
    stays: BTreeMap<i64, Tally>,
}

impl Flows {
    fn with<T>(&self, look: impl FnOnce(&mut Unregistered) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note(&self, moves: impl IntoIterator<Item = (Move, Time, Option<Millis>)>) {
        self.with(|all| {
            for (taken, at, stayed) in moves {
                if all.moves.len() >= EDGES_MAX && !all.moves.contains_key(&taken) {
                    continue;
                }
                let counts = all.moves.entry(taken).or_default();
                let minute = record::minute_of(at);
                *counts.minutes.entry(minute).or_default() += 1;
                if let Some(stayed) = stayed {
                    counts.stays.entry(record::span_of(minute)).or_default().note_span(stayed);
                }
            }
        });
    }

    /// Returns all counts to register, with those that were sent before and did not get there.
    pub(crate) fn send(&self) -> BTreeMap<(i64, Name), FlowRecord> {
        self.with(|all| {
            let moves = std::mem::take(&mut all.moves);
            add(&mut all.sent, moves.iter());
            all.sent.clone()
        })
    }

    /// Drops the counts that were sent: they are registered.
    pub(crate) fn sent(&self) {
        self.with(|all| all.sent.clear());
    }

    fn unregistered(&self) -> BTreeMap<(i64, Name), FlowRecord> {
        self.with(|all| {
            let mut news = all.sent.clone();
            add(&mut news, all.moves.iter());
            news
        })
    }

    /// Reads the flow of the last hours: of all servers, and of this one until now.
    pub fn read(&self, store: &dyn Store, now: Time) -> Result<FlowReport, store::Error> {
        let mut report = FlowReport::until(now);
        let mut after = first_name(report.first_span());
        loop {
            let page = registry::page::<Registered>(store, &after, PAGE)?;
            let is_last = page.len() < PAGE;
            for (name, record) in page {
                // One that another release wrote in another way says nothing here.
                if let (Some((span, pipeline)), Ok(record)) = (Part::read(&name), record) {
                    report.add(span, &pipeline, &record);
                }
                after = name;
            }
            if is_last {
                break;
            }
        }
        for ((span, pipeline), record) in self.unregistered() {
            report.add(span, &pipeline, &record);
        }
        Ok(report)
    }
}

/// Lists entries that are in no window any more: a few, the oldest first.
pub(crate) fn old(store: &dyn Store, now: Time) -> Result<Vec<String>, store::Error> {
    let oldest = record::span_of(record::minute_of(now)) - SPANS_KEPT;
    let first = registry::page::<Registered>(store, "", PAGE)?.into_iter().map(|(name, _)| name);
    Ok(first.filter(|name| Part::read(name).is_none_or(|(span, _)| span < oldest)).collect())
}

fn add<'a>(all: &mut BTreeMap<(i64, Name), FlowRecord>, moves: impl Iterator<Item = (&'a Move, &'a Counts)>) {
    for (Move { pipeline, from, to }, counts) in moves {
        for (minute, count) in &counts.minutes {
            let record = all.entry((record::span_of(*minute), pipeline.clone())).or_default();
            record.moved(from.as_ref(), to, *minute, *count);
        }
        for (span, tally) in &counts.stays {
            if let Some(from) = from {
                all.entry((*span, pipeline.clone())).or_default().stayed(from, tally);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use store::{ManualClock, MemoryStore};

    use super::*;

    fn moved(from: Option<&str>, to: &str) -> Move {
        Move { pipeline: "p".into(), from: from.map(Into::into), to: to.into() }
    }

    fn at(minutes: i64) -> Time {
        Time::from_millis((30_000_000 + minutes) * 60_000)
    }

    #[test]
    fn moves_are_counted_by_minute_and_stays_by_state() {
        let (flows, store) = (Flows::default(), MemoryStore::new(std::sync::Arc::new(ManualClock::new())));
        flows.note([(moved(None, "A"), at(0), None), (moved(None, "A"), at(0), None)]);
        flows.note([(moved(Some("A"), "B"), at(1), Some(Millis::from_secs(60)))]);
        let report = flows.read(&store, at(2)).unwrap();
        let edges = report.edges();
        let counts = |from: Option<&str>, to: &str| {
            let edge = edges.iter().find(|edge| edge.from.as_deref() == from && &*edge.to == to).unwrap();
            edge.minutes[edge.minutes.len() - 3..].to_vec()
        };
        assert_eq!((counts(None, "A"), counts(Some("A"), "B")), (vec![2, 0, 0], vec![0, 1, 0]));
        let dwells = report.dwells();
        assert_eq!((dwells.len(), &*dwells[0].state, dwells[0].measured), (1, "A", 1));
        let p50 = dwells[0].percentiles[0].millis();
        assert!((50_000..70_000).contains(&p50), "{p50}");
    }

    #[test]
    fn what_does_not_get_there_is_sent_again_and_old_spans_are_let_go() {
        let flows = Flows::default();
        flows.note([(moved(None, "A"), at(0), None)]);
        assert_eq!(flows.send().len(), 1);
        flows.note([(moved(None, "A"), at(0), None), (moved(None, "A"), at(400), None)]);
        assert_eq!(flows.send().len(), 2, "the first did not get there");
        flows.sent();
        assert!(flows.send().is_empty());
        assert!(Part::read("00001234/p/server").is_some() && Part::read("nonsense").is_none());
    }
}
