//! The simulated world: a clock, a store with troubles, an engine that dies, and everybody who uses it.

use std::sync::Arc;

use engine::core::{DUE_MAX, Input, Step};
use engine::duty::{Duty, Look};
use model::{Millis, Time};
use store::Clock as _;
use store::ManualClock;

use crate::actors::{Actor, Heard, Narrow, View};
use crate::chance::Chance;
use crate::check::{Checked, Ledger, Seen, ensure};
use crate::faults::{Commit, Fault, Faulty, SERVERS, Trouble};
use crate::finding::{Finding, finding};
use crate::report::Report;
use crate::servers::{Process, Server};
use crate::stores::{End, Home, Kind};

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) clock: ManualClock,
    pub(crate) ledger: Ledger,
    pub(crate) report: Report,
    /// The number of answers in a hundred that never arrive.
    pub(crate) loss: u64,
    actors: Vec<Actor>,
    home: Home,
    process: Option<Process>,
    secret: [u8; 32],
    seeds: Chance,
}

/// The result of a step.
#[derive(Debug)]
pub(crate) struct Stepped {
    pub(crate) heard: Vec<Heard>,
    pub(crate) next_timer: Option<Time>,
    /// Set if anything was written.
    pub(crate) changed: bool,
}

impl World {
    pub(crate) fn new(seed: u64, kind: Kind, actors: Vec<Actor>) -> Result<Self, Finding> {
        let mut chance = Chance::new(seed);
        let clock = ManualClock::new();
        let home = Home::new(kind, clock.clone())?;
        let mut trouble = Trouble::new(chance.fork());
        // In one world of three, every store is like one that others write to: what happens there happens on all alike.
        trouble.tells_successors = seed % 3 != 1;
        // In one of eight, few documents are too many.
        trouble.room = if seed % 8 == 2 { 512 } else { usize::MAX };
        let ledger = Ledger::default();
        let (secret, seeds) = (chance.seed(), chance.fork());
        let store = home.open()?;
        let mut world = World {
            chance,
            clock,
            ledger,
            report: Report::default(),
            loss: 0,
            actors,
            home,
            process: None,
            secret,
            seeds,
        };
        world.start(Faulty::new(store, trouble))?;
        Ok(world)
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("there is a process except while it is started")
    }

    pub(crate) fn trouble(&self, change: impl FnOnce(&mut Trouble)) {
        change(&mut self.process().store.trouble());
    }

    pub(crate) fn sweep(&self) -> Checked {
        self.ledger.sweep(self.process().store.truth(), self.now())
    }

    /// Checks the log of this run as a stranger would.
    pub(crate) fn verify_log(&self) -> Checked {
        let set_back = self.report.of("fault/clock-set-back") > 0;
        self.ledger.verify_log(self.process().store.truth(), set_back)
    }

    /// A process starts: it knows what the store knows, and nothing else.
    fn start(&mut self, store: Faulty) -> Checked {
        let store = Arc::new(store);
        store.trouble().restarted();
        let servers =
            (0..SERVERS).map(|_| Server::new(&store, self.secret)).collect::<Result<Vec<_>, _>>()?;
        self.process = Some(Process { servers, turn: 0, store });
        self.turn_to(0);
        Ok(())
    }

    /// Another server goes on.
    pub(crate) fn turn_to(&mut self, server: usize) {
        if let Some(process) = &mut self.process {
            process.turn = server;
            process.store.trouble().server = server;
        }
    }

    /// One server starts anew; the others go on.
    pub(crate) fn replace(&mut self, index: usize) -> Checked {
        let secret = self.secret;
        if let Some(process) = &mut self.process {
            process.servers[index] = Server::new(&process.store, secret)?;
            process.store.trouble().replaced(index);
        }
        Ok(())
    }

    /// The process dies and another takes its place. Whatever was acknowledged must still be there.
    pub(crate) fn restart(&mut self) -> Checked {
        let Some(Process { servers, store, .. }) = self.process.take() else { return Ok(()) };
        drop(servers);
        let store = Arc::try_unwrap(store).map_err(|_| "somebody still holds the store of a dead process")?;
        let (store, trouble) = store.close();
        let end = if self.chance.percent(50) { End::Clean } else { End::Killed };
        let store = self.home.reopen(store, end)?;
        self.report.count(format!("crash/{end:?}"));
        if self.chance.percent(25) {
            // A running process never sees its time go back; one that starts may find the machine's clock set back.
            let back = self.chance.below(1_800_000);
            self.clock.advance(-i64::try_from(back).unwrap_or(0));
            self.report.count("fault/clock-set-back");
        }
        self.start(Faulty::new(store, trouble))?;
        self.sweep().map_err(|problem| problem.about("; after a restart"))
    }

    /// Returns what a duty finds to do now, in a store that is well.
    pub(crate) fn duty(&self, duty: &mut dyn Duty) -> Result<Vec<Input>, Finding> {
        let process = self.process();
        let (store, versions) = (Narrow(process.store.truth()), process.server().pipelines.current());
        let look = Look { store: &store, versions: &versions, now: self.now(), doubtful: false };
        duty.pass(look).map(|pass| pass.inputs).map_err(|error| finding!("a duty cannot look: {error}"))
    }

    pub(crate) fn nothing_missed(&self) -> Checked {
        self.ledger.nothing_missed(&self.process().server().pipelines, self.now())
    }

    /// Asks everybody in turn until enough has come together.
    pub(crate) fn gather(&mut self, wanted: usize) -> Vec<(usize, Input)> {
        let mut gathered = Vec::new();
        let mut refused = Vec::new();
        let now = self.now();
        let Some(process) = &self.process else { return gathered };
        for _ in 0..wanted {
            let index = self.chance.index(self.actors.len());
            let mut view = View {
                chance: &mut self.chance,
                now,
                ledger: &self.ledger,
                pipelines: &process.server().pipelines,
                store: &*process.store,
                refused: &mut refused,
            };
            gathered.extend(self.actors[index].turn(&mut view).map(|input| (index, input)));
        }
        for code in refused {
            self.report.count(format!("refused/{}", code.as_str()));
        }
        gathered
    }

    /// One step of the engine with what the actors asked, or a few if it has no room for so much.
    pub(crate) fn step(&mut self, mut asked: &[(usize, Input)], due: usize) -> Checked {
        loop {
            let process = self.process.as_ref().expect("there is a process except while it is started");
            let bulk = process.servers[process.turn].core.bulk();
            let (now, later) = asked.split_at(bulk.min(asked.len()));
            self.serve(now, due)?;
            asked = later;
            if asked.is_empty() {
                return Ok(());
            }
        }
    }

    /// Checked, and told to the actors as far as answers arrive.
    fn serve(&mut self, asked: &[(usize, Input)], due: usize) -> Checked {
        let inputs: Vec<Input> = asked.iter().map(|(_, input)| input.clone()).collect();
        let stepped = self.commit(&inputs, due)?;
        for ((actor, input), heard) in asked.iter().zip(stepped.heard) {
            let lost = self.chance.percent(self.loss);
            self.report.add("fault/answer-lost", u64::from(lost));
            self.actors[*actor].hear(input, if lost { &Heard::Silence } else { &heard });
        }
        Ok(())
    }

    /// One step of the engine, checked. If its process died in it, another is there afterwards.
    pub(crate) fn commit(&mut self, inputs: &[Input], due: usize) -> Result<Stepped, Finding> {
        let process = self.process.as_mut().expect("there is a process except while it is started");
        process.store.trouble().stepping = true;
        let step = process.servers[process.turn].core.step(inputs, due, &mut || self.seeds.seed());
        process.store.trouble().stepping = false;
        let happened = Happened::take(&process.store)?;
        let died = happened.died;
        ensure!(
            step.outcomes.len() == inputs.len(),
            "{} answers to {} inputs",
            step.outcomes.len(),
            inputs.len()
        );
        ensure!(step.corrupt.is_none() || died, "the engine calls a good store corrupt: {:?}", step.corrupt);
        let next_timer = step.next_timer;
        let heard: Vec<Heard> = match happened.silent {
            true => vec![Heard::Silence; inputs.len()],
            false => step.outcomes.iter().map(|outcome| Heard::Told(Box::new(outcome.clone()))).collect(),
        };
        for fault in &happened.faults {
            self.report.count(format!("fault/{fault:?}"));
        }
        self.report.add("commits", happened.commits.len() as u64);
        self.report.add("crowded", happened.crowds);
        let seen = Seen {
            inputs,
            heard: &heard,
            commits: &happened.commits,
            faults: &happened.faults,
            now: self.clock.now(),
            due: due > 0,
            pipelines: &process.server().pipelines,
        };
        self.ledger.step(process.store.truth(), &seen, &mut self.report)?;
        if happened.faults.is_empty() {
            self.hints(&step, due, &happened.commits)?;
        }
        if died {
            self.restart()?;
        }
        Ok(Stepped { heard, next_timer, changed: !happened.commits.is_empty() })
    }

    /// Checks what the engine says besides its answers: needed by nobody to be right, but right.
    fn hints(&self, step: &Step, due: usize, commits: &[Commit]) -> Checked {
        ensure!(step.now == Some(self.now()), "the step took place at another time");
        if commits.iter().any(|commit| !commit.changes.events.is_empty()) {
            let last = self.ledger.last_seq();
            ensure!(step.last_seq == Some(last), "the last event is at {last}, not at {:?}", step.last_seq);
        }
        if due == DUE_MAX {
            let at_once = step.next_timer.is_some_and(|next| next <= self.now());
            let forgotten = self.ledger.rows().find(|row| {
                // Clearing up what has ended leaves a pause for everything else.
                let pause = Millis::new(if row.status.is_final() { 20 } else { 0 });
                let late =
                    |at: Time| step.next_timer.is_none_or(|next| next > at.max(self.now()).plus(pause));
                !at_once && row.timer.is_some_and(late)
            });
            ensure!(
                forgotten.is_none(),
                "a timer is forgotten; the engine looks next at {:?}: {forgotten:?}",
                step.next_timer
            );
        }
        Ok(())
    }
}

/// The deeds of the troubled store in a step.
struct Happened {
    commits: Vec<Commit>,
    faults: Vec<Fault>,
    /// The number of times documents had no room.
    crowds: u64,
    /// The process is over.
    died: bool,
    /// Set if the process died before it could answer anybody.
    silent: bool,
}

impl Happened {
    fn take(store: &Faulty) -> Result<Self, Finding> {
        let mut trouble = store.trouble();
        if let Some(error) = trouble.unexpected.take() {
            return Err(finding!("the store itself failed: {error}"));
        }
        let faults = std::mem::take(&mut trouble.faults);
        let silent = faults.iter().any(|fault| matches!(fault, Fault::CrashBefore | Fault::CrashAfter));
        let commits = std::mem::take(&mut trouble.commits);
        let crowds = std::mem::take(&mut trouble.crowds);
        Ok(Happened { commits, faults, crowds, died: trouble.process_over, silent })
    }
}
