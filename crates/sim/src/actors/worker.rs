//! A worker: claims, renews or forgets to, answers in time, late, twice, differently, or never.

use engine::core::{Ask, ClaimMany, Input, Output};
use model::admit::{Admission, Application, Door, admit};
use model::command::{Fail, Finish, GiveBack, Renew, Snooze, Spawn};
use model::submission::{Failure, Progress};
use model::token::Bits;
use model::{Caller, Code, Command, Json, LeaseToken, Millis, Name, Role};

use super::{Heard, View};
use crate::pipelines::{self, CODES};

/// The habit of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Answers soon and renews.
    Steady,
    /// Renews for long before it answers.
    Slow,
    /// Renews and renews.
    Sitting,
    /// Takes work and is mostly never heard of again.
    Dying,
    /// Answers when the lease is long over.
    Late,
    /// Stops again and again, and gives back what it has.
    Leaving,
    /// Repeats itself, contradicts itself, and makes tokens up.
    Careless,
}

#[derive(Debug)]
struct Job {
    token: LeaseToken,
    task: Name,
    /// Sent, and nobody knows whether it was taken.
    open: Option<Command>,
}

#[derive(Debug)]
pub(crate) struct Worker {
    name: Name,
    habit: Habit,
    claim: ClaimMany,
    jobs: Vec<Job>,
    /// Answers that were given, or come too late.
    past: Vec<Command>,
}

const JOBS_MAX: usize = 6;
const PAST_MAX: usize = 12;

impl Worker {
    pub(crate) fn new(claim: ClaimMany, habit: Habit) -> Self {
        Worker { name: claim.worker.clone(), habit, claim, jobs: Vec::new(), past: Vec::new() }
    }

    pub(crate) fn turn(&mut self, view: &mut View<'_>) -> Option<Input> {
        let looks_back = if self.habit == Habit::Careless { 40 } else { 8 };
        if !self.past.is_empty() && view.chance.percent(looks_back) {
            let command = view.chance.pick(&self.past).clone();
            let command = if view.chance.percent(70) { command } else { altered(command, view) };
            return Some(tell(command));
        }
        let busy = self.jobs.len() as u64 * 25;
        if !self.jobs.is_empty() && view.chance.percent(busy.max(60)) {
            return self.work(view);
        }
        if self.jobs.len() >= JOBS_MAX {
            return None;
        }
        let mut claim = self.claim.clone();
        claim.max = view.chance.index(4) + 1;
        claim.arriving = view.chance.percent(30);
        Some(Ask::Claim(claim).into())
    }

    fn work(&mut self, view: &mut View<'_>) -> Option<Input> {
        let index = view.chance.index(self.jobs.len());
        let job = &self.jobs[index];
        if let Some(open) = &job.open {
            let command = open.clone();
            return Some(tell(if view.chance.percent(90) { command } else { altered(command, view) }));
        }
        if view.chance.percent(3) {
            let forged = LeaseToken { bits: Bits([9; 16]), ..job.token };
            return Some(tell(Command::Renew(Renew { token: forged, progress: None })));
        }
        let (renews, leaves) = match self.habit {
            Habit::Steady => (30, 0),
            Habit::Slow => (70, 2),
            Habit::Sitting => (97, 1),
            Habit::Dying => (5, 70),
            Habit::Late => (5, 40),
            Habit::Leaving => (60, 0),
            Habit::Careless => (15, 10),
        };
        if view.chance.percent(leaves) {
            let job = self.jobs.remove(index);
            let late = settle(&job, view);
            self.keep(late);
            return None;
        }
        if &*job.task == "batch.fill" && view.chance.percent(25) {
            let children = children(job.token, view);
            return Some(tell(Command::Spawn(Spawn { token: job.token, children })));
        }
        if view.chance.percent(renews) {
            // Every other lease says how far it has come, without a draw: kept seeds stay what they are.
            let is_talkative = job.token.lease_no.is_multiple_of(2);
            let progress = is_talkative.then(|| Progress { done: job.token.lease_no, ..Progress::default() });
            return Some(tell(Command::Renew(Renew { token: job.token, progress })));
        }
        if self.habit == Habit::Leaving && view.chance.percent(80) {
            return Some(tell(Command::GiveBack(GiveBack { token: job.token })));
        }
        Some(tell(settle(job, view)))
    }

    fn keep(&mut self, command: Command) {
        self.past.push(command);
        if self.past.len() > PAST_MAX {
            self.past.remove(0);
        }
    }

    pub(crate) fn hear(&mut self, input: &Input, heard: &Heard) {
        match &input.ask {
            Ask::Claim(_) => {
                if let Heard::Told(outcome) = heard
                    && let Ok(Output::Tasks(granted)) = &**outcome
                {
                    let jobs = granted.iter().map(|granted| Job {
                        token: granted.token,
                        task: granted
                            .row
                            .lease()
                            .map_or_else(|| self.name.clone(), |lease| lease.task.clone()),
                        open: None,
                    });
                    self.jobs.extend(jobs);
                }
            }
            Ask::Tell(_, Command::Spawn(_)) => {}
            Ask::Tell(_, Command::Renew(renew)) => {
                if heard.code() == Some(Code::StaleLease)
                    && let Some(index) = self.jobs.iter().position(|job| job.token == renew.token)
                {
                    self.jobs.remove(index);
                }
            }
            Ask::Tell(_, command) => self.settled(command, heard),
            _ => {}
        }
    }

    fn settled(&mut self, command: &Command, heard: &Heard) {
        let Some(token) = token(command) else { return };
        let Some(index) = self.jobs.iter().position(|job| job.token == token) else { return };
        let is_over = matches!(heard, Heard::Told(outcome) if outcome.is_ok())
            || heard.code() == Some(Code::StaleLease);
        if is_over {
            self.jobs.remove(index);
            self.keep(command.clone());
        } else if heard.is_open() {
            self.jobs[index].open = Some(command.clone());
        }
    }
}

pub(crate) fn tell(command: Command) -> Input {
    let token = token(&command).expect("workers only settle and renew");
    Ask::Tell(token.submission, command).into()
}

/// The token a settlement or renewal carries.
pub(crate) fn token(command: &Command) -> Option<LeaseToken> {
    match command {
        Command::Renew(renew) => Some(renew.token),
        Command::Finish(finish) => Some(finish.token),
        Command::Fail(fail) => Some(fail.token),
        Command::Snooze(snooze) => Some(snooze.token),
        Command::GiveBack(give_back) => Some(give_back.token),
        Command::Spawn(spawn) => Some(spawn.token),
        _ => None,
    }
}

fn settle(job: &Job, view: &mut View<'_>) -> Command {
    let token = job.token;
    // An audit mostly comes to nothing.
    let ways = if &*job.task == "plain.audit" { 7 } else { 20 };
    match view.chance.below(ways) {
        0..4 => Command::Fail(fail(token, view)),
        4 => {
            let span = if view.chance.percent(10) { 8 * 24 * 3600 } else { view.chance.below(40) };
            Command::Snooze(Snooze { token, span: Millis::from_secs(span) })
        }
        5 => Command::Finish(Finish {
            token,
            outcome: "nonsense".into(),
            output: None,
            result: None,
            children: Vec::new(),
            entries: Vec::new(),
        }),
        6 => Command::GiveBack(GiveBack { token }),
        _ => {
            let work = pipelines::work(&job.task, view.chance);
            let fills = &*job.task == "batch.fill" && work.outcome == "sealed" || view.chance.percent(1);
            let result = view.chance.percent(20).then(|| Json::from(serde_json::json!({ "by": "worker" })));
            Command::Finish(Finish {
                token,
                outcome: work.outcome.into(),
                output: work.output,
                result,
                children: if fills { children(token, view) } else { Vec::new() },
                entries: Vec::new(),
            })
        }
    }
}

/// Some of the few children a batch can have, so that the same come again; now and then with a key somebody has.
pub(crate) fn children(token: LeaseToken, view: &mut View<'_>) -> Vec<Admission> {
    let versions = view.pipelines.current();
    let Some(part) = versions.in_force("part") else { return Vec::new() };
    let names: Vec<u64> = (0..4).filter(|_| view.chance.percent(45)).collect();
    let mut made: Vec<Admission> = Vec::new();
    for name in names {
        let chance = &mut *view.chance;
        let application = Application {
            caller: Caller::new("batch", Role::Submitter),
            payload: Json::from(pipelines::part(chance)),
            key: chance.percent(20).then(|| format!("given-{}", chance.below(5))),
            priority: None,
            not_before: chance.percent(10).then(|| view.now.plus(Millis::from_secs(20))),
            reason: None,
            door: Door::Child(token.submission, format!("c{name}").into()),
        };
        // The door lets no key in twice.
        let admission = admit(part, application, &mut model::schema::Fuel::whole()).ok();
        let known = |admission: &Admission| {
            let same = |other: &Admission| other.key() == admission.key();
            admission.key().is_some() && made.iter().any(same)
        };
        made.extend(admission.filter(|admission| !known(admission)));
    }
    made
}

fn fail(token: LeaseToken, view: &mut View<'_>) -> Fail {
    let code = (*view.chance.pick(&CODES)).into();
    Fail {
        token,
        failure: Failure { code, message: "it went wrong".to_owned() },
        retryable: view.chance.percent(80),
        after: view.chance.percent(20).then(|| Millis::from_secs(view.chance.below(30))),
    }
}

/// Another answer with a token that was used, or one with a token that was never given.
fn altered(command: Command, view: &mut View<'_>) -> Command {
    let Some(token) = token(&command) else { return command };
    match view.chance.below(3) {
        0 => Command::Fail(fail(LeaseToken { bits: Bits([9; 16]), ..token }, view)),
        1 => Command::Fail(fail(token, view)),
        _ => Command::Snooze(Snooze { token, span: Millis::from_secs(view.chance.below(5)) }),
    }
}
