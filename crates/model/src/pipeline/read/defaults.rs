//! `[defaults]`: as if written in every state where the key is legal and absent.
//!
//! One exception: actions and `on.parent_cancelled` are not put into final states. `defaults.actions.cancel` is meant for
//! what is under way; an end that can be left says so itself.

use std::collections::BTreeSet;

use super::Reader;
use super::state_keys::{Shape, StateKey, names, outcome_is_legal};
use crate::pipeline::file::{Entry, Table};
use crate::pipeline::moves::PARENT_CANCELLED;
use crate::pipeline::problem::{Problem, quote};

#[derive(Debug)]
pub(super) struct Defaults<'t> {
    table: Option<&'t Table>,
    /// The positions of the defaults that some state could use.
    usable: BTreeSet<usize>,
}

impl<'t> Defaults<'t> {
    pub(super) fn new(table: Option<&'t Table>) -> Self {
        Defaults { table, usable: BTreeSet::new() }
    }

    /// The state's table with what it leaves to the defaults.
    pub(super) fn fill(&mut self, state: &Table, shape: Shape) -> Table {
        let mut filled = state.clone();
        let Some(defaults) = self.table else { return filled };
        // Actions first: whether one runs a task decides where the keys for tasks are legal.
        if shape != Shape::Final {
            self.fill_inner(&mut filled, defaults.entry("actions"), |_| true);
        }
        self.fill_inner(&mut filled, defaults.entry("on"), |outcome| {
            let leaves_an_end = shape == Shape::Final && outcome == PARENT_CANCELLED;
            outcome_is_legal(outcome, shape, state) && !leaves_an_end
        });
        for entry in defaults.iter().filter(|entry| !matches!(&*entry.key, "actions" | "on")) {
            let key = StateKey::find(&entry.key).filter(|key| key.can_default);
            if key.is_some_and(|key| key.is_legal(shape, &filled)) {
                self.usable.insert(entry.at.start);
                if !filled.has(&entry.key) {
                    filled.add(entry.clone());
                }
            }
        }
        filled
    }

    fn fill_inner(&mut self, state: &mut Table, default: Option<&Entry>, is_legal: impl Fn(&str) -> bool) {
        let Some(default) = default else { return };
        for entry in default.node.as_table().into_iter().flat_map(Table::iter) {
            if !is_legal(&entry.key) {
                continue;
            }
            self.usable.insert(entry.at.start);
            if let Some(inner) = state.table_mut(&default.key, &default.at)
                && !inner.has(&entry.key)
            {
                inner.add(entry.clone());
            }
        }
    }

    /// Each single default, with what it is called.
    fn each(&self) -> Vec<(String, &'t Entry)> {
        let mut each = Vec::new();
        for entry in self.table.into_iter().flat_map(Table::iter) {
            match entry.node.as_table().filter(|_| matches!(&*entry.key, "actions" | "on")) {
                Some(inner) => {
                    each.extend(inner.iter().map(|inner| (format!("{}.{}", entry.key, inner.key), inner)));
                }
                None => each.push((entry.key.clone(), entry)),
            }
        }
        each
    }
}

impl Reader<'_> {
    /// Reports the keys that are no state's.
    pub(super) fn default_keys(&mut self, defaults: &Defaults<'_>) {
        for entry in defaults.table.into_iter().flat_map(Table::iter) {
            match StateKey::find(&entry.key) {
                None => self.unknown_key(entry, &names()),
                Some(key) if !key.can_default => {
                    let message = format!("`{}` cannot have a default: every state has its own", entry.key);
                    self.report("key-not-here", &entry.at, message);
                }
                Some(_) if matches!(&*entry.key, "actions" | "on") => {
                    let _ = self.table(&entry.node);
                }
                Some(_) => {}
            }
        }
    }

    /// Reports what no state could use. To be asked when all states were filled.
    pub(super) fn useless_defaults(&mut self, defaults: &Defaults<'_>) {
        for (name, entry) in defaults.each() {
            let outer = name.split('.').next().unwrap_or_default();
            let known = StateKey::find(outer).is_some_and(|key| key.can_default);
            if known && !defaults.usable.contains(&entry.at.start) {
                let message = format!("no state can use the default {}", quote(&name));
                let problem = Problem::new("useless-default", entry.at.clone(), message);
                self.problems.push(problem.help("remove it, or write it where it is meant"));
            }
        }
    }
}
