//! From the file's tree to a draft of the pipeline. What cannot be read is reported and replaced by something harmless,
//! so that the rest is read too: all problems come at once.

mod action;
mod clock;
mod defaults;
mod edge;
mod expression;
mod fields;
mod hints;
mod kind;
mod members;
mod metric;
mod name;
mod params;
mod people;
mod pipeline;
mod priority;
mod retry;
mod rules;
mod service;
mod shape;
mod state;
mod state_keys;
mod task;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(super) use fields::{Place, Taken};
pub(super) use members::paths_of;
pub(super) use value::FILE_BYTES_MAX;

use super::file::Table;
use super::nearest::nearest;
use super::problem::{Problem, Problems, Span};
use super::source::Source;
use super::{Pipeline, Reads};
use crate::Name;
use crate::expr::Expr;
use expression::Scope;

/// Bounds of a file, so that a hostile one costs little.
pub(super) const STATES_MAX: usize = 200;
pub(super) const EDGES_MAX: usize = 50;
pub(super) const ENTRIES_MAX: usize = 50;
/// Over all states: defaults put the same edges into each of them.
pub(super) const EDGES_TOTAL_MAX: usize = 10_000;

/// The result of reading: complete only if there is no problem.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) pipeline: Pipeline,
    /// Every key that was understood, with its place, for checks that point at one.
    pub(super) taken: Vec<Taken>,
    /// States that could not be read in full: what they lead to is not known.
    pub(super) doubtful: BTreeSet<Name>,
    /// The same of the edges that are no state's: the way in, the pipeline's ttl.
    pub(super) doubtful_pipeline: bool,
    /// Every place of a template that is filled in.
    pub(super) places: Vec<TemplatePlace>,
}

/// An expression in the text of a notification.
#[derive(Debug)]
pub(super) struct TemplatePlace {
    pub(super) notification: Name,
    pub(super) file: String,
    /// The byte of the file it begins at.
    pub(super) start: usize,
    pub(super) text: String,
}

pub(super) fn read(source: &Source, root: &Table, problems: &mut Problems) -> Draft {
    let mut reader = Reader {
        source,
        problems,
        known: Rc::new(Known::of(root)),
        taken: Vec::new(),
        doubtful: BTreeSet::new(),
        compiled: BTreeMap::new(),
        reads: Reads::default(),
        edges: 0,
        lost_edges: false,
        places: Vec::new(),
    };
    let pipeline = reader.pipeline(root);
    let Reader { taken, doubtful, places, lost_edges: doubtful_pipeline, .. } = reader;
    Draft { pipeline, taken, doubtful, doubtful_pipeline, places }
}

/// The names a file declares, which others refer to.
#[derive(Debug)]
struct Known {
    states: Vec<String>,
    labels: Vec<String>,
    params: Vec<String>,
    notifications: Vec<String>,
    calendars: Vec<String>,
    lane: bool,
}

impl Known {
    fn of(root: &Table) -> Self {
        let keys = |table: &str| {
            let table = root.table(table);
            table.into_iter().flat_map(Table::keys).take(STATES_MAX).map(str::to_owned).collect()
        };
        Known {
            states: keys("states"),
            labels: keys("labels"),
            params: keys("params"),
            notifications: keys("notify"),
            calendars: keys("calendars"),
            lane: root.has("lane"),
        }
    }
}

#[derive(Debug)]
struct Reader<'a> {
    source: &'a Source,
    problems: &'a mut Problems,
    known: Rc<Known>,
    taken: Vec<Taken>,
    doubtful: BTreeSet<Name>,
    /// Expressions by where they stand: those of `defaults` are compiled once for all states.
    compiled: BTreeMap<(usize, Scope), Expr>,
    reads: Reads,
    edges: usize,
    /// Set if an edge could not be read, so that something may seem unreachable that is not.
    lost_edges: bool,
    places: Vec<TemplatePlace>,
}

impl Reader<'_> {
    fn report(&mut self, code: &'static str, span: &Span, message: impl Into<String>) {
        self.problems.push(Problem::new(code, span.clone(), message));
    }

    /// The name that was probably meant. With very many problems, looking for it costs more than it helps.
    fn near<'c>(
        &self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str> + Clone,
    ) -> Option<&'c str> {
        const PROBLEMS_MAX: usize = 200;
        if self.problems.len() > PROBLEMS_MAX { None } else { nearest(written, candidates) }
    }

    /// Reports a list or table that has more than `max` members.
    fn bound(&mut self, what: &str, count: usize, max: usize, at: &Span) {
        if count > max {
            self.report("too-many", at, format!("{count} {what} are too many; the most is {max}"));
        }
    }
}
