//! The pipelines as the checker holds them: which moves are legal, and which task a submission is to have run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::event::Kind;
use model::pipeline::{By, Move, Task};
use model::{Event, Name, Pipeline, Right, Submission};

use super::{Checked, ensure};
use crate::finding::{Finding, finding};

#[derive(Debug, Default)]
pub(crate) struct Law {
    books: BTreeMap<(Name, u32), Book>,
}

#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) pipeline: Arc<Pipeline>,
    moves: Vec<Move>,
}

impl Law {
    /// The first definition under a name and version is the one that counts: others of it differ in parameters alone.
    pub(crate) fn add(&mut self, pipeline: &Arc<Pipeline>) {
        let book = || Book { pipeline: pipeline.clone(), moves: pipeline.moves() };
        self.books.entry((pipeline.name.clone(), pipeline.version)).or_insert_with(book);
    }

    pub(crate) fn book(&self, pipeline: &Name, version: u32) -> Result<&Book, Finding> {
        let book = self.books.get(&(pipeline.clone(), version));
        book.ok_or_else(|| {
            finding!("a submission follows version {version} of `{pipeline}`, which was never applied")
        })
    }

    /// Every version of a pipeline that anybody wanted to apply.
    pub(crate) fn versions<'a>(&'a self, pipeline: &str) -> impl Iterator<Item = &'a Book> {
        self.books.iter().filter(move |((name, _), _)| **name == *pipeline).map(|(_, book)| book)
    }

    /// The name of every pipeline.
    pub(crate) fn names(&self) -> BTreeSet<&Name> {
        self.books.keys().map(|(name, _)| name).collect()
    }

    pub(crate) fn of(&self, row: &Submission) -> Result<&Book, Finding> {
        self.book(&row.pipeline, row.version)
    }
}

impl Book {
    /// The task a submission wants run: its granted action's, else its state's.
    pub(crate) fn task(&self, row: &Submission) -> Option<&Task> {
        let state = self.pipeline.state(&row.state)?;
        match &row.request {
            Some(request) => state.action(&request.action)?.edges.get(request.edge)?.task.as_ref(),
            None => state.task(),
        }
    }

    /// Lists what can have made this event's move: never nothing.
    pub(crate) fn ways(&self, event: &Event) -> Result<Vec<&By>, Finding> {
        let leaf = &event.leaf;
        let fits = |legal: &&Move| {
            legal.from == leaf.from
                && legal.to == leaf.to
                && legal.trigger == leaf.trigger
                && by_right(leaf, &legal.by)
        };
        let ways: Vec<&By> = self.moves.iter().filter(fits).map(|legal| &legal.by).collect();
        ensure!(
            !ways.is_empty(),
            "no legal move of `{}` leads from {:?} to {} by {} with the right {:?}",
            self.pipeline.name,
            leaf.from,
            leaf.to,
            leaf.trigger,
            leaf.right
        );
        Ok(ways)
    }

    pub(crate) fn check(&self, event: &Event) -> Checked {
        let leaf = &event.leaf;
        ensure!(
            event.detail.change.kind() == leaf.kind,
            "the leaf says {:?}, the detail does not",
            leaf.kind
        );
        match leaf.kind {
            Kind::Submitted | Kind::Moved => self.ways(event).map(|_| ()),
            // To a state of another version, which need not have the one before.
            Kind::Migrated => Ok(()),
            _ => {
                ensure!(leaf.from.as_ref() == Some(&leaf.to), "{:?} changed the state", leaf.kind);
                Ok(())
            }
        }
    }
}

/// Tells whether a right allows such a move at all.
fn by_right(leaf: &model::event::Leaf, by: &By) -> bool {
    match leaf.right {
        Right::Role(_) | Right::Rule if leaf.kind == Kind::Submitted => *by == By::Start,
        Right::Role(_) => matches!(by, By::Action(_)),
        Right::Lease(_) => matches!(by, By::Outcome(_) | By::Error | By::GuardError),
        // A redrive walks the edges of an outcome that was kept, in nobody's name.
        Right::Rule => !matches!(by, By::Start | By::Action(_)),
    }
}
