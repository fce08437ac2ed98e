//! Somebody who places holds and lets go of them: over pipelines, labels, lanes and single submissions.

use std::collections::BTreeMap;

use engine::Hold;
use engine::core::{Ask, Input};
use model::{Actor, ActorKind, Millis, Name, SubmissionId, Time};

use super::{Heard, View};
use crate::chance::Chance;

#[derive(Debug, Default)]
pub(crate) struct Warden {
    /// Asked, and nobody knows whether it was done.
    open: Vec<Input>,
}

/// More than a few at once, and nothing moves any more.
const HOLDS_MAX: usize = 4;

impl Warden {
    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        if !self.open.is_empty() && view.chance.percent(50) {
            return Some(self.open.remove(0));
        }
        let placed: Vec<Name> = view.ledger.holds().map(|hold| hold.id.clone()).collect();
        let full = placed.len() >= HOLDS_MAX;
        if !placed.is_empty() && (full || view.chance.percent(40)) {
            return Some(Ask::Release(view.chance.pick(&placed).clone()).into());
        }
        if view.chance.percent(5) {
            return Some(Ask::Release("00000000-0000-7000-8000-000000000000".into()).into());
        }
        Some(Ask::Hold(Box::new(hold(view))).into())
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        // A hold that was lost on the way is not missed; one that was lost on the way back must not be placed twice.
        if heard.is_open() && matches!(input.ask, Ask::Hold(_)) {
            self.open.push(input.clone());
        }
    }
}

fn hold(view: &mut View<'_>) -> Hold {
    let id = SubmissionId::new(view.now, std::array::from_fn(|_| byte(view.chance)));
    let chance = &mut *view.chance;
    let mut hold = Hold {
        id: id.to_string().into(),
        pipeline: None,
        labels: BTreeMap::new(),
        lane: None,
        submission: None,
        reason: "to look at it".to_owned(),
        owner: Actor::new(ActorKind::Admin, "wanda"),
        created_at: Time::EPOCH,
        expires_at: chance.percent(40).then(|| view.now.plus(Millis::from_secs(chance.below(90)))),
    };
    let pipelines = ["dock", "convoy", "router", "part", "mill", "plain", "studio"];
    match chance.below(4) {
        0 => hold.pipeline = Some((*chance.pick(&pipelines)).into()),
        1 => {
            let (label, value) = *chance.pick(&[
                ("quay", "q1"),
                ("cargo", "coal"),
                ("road", "r1"),
                ("zone", "z0"),
                ("press", "m0"),
                ("tenant", "t1"),
                ("cargo", "corn2"),
                ("client", "c0"),
                ("medium", "oil"),
            ]);
            hold.labels = BTreeMap::from([(label.into(), value.into())]);
        }
        2 => {
            hold.lane = Some((*chance.pick(&["q0", "q2", "r0", "r2", "m1"])).into());
            hold.pipeline = chance.percent(50).then(|| (*chance.pick(&["dock", "convoy", "part"])).into());
        }
        _ => {
            let ids = view.ledger.open_ids();
            match ids.is_empty() {
                true => hold.pipeline = Some("dock".into()),
                false => hold.submission = Some(*chance.pick(&ids)),
            }
        }
    }
    hold
}

fn byte(chance: &mut Chance) -> u8 {
    u8::try_from(chance.below(256)).expect("below 256")
}
