//! One submission and everything that is done to it, with time in the test's hand.
#![allow(dead_code, reason = "the tests of other crates use a part of it")]

mod shipped;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::admit::{Application, Door, admit_any};
use model::command::{Act, Amend, Claim, Fail, Finish, GiveBack, Migrate, Renew, Snooze};
use model::decide::{Answer, Current, Decision, decide};
use model::evolve::evolve_documents;
use model::pipeline::{Source, attachments, load};
use model::schema::Fuel;
use model::submission::Failure;
use model::{
    Caller, Command, Context, Documents, Event, Json, LeaseToken, Millis, Owed, Pipeline, Recipient, Refusal,
    Role, Submission, SubmissionId, Time,
};

pub(crate) fn admin() -> Caller {
    Caller::new("ada", Role::Admin)
}

/// A pipeline the product ships, with the files it names.
pub(crate) fn shipped(name: &str) -> Pipeline {
    let file = shipped::file(name);
    let read = |path: &str| std::fs::read_to_string(file.with_file_name(path)).unwrap();
    let mut source = Source::new(format!("{name}.toml"), read(&format!("{name}.toml")));
    source.files = attachments(&source.toml).into_iter().map(|path| (path.clone(), read(&path))).collect();
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

/// Every pipeline the product ships.
pub(crate) fn all_shipped() -> Vec<String> {
    shipped::names()
}

pub(crate) fn pipeline(toml: &str) -> Pipeline {
    let source = Source::new("test.toml", toml);
    load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)))
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

#[derive(Debug, Clone)]
pub(crate) struct Story {
    pub(crate) pipeline: Pipeline,
    pub(crate) row: Option<Submission>,
    pub(crate) documents: Documents,
    pub(crate) events: Vec<Event>,
    pub(crate) now: Time,
    pub(crate) reachable_since: Time,
    /// A hold that covers it.
    pub(crate) hold: Option<model::Name>,
    pub(crate) lane_free: bool,
    /// Another submission that has its key.
    pub(crate) key_holder: Option<SubmissionId>,
    /// The slots that others have, of each limit.
    pub(crate) slots: BTreeMap<model::Name, BTreeSet<u32>>,
    /// The consequences for others, all told.
    pub(crate) owed: Vec<Owed>,
    /// The addresses that mails name.
    pub(crate) links: Option<std::sync::Arc<model::Links>>,
    decided: u64,
}

impl Story {
    pub(crate) fn of(pipeline: Pipeline) -> Self {
        let now = Time::from_millis(1_000_000_000_000);
        let slots = pipeline.limits.keys().map(|label| (label.clone(), BTreeSet::new())).collect();
        Story {
            pipeline,
            row: None,
            documents: Documents::default(),
            events: Vec::new(),
            now,
            reachable_since: Time::EPOCH,
            hold: None,
            lane_free: true,
            key_holder: None,
            slots,
            owed: Vec::new(),
            links: None,
            decided: 0,
        }
    }

    pub(crate) fn submitted(pipeline: Pipeline, payload: &str) -> Self {
        let mut story = Story::of(pipeline);
        story.submit(admin(), payload).unwrap();
        story
    }

    pub(crate) fn row(&self) -> &Submission {
        self.row.as_ref().unwrap()
    }

    pub(crate) fn state(&self) -> &str {
        &self.row().state
    }

    pub(crate) fn pass(&mut self, span: &str) {
        self.now = self.now.plus(span.parse::<Millis>().unwrap());
    }

    pub(crate) fn tell(&mut self, command: &Command) -> Result<Answer, Refusal> {
        let decision = self.decide(command)?;
        if let Command::Migrate(migrate) = command {
            self.pipeline = (*migrate.target).clone();
        }
        Ok(self.accept(decision))
    }

    pub(crate) fn decide(&mut self, command: &Command) -> Result<Decision, Refusal> {
        self.decided += 1;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.decided.to_be_bytes());
        let context = Context {
            now: self.now,
            reachable_since: self.reachable_since,
            hold: self.hold.clone(),
            lane_free: self.lane_free,
            arrivals: 0,
            key_holder: self.key_holder,
            slots: self.slots.clone(),
            settler: None,
            seed,
            tank: model::schema::Tank::full(),
            pseudonyms: [7; 32],
            links: self.links.clone(),
        };
        let current = self.row.as_ref().map(|row| Current { row, documents: &self.documents });
        decide(&self.pipeline, current, command, &context)
    }

    fn accept(&mut self, decision: Decision) -> Answer {
        for event in &decision.events {
            evolve_documents(&mut self.documents, event);
        }
        self.events.extend(decision.events);
        self.owed.extend(decision.owed);
        self.row = Some(decision.row);
        decision.answer
    }

    pub(crate) fn application(caller: Caller, payload: &str) -> Application {
        let payload = json(payload);
        Application {
            caller,
            payload,
            key: None,
            priority: None,
            not_before: None,
            reason: None,
            door: Door::Api,
        }
    }

    pub(crate) fn submit(&mut self, caller: Caller, payload: &str) -> Result<Answer, Refusal> {
        let admission = admit_any(&self.pipeline, Story::application(caller, payload), &mut Fuel::whole())?;
        self.tell(&Command::Submit(admission.into()))
    }

    pub(crate) fn claim(&mut self, task: &str) -> Result<LeaseToken, Refusal> {
        let claim = Claim { worker: "w1".into(), tasks: vec![task.into()], lease: None };
        match self.tell(&Command::Claim(claim))? {
            Answer::Granted { token } => Ok(token),
            other => panic!("a claim was answered {other:?}"),
        }
    }

    /// Claims whatever the submission wants done.
    pub(crate) fn claim_any(&mut self) -> LeaseToken {
        let model::submission::Wait::Worker { task, .. } = self.row().wait.clone() else {
            panic!("{:?} waits for no worker", self.row().wait)
        };
        self.claim(&task).unwrap()
    }

    pub(crate) fn finish(
        &mut self,
        token: LeaseToken,
        outcome: &str,
        output: &str,
    ) -> Result<Answer, Refusal> {
        self.tell(&finish(token, outcome, output))
    }

    pub(crate) fn fail(&mut self, token: LeaseToken, code: &str) -> Result<Answer, Refusal> {
        self.tell(&fail(token, code, true))
    }

    pub(crate) fn snooze(&mut self, token: LeaseToken, span: &str) -> Result<Answer, Refusal> {
        self.tell(&Command::Snooze(Snooze { token, span: span.parse().unwrap() }))
    }

    pub(crate) fn give_back(&mut self, token: LeaseToken) -> Result<Answer, Refusal> {
        self.tell(&Command::GiveBack(GiveBack { token }))
    }

    pub(crate) fn renew(&mut self, token: LeaseToken) -> Result<Answer, Refusal> {
        self.tell(&Command::Renew(Renew { token, progress: None }))
    }

    pub(crate) fn wake(&mut self) {
        self.tell(&Command::Wake).unwrap();
    }

    pub(crate) fn act(&mut self, action: &str) -> Result<Answer, Refusal> {
        self.tell(&Command::Act(act(action)))
    }

    pub(crate) fn act_by(&mut self, name: &str, action: &str) -> Result<Answer, Refusal> {
        self.tell(&Command::Act(Act { caller: Caller::new(name, Role::Admin), ..act(action) }))
    }

    pub(crate) fn amend(&mut self, patch: &str) -> Result<Answer, Refusal> {
        self.tell(&Command::Amend(Amend { caller: admin(), patch: json(patch), if_match: None }))
    }

    pub(crate) fn redrive(&mut self) {
        let redrive = model::command::Redrive { caller: admin(), reason: None };
        self.tell(&Command::Redrive(redrive)).unwrap();
    }

    /// Asks for its task where it may be refused a place.
    pub(crate) fn ask(&mut self) -> Answer {
        let model::submission::Wait::Worker { task, .. } = self.row().wait.clone() else {
            panic!("{:?} waits for no worker", self.row().wait)
        };
        self.tell(&Command::Claim(Claim { worker: "w1".into(), tasks: vec![task], lease: None })).unwrap()
    }

    /// Submits it for later.
    pub(crate) fn submitted_for(pipeline: Pipeline, payload: &str, span: &str) -> Self {
        let mut story = Story::of(pipeline);
        let mut application = Story::application(admin(), payload);
        application.not_before = Some(story.now.plus(span.parse().unwrap()));
        let admission = admit_any(&story.pipeline, application, &mut Fuel::whole()).unwrap();
        story.tell(&Command::Submit(admission.into())).unwrap();
        story
    }

    /// Others take these slots of a limit.
    pub(crate) fn taken(&mut self, label: &str, slots: impl IntoIterator<Item = u32>) {
        self.slots.insert(label.into(), slots.into_iter().collect());
    }

    /// Under which names somebody was let back into the queue since this was last asked.
    pub(crate) fn let_in(&mut self) -> Vec<String> {
        let owed = std::mem::take(&mut self.owed);
        let names = owed.into_iter().filter_map(|owed| match owed.to {
            Recipient::FirstParked(name) => Some(name.to_string()),
            _ => None,
        });
        names.collect()
    }

    /// The states it has been in, in order.
    pub(crate) fn path(&self) -> Vec<&str> {
        let moved =
            self.events.iter().filter(|event| matches!(event.leaf.kind.as_str(), "submitted" | "moved"));
        moved.map(|event| &*event.leaf.to).collect()
    }

    /// `kind trigger actor` of every event.
    pub(crate) fn told(&self) -> Vec<String> {
        let tell = |event: &Event| {
            format!("{} {} {}", event.leaf.kind.as_str(), event.leaf.trigger, event.leaf.actor.kind.as_str())
        };
        self.events.iter().map(tell).collect()
    }
}

pub(crate) fn finish(token: LeaseToken, outcome: &str, output: &str) -> Command {
    let output = Some(json(output));
    Command::Finish(Finish {
        token,
        outcome: outcome.into(),
        output,
        result: None,
        children: Vec::new(),
        entries: Vec::new(),
    })
}

pub(crate) fn fail(token: LeaseToken, code: &str, retryable: bool) -> Command {
    let failure = Failure { code: code.into(), message: "it went wrong".to_owned() };
    Command::Fail(Fail { token, failure, retryable, after: None })
}

pub(crate) fn act(action: &str) -> Act {
    Act { caller: admin(), action: action.into(), reason: None, data: None, to: None, if_match: None }
}

/// To another version; states of the one named first are those named second in the other.
pub(crate) fn migrate(target: &Pipeline, map: &[(&str, &str)]) -> Command {
    let map = map.iter().map(|(from, to)| ((*from).into(), (*to).into())).collect();
    Command::Migrate(Migrate { caller: admin(), target: Arc::new(target.clone()), map, reason: None })
}

/// Returns what replay must give back: all but what leases leave behind, which has no events.
pub(crate) fn comparable(row: &Submission) -> Submission {
    use model::submission::Wait;
    let mut row = row.clone();
    row.row_version = 0;
    row.lease_no = 0;
    row.settled.clear();
    row.attempts = model::submission::Attempts::default();
    row.crashes = 0;
    row.given_back = model::submission::GivenBack::default();
    row.children = model::submission::Children::default();
    row.seat = None;
    row.parked = None;
    row.timer = None;
    if matches!(row.wait, Wait::Worker { .. } | Wait::Lease(_) | Wait::Delay { .. }) {
        row.wait = Wait::Guard;
    }
    row
}

pub(crate) fn replay(events: &[Event]) -> Option<Submission> {
    events.iter().fold(None, |row, event| Some(model::evolve(row, event)))
}
