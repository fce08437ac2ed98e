//! The kind of a state, by the keys that are written in it; and whether they go together.

use super::Reader;
use super::kind::Subject;
use super::state_keys::{Shape, StateKey, names};
use crate::pipeline::file::{Entry, Table};
use crate::pipeline::problem::{Problem, quote};

/// The keys that make a kind, strongest first: of two, the stronger decides how the rest is read.
const KIND_KEYS: [(&str, Shape); 6] = [
    ("final", Shape::Final),
    ("join", Shape::Join),
    ("wait", Shape::Wait),
    ("task", Shape::Task),
    ("review", Shape::Human),
    ("next", Shape::Pass),
];

impl Reader<'_> {
    /// `None` if nothing says it.
    pub(super) fn shape(&mut self, state: &Entry, table: &Table) -> Option<Shape> {
        let strongest = KIND_KEYS.into_iter().find(|(key, _)| table.has(key));
        // Every state may have actions; one that has nothing else waits for them.
        let shape = strongest.map(|(_, shape)| shape).or(table.has("actions").then_some(Shape::Human));
        if shape.is_none() {
            let message = format!("nothing says what {} waits for", quote(&state.key));
            let kinds = "give it `next`, `task`, `wait`, `review`, `actions`, `join` or `final`";
            self.problems.push(Problem::new("no-kind", state.at.clone(), message).help(kinds));
        }
        shape
    }

    pub(super) fn unknown_state_keys(&mut self, table: &Table) {
        for entry in table.iter().filter(|entry| StateKey::find(&entry.key).is_none()) {
            self.unknown_key(entry, &names());
        }
    }

    /// Reports the keys a state of its kind may not have.
    pub(super) fn illegal_keys(&mut self, subject: &Subject<'_>) {
        let Subject { table, shape, .. } = *subject;
        let (name, is) = (quote(subject.name), shape.as_str());
        let is_mixed = Self::is_mixed(shape, table);
        for entry in table.iter() {
            let Some(key) = StateKey::find(&entry.key).filter(|key| !key.is_legal(shape, table)) else {
                continue;
            };
            if let Some((_, other)) = KIND_KEYS.into_iter().find(|(kind_key, _)| *kind_key == key.name) {
                let message =
                    format!("`{}` makes {name} a {} state, but it is a {is} state", key.name, other.as_str());
                let problem = Problem::new("mixed-kinds", entry.at.clone(), message);
                self.problems.push(problem.help("every state has one kind"));
            } else if !is_mixed {
                let message =
                    format!("`{}` belongs to {}, and {name} is a {is} state", key.name, key.owners());
                self.report("key-not-here", &entry.at, message);
            }
        }
    }

    /// Tells whether a key says the state is of another kind: then neither what it may have nor where it leads is
    /// known.
    pub(super) fn is_mixed(shape: Shape, table: &Table) -> bool {
        KIND_KEYS.into_iter().any(|(key, _)| {
            table.has(key) && StateKey::find(key).is_some_and(|key| !key.is_legal(shape, table))
        })
    }
}
