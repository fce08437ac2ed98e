//! Performs steps: who is called what, who has which lease, and what the last step was answered.

use std::collections::BTreeMap;
use std::fmt;

use engine::core::{Ask, Output};
use model::admit::{Application, Door, admit_any};
use model::command::{self, Command};
use model::{Actor, ActorKind, LeaseToken, Name, Pipeline, Refusal, Submission, SubmissionId};
use store::{Recorded, Store as _};

use super::file::Suite;
use super::step::Step;
use super::verbs::{self, Verb};
use super::world::World;

/// A scenario under way.
pub(super) struct Stage<'a> {
    suite: &'a Suite,
    pub(super) world: World,
    pub(super) named: BTreeMap<String, SubmissionId>,
    /// The submission steps are about unless they say otherwise.
    pub(super) current: Option<SubmissionId>,
    pub(super) leases: BTreeMap<String, LeaseToken>,
    holds: BTreeMap<String, Name>,
    last_hold: Option<Name>,
    pub(super) heard: Heard,
    /// The position of the last event before the last step that did something.
    pub(super) since: u64,
}

/// The answer to the last step, beyond what the submission shows.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) duplicate: bool,
    pub(super) repeated: bool,
    pub(super) gets: Vec<String>,
}

/// The reason why a step was not done.
#[derive(Debug)]
pub(super) enum Fault {
    Refused(Refusal),
    /// The step makes no sense here.
    Impossible(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(refusal) => write!(f, "{}: {refusal}", refusal.code.as_str()),
            Fault::Impossible(why) => f.write_str(why),
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Refused(refusal)
    }
}

pub(super) type Done<T = ()> = Result<T, Fault>;

pub(super) fn impossible<T>(why: impl Into<String>) -> Done<T> {
    Err(Fault::Impossible(why.into()))
}

impl<'a> Stage<'a> {
    pub(super) fn new(suite: &'a Suite) -> Self {
        Stage {
            suite,
            world: World::new(&suite.pipelines),
            named: BTreeMap::new(),
            current: None,
            leases: BTreeMap::new(),
            holds: BTreeMap::new(),
            last_hold: None,
            heard: Heard::default(),
            since: 0,
        }
    }

    /// Does what a step says, and lets what follows from it happen.
    pub(super) fn perform(&mut self, step: &Step) -> Done {
        self.act_out(step)?;
        if self.world.circles {
            return impossible("the pipeline goes in circles without time passing");
        }
        Ok(())
    }

    fn act_out(&mut self, step: &Step) -> Done {
        self.heard = Heard::default();
        if step.verb.is_some() {
            self.since = self.events().last().map_or(0, |last| last.seq);
        }
        if let Some(name) = &step.of {
            self.current = Some(self.known(name)?);
        }
        match &step.verb {
            None => Ok(()),
            Some(Verb::Submit(submit)) => self.submit(submit),
            Some(Verb::Claim(claim)) => self.claim(claim),
            Some(Verb::Answer(answer)) => self.answer(answer),
            Some(Verb::Spawn { children, lease }) => self.spawn(children, lease.as_deref()),
            Some(Verb::Fail(fail)) => self.fail(fail),
            Some(Verb::Snooze { span, lease }) => {
                let token = self.lease(lease.as_deref())?;
                self.settle(Command::Snooze(command::Snooze { token, span: *span }))
            }
            Some(Verb::GiveBack { lease }) => {
                let token = self.lease(lease.as_deref())?;
                self.settle(Command::GiveBack(command::GiveBack { token }))
            }
            Some(Verb::Renew { lease }) => {
                let token = self.lease(lease.as_deref())?;
                self.settle(Command::Renew(command::Renew { token, progress: None }))
            }
            Some(Verb::Crash { times }) => (0..*times).try_for_each(|_| self.crash()),
            Some(Verb::Stall) => self.stall(),
            Some(Verb::Act(act)) => self.act(act),
            Some(Verb::Amend { caller, patch }) => {
                let (caller, patch) = (caller.clone(), patch.clone());
                self.tell(Command::Amend(command::Amend { caller, patch, if_match: None }))
            }
            Some(Verb::Redrive { caller, reason }) => {
                let (caller, reason) = (caller.clone(), reason.clone());
                self.tell(Command::Redrive(command::Redrive { caller, reason }))
            }
            Some(Verb::Acknowledge { caller, note }) => {
                let (caller, note) = (caller.clone(), note.clone());
                self.tell(Command::Acknowledge(command::Acknowledge { caller, note, if_match: None }))
            }
            Some(Verb::Review { caller, step }) => {
                let (caller, step) = (caller.clone(), step.clone());
                self.tell(Command::Review(command::Review { caller, step, if_match: None }))
            }
            Some(Verb::Note { caller, text }) => {
                let (caller, text) = (caller.clone(), text.clone());
                self.tell(Command::Note(command::Note { caller, text, if_match: None }))
            }
            Some(Verb::Hold(hold)) => self.hold(hold),
            Some(Verb::Release(name)) => self.release(name.as_deref()),
            Some(Verb::Pass(span)) => {
                self.world.pass(*span);
                Ok(())
            }
        }
    }

    fn known(&self, name: &str) -> Done<SubmissionId> {
        match self.named.get(name) {
            Some(id) => Ok(*id),
            None => impossible(format!("no step before this one made a submission called `{name}`")),
        }
    }

    pub(super) fn here(&self) -> Done<SubmissionId> {
        self.current.map_or_else(|| impossible("there is no submission yet; `submit` one"), Ok)
    }

    pub(super) fn row(&self) -> Done<Submission> {
        let id = self.here()?;
        match self.world.store.submission(id) {
            Ok(Some((row, _))) => Ok(row),
            _ => impossible("the submission is gone"),
        }
    }

    pub(super) fn name_of(&self, id: SubmissionId) -> String {
        let name = self.named.iter().find(|(_, known)| **known == id).map(|(name, _)| name.clone());
        name.unwrap_or_else(|| id.to_string())
    }

    /// Every event so far, in sequence.
    pub(super) fn events(&self) -> Vec<Recorded> {
        let mut feed = store::Feed { limit: 1_000, ..store::Feed::default() };
        let mut events = Vec::new();
        while let Ok(page) = self.world.store.feed(&feed) {
            if page.next == feed.after {
                break;
            }
            feed.after = page.next;
            events.extend(page.events);
        }
        events
    }

    pub(super) fn pipeline(&self, name: Option<&str>) -> Done<&'a Pipeline> {
        let Some(name) = name else { return Ok(&self.suite.pipelines[0]) };
        let found = self.suite.pipelines.iter().find(|pipeline| &*pipeline.name == name);
        found.map_or_else(
            || impossible(format!("no pipeline `{name}`; name its file in `also`")),
            |pipeline| Ok(&**pipeline),
        )
    }

    pub(super) fn tell(&mut self, command: Command) -> Done {
        let id = self.here()?;
        self.world.ask(Ask::Tell(id, command))?;
        Ok(())
    }

    fn submit(&mut self, submit: &verbs::Submit) -> Done {
        let pipeline = self.pipeline(submit.pipeline.as_deref())?;
        let application = Application {
            caller: submit.caller.clone(),
            payload: submit.payload.clone(),
            key: submit.key.clone(),
            priority: submit.priority,
            not_before: submit.not_before.map(|span| self.world.now().plus(span)),
            reason: submit.reason.clone(),
            door: if submit.by_form { Door::Form } else { Door::Api },
        };
        // A scenario about messages stands for the engine, which makes them.
        let admission = admit_any(pipeline, application, &mut model::schema::Fuel::whole())?;
        let Output::Submission(answered) = self.world.ask(Ask::Submit(admission.into()))? else {
            return impossible("a submission was answered with something else");
        };
        let id = answered.row.id;
        self.heard.duplicate = answered.duplicate;
        self.current = Some(id);
        let name = submit.name.clone().unwrap_or_else(|| (self.named.len() + 1).to_string());
        self.named.insert(name, id);
        Ok(())
    }

    fn act(&mut self, act: &verbs::Act) -> Done {
        self.tell(Command::Act(command::Act {
            caller: act.caller.clone(),
            action: act.action.clone(),
            reason: act.reason.clone(),
            data: act.data.clone(),
            to: act.to.clone(),
            if_match: None,
        }))
    }

    fn hold(&mut self, hold: &verbs::Hold) -> Done {
        // A hold's id is a UUID like a submission's: what it owes when it ends goes by that.
        let number = self.holds.len() as u128 + 1;
        let chance = std::array::from_fn(|index| number.to_le_bytes()[index]);
        let id: Name = SubmissionId::new(self.world.now(), chance).to_string().into();
        let submission = hold.submission.as_deref().map(|name| self.known(name)).transpose()?;
        let placed = engine::Hold {
            id: id.clone(),
            pipeline: hold.pipeline.clone(),
            labels: hold.labels.clone(),
            lane: hold.lane.clone(),
            submission,
            reason: hold.reason.clone(),
            owner: Actor::new(ActorKind::Admin, "admin"),
            created_at: self.world.now(),
            expires_at: hold.lasts.map(|span| self.world.now().plus(span)),
        };
        self.world.ask(Ask::Hold(Box::new(placed)))?;
        let name = hold.name.clone().unwrap_or_else(|| number.to_string());
        self.holds.insert(name, id.clone());
        self.last_hold = Some(id);
        Ok(())
    }

    fn release(&mut self, name: Option<&str>) -> Done {
        let id = match name {
            None => self.last_hold.clone(),
            Some(name) => self.holds.get(name).cloned(),
        };
        let Some(id) = id else { return impossible("no step before this one placed that hold") };
        self.world.ask(Ask::Release(id))?;
        Ok(())
    }
}
