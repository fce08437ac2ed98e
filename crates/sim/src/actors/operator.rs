//! Somebody who applies pipelines: again, newer, older, and with contents that changed under an old number; and who
//! reads the feed.

use engine::core::{Ask, Input, MoveCursor};

use super::{Heard, View};
use crate::pipelines;

#[derive(Debug, Default)]
pub(crate) struct Operator {
    /// Asked, and nobody knows whether it was done.
    open: Vec<Input>,
}

impl Operator {
    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Input {
        if !self.open.is_empty() {
            return self.open.remove(0);
        }
        if view.chance.percent(10) {
            let position = view.chance.below(view.ledger.last_seq() + 1);
            let rewind = view.chance.percent(30);
            return Ask::MoveCursor(MoveCursor { name: "reader".into(), position, rewind }).into();
        }
        let versions = view.pipelines.current();
        let latest = versions.latest("plain").map_or(1, |pipeline| pipeline.version);
        let pipeline = match view.chance.below(14) {
            10.. => view.chance.pick(&pipelines::second()).clone(),
            0..3 => view.chance.pick(&pipelines::first()).clone(),
            3 => pipelines::plain_altered(),
            4..7 => pipelines::plain(latest + 1),
            7 => pipelines::plain(latest + 2),
            _ => pipelines::plain(latest.saturating_sub(1).max(1)),
        };
        Ask::Apply(pipeline).into()
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        if heard.is_open() {
            self.open.push(input.clone());
        }
    }
}
