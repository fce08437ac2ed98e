//! A program that submits: with payloads that fit and that do not, once and again.

use engine::core::{Ask, Input};
use model::admit::{Application, Door, admit};
use model::token::Bits;
use model::{Caller, Millis, Role};

use super::{Heard, Sent, View, once};

#[derive(Debug)]
pub(crate) struct Submitter {
    name: String,
    role: Role,
    sent: Sent,
    /// Asked, and nobody knows whether it was done.
    open: Vec<Input>,
}

const PIPELINES: [&str; 20] = [
    "review", "mill", "mill", "patience", "plain", "dock", "dock", "dock", "dock", "convoy", "convoy",
    "convoy", "router", "batch", "batch", "part", "studio", "studio", "studio", "bulletin",
];

impl Submitter {
    pub(crate) fn new(name: &str, role: Role) -> Self {
        Submitter { name: name.to_owned(), role, sent: Sent::default(), open: Vec::new() }
    }

    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        if !self.open.is_empty() && view.chance.percent(50) {
            return Some(self.open.remove(0));
        }
        if view.chance.percent(15) {
            return self.sent.again(view.chance);
        }
        let pipeline = *view.chance.pick(&PIPELINES);
        let versions = view.pipelines.current();
        let pipeline = versions.in_force(pipeline)?;
        let application = self.application(&pipeline.name, view);
        let body = format!("{} {application:?}", pipeline.name);
        match admit(pipeline, application, &mut model::schema::Fuel::whole()) {
            Ok(admission) => {
                // As the engine's callers do, and as what comes another way does not.
                let seals = view.chance.percent(50);
                let admission = if seals { admission.sealed(Bits(view.chance.seed())) } else { admission };
                let once = view.chance.percent(50).then(|| once(&self.name, "submit", &body, view.chance));
                Some(Input::from(Ask::Submit(admission.into())).once(once))
            }
            Err(refusal) => {
                view.refused.push(refusal.code);
                None
            }
        }
    }

    fn application(&self, pipeline: &str, view: &mut View<'_>) -> Application {
        let chance = &mut *view.chance;
        let given = chance.percent(10)
            || pipeline == "patience" && chance.percent(50)
            || pipeline == "part" && chance.percent(60);
        Application {
            caller: Caller::new(self.name.as_str(), self.role),
            payload: crate::pipelines::payload(pipeline, view.now, chance),
            key: given.then(|| format!("given-{}", chance.below(5))),
            priority: chance.percent(20).then(|| i64::try_from(chance.below(20)).expect("below twenty") - 10),
            not_before: chance.percent(20).then(|| view.now.plus(Millis::from_secs(chance.below(300)))),
            reason: chance.percent(30).then(|| "because".to_owned()),
            door: Door::Api,
        }
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        if heard.is_open() {
            // Only with a key is it safe to ask again; without one a careful client looks first.
            if input.once.is_some() {
                self.open.push(input.clone());
            }
        } else {
            self.sent.remember(input);
        }
    }
}
