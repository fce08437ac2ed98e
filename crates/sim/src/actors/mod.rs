//! The users of the engine: people, programs and workers, well behaved and not.

mod clerk;
mod director;
mod operator;
mod person;
mod submitter;
mod warden;
mod worker;

pub(crate) use clerk::{Clerk, Narrow};
pub(crate) use director::{Director, OPERATES, TRIES};
pub(crate) use operator::Operator;
pub(crate) use person::Person;
pub(crate) use submitter::Submitter;
pub(crate) use warden::Warden;
pub(crate) use worker::{Habit, Worker, tell, token};

use engine::Pipelines;
use engine::core::{Input, Once, Reply};
use model::{Code, Digest, Time};
use store::{RequestKey, Store};

use crate::chance::Chance;
use crate::check::Ledger;

/// The view an actor has in its turn, and what it can use.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) chance: &'a mut Chance,
    pub(crate) now: Time,
    pub(crate) ledger: &'a Ledger,
    pub(crate) pipelines: &'a Pipelines,
    /// The store that those read who do a server's duties: out of reach now and then.
    pub(crate) store: &'a dyn Store,
    /// Refusals at the door, which the engine's core never sees.
    pub(crate) refused: &'a mut Vec<Code>,
}

/// The answer that an actor hears.
#[derive(Debug, Clone)]
pub(crate) enum Heard {
    Told(Box<Reply>),
    /// Nothing: the process or the connection is gone.
    Silence,
}

impl Heard {
    /// Tells whether what was asked may have happened or not.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Heard::Silence => true,
            Heard::Told(outcome) => {
                outcome.as_ref().as_ref().is_err_and(|refusal| refusal.code == Code::OutcomeUnknown)
            }
        }
    }

    pub(crate) fn code(&self) -> Option<Code> {
        match self {
            Heard::Silence => None,
            Heard::Told(outcome) => outcome.as_ref().as_ref().err().map(|refusal| refusal.code),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Actor {
    Clerk(Clerk),
    Director(Director),
    Operator(Operator),
    Person(Person),
    Submitter(Submitter),
    Warden(Warden),
    Worker(Worker),
}

impl Actor {
    /// Returns what the actor asks next, if anything.
    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        match self {
            Actor::Clerk(clerk) => clerk.turn(view),
            Actor::Director(director) => director.turn(view),
            Actor::Operator(operator) => Some(operator.turn(view)),
            Actor::Person(person) => person.turn(view),
            Actor::Submitter(submitter) => submitter.turn(view),
            Actor::Warden(warden) => warden.turn(view),
            Actor::Worker(worker) => worker.turn(view),
        }
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        match self {
            // The next pass finds what the last one did not do; a person looks what became of an operation.
            Actor::Clerk(_) | Actor::Director(_) => {}
            Actor::Operator(operator) => operator.hear(input, heard),
            Actor::Person(person) => person.hear(input, heard),
            Actor::Submitter(submitter) => submitter.hear(input, heard),
            Actor::Warden(warden) => warden.hear(input, heard),
            Actor::Worker(worker) => worker.hear(input, heard),
        }
    }
}

/// Requests with an `Idempotency-Key`, to be sent again: unchanged, or with another body under the same key.
#[derive(Debug, Default)]
struct Sent {
    inputs: Vec<Input>,
}

impl Sent {
    const KEPT_MAX: usize = 12;

    fn remember(&mut self, input: &Input) {
        if input.once.is_some() {
            self.inputs.push(input.clone());
            if self.inputs.len() > Self::KEPT_MAX {
                self.inputs.remove(0);
            }
        }
    }

    fn again(&self, chance: &mut Chance) -> Option<Input> {
        if self.inputs.is_empty() {
            return None;
        }
        let mut input = chance.pick(&self.inputs).clone();
        if chance.percent(30)
            && let Some(once) = &mut input.once
        {
            once.digest = Digest::of(b"another body");
        }
        Some(input)
    }
}

/// A fresh key for a request.
fn once(subject: &str, route: &str, body: &str, chance: &mut Chance) -> Once {
    let key = RequestKey {
        subject: subject.into(),
        route: route.into(),
        key: format!("k{}", chance.draw()).into(),
    };
    Once { key, digest: Digest::of(body.as_bytes()), most: None }
}
