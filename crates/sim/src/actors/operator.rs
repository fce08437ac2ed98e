//! Somebody who applies pipelines: again, newer, older, with contents that changed under an old number, and with other
//! parameters; who retires versions without looking whether something follows them; and who reads the feed.

use engine::core::{Ask, CursorName, Input, MoveCursor};
use engine::pipelines::{Apply, Intent};
use model::json::Value;

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
            let cursor = CursorName { subject: Some("operator".into()), name: "reader".into() };
            return Ask::MoveCursor(MoveCursor { cursor, position, rewind }).into();
        }
        let versions = view.pipelines.current();
        let latest = versions.in_force("plain").map_or(1, |pipeline| pipeline.version);
        let pipeline = match view.chance.below(18) {
            14.. => return self.step_aside(view).into(),
            10.. => view.chance.pick(&pipelines::second()).clone(),
            0..3 => view.chance.pick(&pipelines::first()).clone(),
            // Of no other pipeline there are more than two versions.
            3 if latest > 2 && view.ledger.last_seq().is_multiple_of(2) => {
                return Ask::RetireVersion { pipeline: "plain".into(), version: latest - 2 }.into();
            }
            3 => pipelines::plain_altered(),
            4..7 => pipelines::plain(latest + 1),
            7 => pipelines::plain(latest + 2),
            _ => pipelines::plain(latest.saturating_sub(1).max(1)),
        };
        Ask::apply(pipeline).into()
    }

    /// Goes back to an older version, or sets parameters of one.
    fn step_aside(&self, view: &mut View<'_>) -> Ask {
        let (first, second) = (pipelines::first(), pipelines::second());
        let pipeline = match view.chance.percent(50) {
            true => view.chance.pick(&second).clone(),
            false => view.chance.pick(&first).clone(),
        };
        let mut apply = Apply::new(pipeline);
        if view.chance.percent(50) {
            apply.intent = *view.chance.pick(&[Intent::Rollback, Intent::Rollback, Intent::Start]);
        }
        if apply.pipeline.params.get("patience").is_some() {
            let patience = match view.chance.below(4) {
                0 => Value::Null,
                seconds => Value::from(seconds),
            };
            apply.params.insert("patience".to_owned(), patience);
        }
        Ask::Apply(Box::new(apply))
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        if heard.is_open() {
            self.open.push(input.clone());
        }
    }
}
