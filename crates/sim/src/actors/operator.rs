//! Somebody who applies pipelines: again, newer, older, and with contents that changed under an old number.

use engine::core::{Ask, Input};

use super::View;
use crate::pipelines;

#[derive(Debug)]
pub(crate) struct Operator;

impl Operator {
    pub(crate) fn turn(&self, view: &mut View<'_>) -> Input {
        let pipeline = match view.chance.below(10) {
            0..4 => view.chance.pick(&pipelines::first()).clone(),
            4..6 => pipelines::plain_altered(),
            6..8 => pipelines::plain(3),
            _ => pipelines::plain(2),
        };
        Ask::Apply(pipeline).into()
    }
}
