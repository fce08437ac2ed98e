//! Finds the declared moves that were walked.

use model::event::{Change, Event, Kind};
use model::pipeline::{By, Move};
use model::{Pipeline, Right};
use store::Recorded;

#[derive(Debug)]
pub(crate) struct Coverage {
    definition: model::Digest,
    moves: Vec<(Move, bool)>,
}

impl Coverage {
    pub(super) fn of(pipeline: &Pipeline) -> Coverage {
        let moves = pipeline.distinct_moves().into_iter().map(|one| (one, false));
        Coverage { definition: pipeline.digest, moves: moves.collect() }
    }

    pub(super) fn learn(&mut self, events: &[Recorded]) {
        for Recorded { event, .. } in events {
            if event.leaf.definition != self.definition {
                continue;
            }
            for (declared, walked) in &mut self.moves {
                *walked |= is(event, declared);
            }
        }
    }

    pub(super) fn total(&self) -> usize {
        self.moves.len()
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = &Move> {
        self.moves.iter().filter(|(_, walked)| !walked).map(|(declared, _)| declared)
    }

    /// Tells whether every move is walked. Those along `on.guard_error` may be missing: where schemas hold for all that
    /// expressions read, nothing leads there, and the file still says what would happen.
    pub(super) fn is_full(&self) -> bool {
        self.missing().all(|one| one.by == By::GuardError)
    }
}

/// Tells whether an event is this move. Two ways with one trigger are told apart by what made the submission take them.
fn is(event: &Event, declared: &Move) -> bool {
    let leaf = &event.leaf;
    let same = (&leaf.from, &leaf.to, &leaf.trigger) == (&declared.from, &declared.to, &declared.trigger);
    let error = matches!(&event.detail.change, Change::Moved(moved) if moved.cause().is_some());
    let by = match declared.by {
        By::Start => leaf.kind == Kind::Submitted,
        By::Error => error,
        By::Action(_) => matches!(leaf.right, Right::Role(_)),
        By::Outcome(_) => !error && !matches!(leaf.right, Right::Role(_)),
        By::Crashed | By::GuardError => error,
        By::Pass | By::Clock | By::Children(_) | By::ParentCancelled | By::Ttl | By::Late => {
            leaf.right == Right::Rule
        }
    };
    same && by && matches!(leaf.kind, Kind::Submitted | Kind::Moved)
}
