//! The working set of one transaction: rows as taken, rows as decided so far, and what will be written.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use model::admit::Admission;
use model::command::Migrate;
use model::decide::{Answer, Current, Decision};
use model::event::Kind;
use model::schema::Tank;
use model::submission::Wait;
use model::{
    Code, Command, Documents, Links, Millis, Name, Pipeline, Refusal, Submission, SubmissionId, Time,
};
use store::{Changes, DocumentChange, IdMap, LaneKey, RowChange, Stored, Taken};

use super::answers::{Kept, KeptAnswers};
use super::{Answered, Ask, Asker, Decide, Input, Output, Reply, Tally, Trust, open_key};
use crate::bounds::{self, Bound};
use crate::holds::InForce;
use crate::metrics::{Decided, Notes};
use crate::pipelines::Versions;

/// Between looks at what has ended: clearing up a million rows leaves room for everything else.
const IDLE_PAUSE: Millis = Millis::new(20);

/// The source of chance: each draw is another.
pub(super) type Draws<'a> = dyn FnMut() -> [u8; 32] + 'a;

/// The parts that do not change while a batch is decided.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) versions: &'a Versions,
    /// The holds in force as the batch begins.
    pub(super) holds: &'a InForce,
    pub(super) decide: Decide,
    pub(super) secret: [u8; 32],
    pub(super) links: Option<&'a Arc<Links>>,
    pub(super) answers: &'a KeptAnswers,
}

pub(super) struct Commit<'a> {
    rules: Rules<'a>,
    chance: &'a mut Draws<'a>,
    pub(super) now: Time,
    pub(super) reachable_since: Time,
    pub(super) trust: Trust,
    pub(super) taken: Taken,
    pub(super) holds: InForce,
    pub(super) holds_changed: bool,
    pub(super) epoch: u64,
    pub(super) epoch_moved: bool,
    /// Lanes somebody took or left in this batch: who is next is known again at its end, if at all.
    pub(super) lanes_moved: HashSet<LaneKey>,
    /// Lanes that several new submissions of this batch want: who of them is first is decided when all are there.
    pub(super) contested: HashSet<LaneKey>,
    /// The submissions that joined the line of each lane in this batch.
    pub(super) joined: HashMap<LaneKey, Vec<SubmissionId>>,
    /// Lanes without a holder, and what is owed to whoever comes next unless it is paid at once.
    pub(super) lanes_left: Vec<(LaneKey, store::Owed)>,
    /// The number of submissions made at this time, in this batch and before it.
    pub(super) arrivals: u32,
    pub(super) ready: Vec<VecDeque<SubmissionId>>,
    /// Rows as they were taken, for those that changed.
    pub(super) before: IdMap<Option<Arc<Submission>>>,
    pub(super) changed: Vec<SubmissionId>,
    pub(super) changes: Changes,
    pub(super) tally: Tally,
    notes: Notes,
    /// The definitions once this batch is committed, if it changes them.
    pub(super) brought: Option<Versions>,
    /// Retired versions that something follows all the same: nothing is decided without them.
    pub(super) missing: RefCell<BTreeSet<(Name, u32)>>,
    /// Whoever asks at the moment.
    pub(super) by: Option<Asker>,
    /// The numbers of answers that this batch keeps, by subject.
    pub(super) kept: Kept,
    /// The fuel left for checking documents.
    pub(super) tank: Tank,
}

/// The results of a batch besides its answers.
pub(super) struct News {
    pub(super) now: Time,
    pub(super) ready: BTreeMap<Name, usize>,
    pub(super) next_timer: Option<Time>,
    /// Set when holds were placed or ended.
    pub(super) holds: Option<InForce>,
    /// Set when definitions came into force.
    pub(super) definitions: Option<Versions>,
    pub(super) epoch: u64,
    pub(super) received: Tally,
    pub(super) notes: Notes,
    pub(super) arrivals: u32,
    pub(super) trust: Trust,
    /// The numbers of answers that were kept, by subject.
    pub(super) kept: Kept,
}

impl<'a> Commit<'a> {
    /// `expected` is about how many submissions will be new or changed.
    pub(super) fn new(
        mut taken: Taken,
        rules: Rules<'a>,
        chance: &'a mut Draws<'a>,
        expected: usize,
    ) -> Self {
        // Rows and events are large: growing step by step would move each of them several times.
        taken.rows.reserve(expected);
        let events = Vec::with_capacity(expected);
        let ready = std::mem::take(&mut taken.ready).into_iter().map(VecDeque::from).collect();
        Commit {
            rules,
            chance,
            holds: rules.holds.clone(),
            holds_changed: false,
            epoch: super::epoch::of(&taken),
            epoch_moved: false,
            lanes_moved: HashSet::new(),
            contested: HashSet::new(),
            joined: HashMap::new(),
            lanes_left: Vec::new(),
            arrivals: 0,
            now: taken.now,
            reachable_since: taken.now,
            trust: Trust::default(),
            taken,
            ready,
            before: IdMap::with_capacity_and_hasher(expected, Default::default()),
            changed: Vec::with_capacity(expected),
            changes: Changes { events, ..Changes::default() },
            tally: Tally::default(),
            notes: Notes::default(),
            brought: None,
            missing: RefCell::default(),
            by: None,
            kept: Kept::default(),
            tank: Tank::full(),
        }
    }

    pub(super) fn answer(&mut self, input: &Input, group: Option<usize>) -> Reply {
        if let Some(once) = &input.once
            && let Some(answer) = self.repeated(once)
        {
            return answer;
        }
        input.once.as_ref().map_or(Ok(()), |once| self.check_answers(once))?;
        self.by.clone_from(&input.by);
        let outcome = self.outcome(&input.ask, group);
        self.by = None;
        if let (Some(once), Ok(Output::Submission(answered))) = (&input.once, &outcome) {
            self.keep(once, answered);
        }
        outcome
    }

    fn outcome(&mut self, ask: &Ask, group: Option<usize>) -> Reply {
        match ask {
            Ask::Submit(admission) => {
                let seed = self.draw();
                self.submit(admission, seed)
            }
            Ask::Tell(id, command) => {
                let seed = self.draw();
                self.tell(*id, command, seed)
            }
            Ask::Claim(claim) => Ok(Output::Tasks(self.claim(claim, group))),
            Ask::Apply(apply) => self.apply(apply),
            Ask::RetireVersion { pipeline, version } => self.retire_version(pipeline, *version),
            Ask::Hold(hold) => self.place(hold),
            Ask::Release(id) => self.release(id),
            Ask::MoveCursor(cursor) => self.move_cursor(cursor),
            Ask::DropCursor(cursor) => self.drop_cursor(cursor),
            Ask::Tick(tick) => {
                let seed = self.draw();
                Ok(self.tick(tick, seed))
            }
            Ask::Start(operation) => self.start_operation(operation),
            Ask::Stop(id) => self.stop_operation(id),
            Ask::Operate(chunk) => self.operate(chunk),
            Ask::Present { server, gone } => Ok(self.present(server, gone)),
            Ask::TakeDuty { duty, server } => Ok(self.take_duty(duty, server)),
            Ask::Leave { server, duties } => Ok(self.leave(server, duties)),
            Ask::Drop { operation, results } => self.drop_operation(operation, results),
            Ask::LookAside(names) => {
                self.look_aside(names);
                Ok(Output::Gone)
            }
            Ask::Retire { before, kept } => {
                self.changes.retired_before = Some(*before);
                kept.iter().for_each(|(key, act)| self.put(key, act));
                Ok(Output::Gone)
            }
            Ask::Measured(news) => Ok(self.measured(news)),
            Ask::Flowed(news) => Ok(self.flowed(news)),
            Ask::Log(deed) => self.log(deed),
            Ask::ConfirmClock => self.confirm_clock(),
            Ask::PutEntry(change) => self.put_entry(change),
            Ask::Token(deed) => self.tokens(deed),
            Ask::Endpoint(deed) => self.endpoints(deed),
        }
    }

    /// Draws the chance of one decision.
    pub(super) fn draw(&mut self) -> [u8; 32] {
        (self.chance)()
    }

    /// Checks that there may be one more of something bounded, where somebody asks for it.
    pub(super) fn check_bound(
        &self,
        bound: &Bound,
        count: impl FnOnce(&str) -> bounds::Taken,
    ) -> Result<(), Refusal> {
        let Some(asker) = &self.by else { return Ok(()) };
        bound.check(count(&asker.caller.name), asker.part)
    }

    pub(super) fn finish(mut self) -> (Changes, News) {
        let mut ready: BTreeMap<Name, usize> = BTreeMap::new();
        let mut next_timer = self.taken.next_timer;
        let mut next_idle = self.taken.next_idle;
        // In the order of the tables they go to: neighbours are written together, and new rows at the end, one after the
        // other. The ids of one batch have the same time and are in no order of their own.
        self.changed.sort_unstable();
        self.changes.documents.sort_by_key(|change| change.submission);
        self.changes.rows.reserve_exact(self.changed.len());
        for id in &self.changed {
            let after = self.taken.rows.remove(id).expect("what changed is in the working set").row;
            let row = &after;
            // One that a hold took out of the queue counts too: the next in the queue can be seen now.
            if let Wait::Worker { task, .. } = &row.wait {
                *ready.entry(task.clone()).or_default() += 1;
            }
            if row.status.is_final() {
                next_idle = [next_idle, row.timer].into_iter().flatten().min();
            } else {
                next_timer = [next_timer, row.timer].into_iter().flatten().min();
            }
            let before = self.before.remove(id).flatten();
            self.changes.rows.push(RowChange { before, after });
        }
        // Owed rows, new or left over, and what may be left of the inbox are looked at in the next step, which comes at once.
        let left = self.taken.owed.len() > self.changes.paid.len() || !self.changes.decided.is_empty();
        if !self.changes.owed.is_empty() || !self.changes.received.is_empty() || left {
            next_timer = Some(self.now);
        }
        let next_idle = next_idle.map(|at| at.max(self.now.plus(IDLE_PAUSE)));
        next_timer = [next_timer, next_idle, self.holds.next_expiry()].into_iter().flatten().min();
        let holds = self.holds_changed.then_some(self.holds);
        let (epoch, arrivals, received, mut notes) = (self.epoch, self.arrivals, self.tally, self.notes);
        let mut trust = self.trust;
        trust.keep(&mut self.changes);
        if !self.changes.is_empty() {
            notes.committed();
        }
        let (now, definitions, kept) = (self.now, self.brought, self.kept);
        let news = News {
            now,
            ready,
            next_timer,
            holds,
            definitions,
            epoch,
            received,
            notes,
            arrivals,
            trust,
            kept,
        };
        (self.changes, news)
    }

    pub(super) fn pipeline_of(&self, row: &Submission) -> Option<&'a Arc<Pipeline>> {
        self.rules.versions.version(&row.pipeline, row.version)
    }

    pub(super) fn versions(&self) -> &'a Versions {
        self.rules.versions
    }

    pub(super) fn answers(&self) -> &'a KeptAnswers {
        self.rules.answers
    }

    pub(super) fn secret(&self) -> [u8; 32] {
        self.rules.secret
    }

    pub(super) fn links(&self) -> Option<Arc<Links>> {
        self.rules.links.cloned()
    }

    pub(super) fn submit(&mut self, admission: &Arc<Admission>, seed: [u8; 32]) -> Reply {
        let holder = open_key(admission).and_then(|key| self.taken.holders.get(&key).copied());
        let command = Command::Submit(admission.clone());
        let (pipeline, version) = (admission.pipeline(), admission.version());
        let decision = self.decided(pipeline, version, holder, &command, seed)?;
        let duplicate = decision.answer == Answer::Duplicate;
        let row = if duplicate {
            Arc::new(decision.row)
        } else {
            let id = decision.row.id;
            // A submission makes no children on its way in: only tasks do.
            self.accept(decision, None);
            self.taken.rows[&id].row.clone()
        };
        Ok(Output::Submission(Box::new(Answered { row, duplicate })))
    }

    pub(super) fn tell(&mut self, id: SubmissionId, command: &Command, seed: [u8; 32]) -> Reply {
        let answer = self.command(id, command, seed)?;
        let row = &self.taken.rows[&id].row;
        Ok(match answer {
            Answer::Settled { state, status, repeated } => Output::Settled { state, status, repeated },
            Answer::Renewed { expires_at } => {
                Output::Renewed { expires_at, payload_revision: row.payload_revision }
            }
            _ => Output::Submission(Box::new(Answered { row: row.clone(), duplicate: false })),
        })
    }

    /// Decides a command to a submission that was taken, and keeps what it gives.
    pub(super) fn command(
        &mut self,
        id: SubmissionId,
        command: &Command,
        seed: [u8; 32],
    ) -> Result<Answer, Refusal> {
        let Some(stored) = self.taken.rows.get(&id) else {
            return Err(Refusal::new(Code::UnknownSubmission, format!("no submission {id}")));
        };
        let (pipeline, version) = (stored.row.pipeline.clone(), stored.row.version);
        let adapted = self.unmade(command).or_else(|| self.retargeted(command));
        let command = adapted.as_ref().unwrap_or(command);
        let mut decision = self.decided(&pipeline, version, Some(id), command, seed)?;
        let entries = std::mem::take(&mut decision.entries);
        self.check_entries(&entries)?;
        let answer = decision.answer.clone();
        if answer == Answer::Parked {
            // Set aside for a hold: it must still be in force, or its end would have missed this row.
            self.rely_on_epoch();
        }
        for child in &decision.children {
            self.try_child(child, seed)?;
        }
        let children = self.accept(decision, Some(command));
        self.put_entries(&entries);
        for child in children {
            let seed = seed_of(seed, &child);
            self.submit(&child.into(), seed)?;
        }
        Ok(answer)
    }

    /// A command that makes children, those marked that were made before.
    fn unmade(&self, command: &Command) -> Option<Command> {
        if super::children_of(command).is_empty() {
            return None;
        }
        let mut command = command.clone();
        let children = match &mut command {
            Command::Finish(finish) => &mut finish.children,
            Command::Spawn(spawn) => &mut spawn.children,
            _ => return None,
        };
        let is_made = |child: &Admission| child.child_id().is_some_and(|id| self.was_there(id));
        children.iter_mut().filter(|child| is_made(child)).for_each(Admission::mark_made);
        Some(command)
    }

    /// A migration to the newest revision of its target, where the caller has seen an older one.
    fn retargeted(&self, command: &Command) -> Option<Command> {
        let Command::Migrate(migrate) = command else { return None };
        let target = self.versions().version(&migrate.target.name, migrate.target.version)?.clone();
        let outdated = target.digest != migrate.target.digest;
        outdated.then(|| Command::Migrate(Migrate { target, ..migrate.clone() }))
    }

    /// One that has ended and is forgotten was there all the same.
    pub(super) fn was_there(&self, id: SubmissionId) -> bool {
        self.taken.rows.contains_key(&id) || self.taken.gone.contains(&id)
    }

    /// Checks that a child can be made: its maker is refused before anything of the child is kept.
    fn try_child(&self, child: &Admission, seed: [u8; 32]) -> Result<(), Refusal> {
        let holder = open_key(child).and_then(|key| self.taken.holders.get(&key).copied());
        let submit = Command::Submit(child.clone().into());
        let tried = self.decided(child.pipeline(), child.version(), holder, &submit, seed_of(seed, child))?;
        match child.key().filter(|_| tried.answer == Answer::Duplicate) {
            None => Ok(()),
            Some(key) => Err(Refusal::new(
                Code::DuplicateKey,
                format!("an open submission has the key `{key}` of one of the children; none was made"),
            )),
        }
    }

    /// Decides one command. A panic is this command's alone: nothing it touched is kept.
    pub(super) fn decided(
        &self,
        pipeline: &str,
        version: u32,
        row: Option<SubmissionId>,
        command: &Command,
        seed: [u8; 32],
    ) -> Result<Decision, Refusal> {
        self.check_followed(pipeline, version, command)?;
        let Some(pipeline) = self.rules.versions.version(pipeline, version) else {
            return Err(self.not_loaded(pipeline, version));
        };
        let context = self.context(row, command, seed);
        let none = Documents::default();
        let current = row.and_then(|id| self.taken.rows.get(&id)).map(|stored| Current {
            row: &stored.row,
            documents: stored.documents.as_ref().unwrap_or(&none),
        });
        let decided =
            catch_unwind(AssertUnwindSafe(|| (self.rules.decide)(pipeline, current, command, &context)));
        let decision = decided.unwrap_or_else(|_| {
            tracing::error!(pipeline = &*pipeline.name, "a decision panicked; its command was refused");
            Err(Refusal::new(Code::Internal, "this command could not be decided; nothing was changed"))
        })?;
        decision.events.iter().try_for_each(|event| super::log::check_event(&event.leaf))?;
        Ok(decision)
    }

    /// Puts a decision into the working set.
    fn accept(&mut self, decision: Decision, command: Option<&Command>) -> Vec<Admission> {
        let Decision { mut row, events, owed, children, .. } = decision;
        let id = row.id;
        let stored = self.taken.rows.remove(&id);
        let unchanged = stored.as_ref().is_some_and(|stored| *stored.row == row);
        let (old, mut documents) = match stored {
            Some(Stored { row, documents }) => (Some(row), documents),
            None => (None, Some(Documents::default())),
        };
        let mut forgotten = false;
        self.arrivals += u32::from(old.is_none());
        let pipeline = self.rules.versions.version(&row.pipeline, row.version).map(|pipeline| &**pipeline);
        self.notes.add(Decided { command, pipeline, before: old.as_deref(), after: &row, events: &events });
        for event in events {
            forgotten |= event.leaf.kind == Kind::Forgotten;
            if event.leaf.kind == Kind::Erased {
                self.changes.erased.push(id);
                documents = documents.map(|_| Documents::default());
            }
            for (name, body) in event.named_documents() {
                if let Some(documents) = &mut documents {
                    documents.set(&name, body.clone());
                }
                self.changes.documents.push(DocumentChange { submission: id, name, body });
            }
            self.changes.events.push(event);
        }
        let queued = self.move_key(old.as_deref(), &row);
        self.move_slots(old.as_deref(), &row);
        let look = self.move_lane(old.as_deref(), &row);
        if !unchanged && let Entry::Vacant(before) = self.before.entry(id) {
            // However often it changes in a batch, it is written once.
            row.row_version = old.as_ref().map_or(0, |old| old.row_version) + 1;
            before.insert(old);
            self.changed.push(id);
        }
        self.owe(&row, owed.into_iter().chain(look).chain(queued));
        if forgotten {
            self.forget(id);
        } else {
            self.taken.rows.insert(id, Stored { row: Arc::new(row), documents });
        }
        children
    }

    /// The row goes as it was taken: `wake_idle` saw to it that nothing else changed it.
    fn forget(&mut self, id: SubmissionId) {
        self.changed.retain(|changed| *changed != id);
        let row = self.before.remove(&id).flatten();
        self.changes.forgotten.extend(row.map(Arc::unwrap_or_clone));
        self.taken.gone.insert(id);
    }
}

/// Chance of its own for each child of one command.
fn seed_of(seed: [u8; 32], child: &Admission) -> [u8; 32] {
    let id = child.child_id().unwrap_or(SubmissionId::NIL);
    model::Digest::of_parts(&[&seed, id.0.as_bytes()]).0
}
