//! Reading a table key by key: every key that nobody asked for is unknown.

use super::pipeline::TOP_KEYS;
use super::{Reader, hints};
use crate::pipeline::file::{Entry, Node, Table};
use crate::pipeline::problem::{Problem, Span, quote};

/// The kind of table that a key stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Pipeline,
    State,
    /// `on.<outcome>`: the keys are outcomes.
    On,
    Edge,
    /// A table with keys of its own that is switched on or off as a whole.
    Inner,
}

/// A key that was understood.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) place: Place,
    pub(crate) key: String,
    pub(crate) at: Span,
}

/// A table being read.
#[derive(Debug)]
pub(super) struct Fields<'t> {
    place: Place,
    table: &'t Table,
    asked: Vec<&'static str>,
    refused: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    pub(super) fn new(place: Place, table: &'t Table) -> Self {
        Fields { place, table, asked: Vec::new(), refused: Vec::new() }
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<&'t Entry> {
        self.asked.push(key);
        self.table.entry(key)
    }

    pub(super) fn node(&mut self, key: &'static str) -> Option<&'t Node> {
        self.take(key).map(|entry| &entry.node)
    }

    /// A key that is known, but wrong here; whoever asks reports it.
    pub(super) fn refuse(&mut self, key: &'static str) -> Option<&'t Entry> {
        self.refused.push(key);
        self.table.entry(key)
    }
}

impl Reader<'_> {
    /// Takes note of what was understood and reports what was not. Every `Fields` ends here.
    pub(super) fn close(&mut self, fields: Fields<'_>) {
        for entry in fields.table.iter() {
            if fields.asked.contains(&entry.key.as_str()) {
                self.note(fields.place, entry);
            } else if !fields.refused.contains(&entry.key.as_str()) {
                self.unknown_key(entry, &fields.asked);
            }
        }
    }

    pub(super) fn note(&mut self, place: Place, entry: &Entry) {
        self.taken.push(Taken { place, key: entry.key.clone(), at: entry.at.clone() });
    }

    pub(super) fn unknown_key(&mut self, entry: &Entry, known: &[&str]) {
        let problem =
            Problem::new("unknown-key", entry.at.clone(), format!("unknown key {}", quote(&entry.key)));
        let problem = match self.near(&entry.key, known.iter().copied()) {
            Some(near) => problem.suggest(Some(near)),
            // TOML's trap: whatever is written below a `[table]` header belongs to that table.
            None if TOP_KEYS.contains(&entry.key.as_str()) => problem.help(format!(
                "`{}` belongs to the top level: write it above the first `[table]`",
                entry.key
            )),
            None => problem.help(
                hints::belongs(&entry.key).unwrap_or_else(|| format!("the keys here are {}", listed(known))),
            ),
        };
        self.problems.push(problem);
    }

    /// The table a key must hold.
    pub(super) fn table<'n>(&mut self, node: &'n Node) -> Option<&'n Table> {
        let table = node.as_table();
        if table.is_none() {
            self.wrong_type(node, "a table");
        }
        table
    }

    /// A table whose keys are names, not more than a file needs.
    pub(super) fn map<'n>(&mut self, node: Option<&'n Node>, what: &str) -> Vec<&'n Entry> {
        let Some(node) = node else { return Vec::new() };
        let Some(table) = self.table(node) else { return Vec::new() };
        self.bound(what, table.len(), super::ENTRIES_MAX, &node.span);
        table.iter().take(super::ENTRIES_MAX).collect()
    }

    pub(super) fn missing(&mut self, at: &Span, message: impl Into<String>) {
        self.report("missing-key", at, message);
    }

    pub(super) fn wrong_type(&mut self, node: &Node, wanted: &str) {
        let message = format!("expected {wanted}, found {}", node.type_name());
        let problem = Problem::new("wrong-type", node.span.clone(), message);
        self.problems.push(match hints::form(&self.source.toml, &node.span) {
            Some(form) => problem.help(form),
            None => problem,
        });
    }
}

/// `` `a`, `b` and `c` ``
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => "none".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}
