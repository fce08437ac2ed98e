//! A walk: the moves one command causes, one after the other, each an event.

use super::cause::Step;
use super::guard_view::{Moment, Sight};
use super::{Answer, Current, Decision};
use crate::Name;
use crate::actor::{Actor, ActorKind};
use crate::admit::{Admission, Sealed};
use crate::context::{Chance, Context};
use crate::entry::EntryChange;
use crate::event::{self, Change, Detail, Entry, Event, Leaf, Moved, Pseudonym, Salts};
use crate::evolve::evolve_hashed;
use crate::expr::GuardError;
use crate::json::Json;
use crate::owed::{Effect, Owed, Recipient};
use crate::pipeline::{Choice, Edge, Kind, Lane, LaneRule, OnDead, OnDuplicate, Pipeline, State};
use crate::refusal::{Code, Refusal};
use crate::submission::{Documents, Failure, Kept, Seat, Stand, Status, Submission, SubmissionId, Wait};
use crate::time::{Millis, Time};

/// Children may stand so far ahead in their queue: of a parent with more, those that are too many are in no order.
const PLACES_AHEAD_MAX: Millis = Millis::from_secs(600);

pub(super) struct Walk<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) context: &'a Context,
    pub(super) sight: Sight<'a>,
    pub(super) chance: Chance,
    /// The time from which it counts in a queue that it enters.
    pub(super) queued_at: Time,
    /// The id of a submission yet to be made, where it is given.
    pub(super) id: Option<SubmissionId>,
    row: Option<Submission>,
    events: Vec<Event>,
    owed: Vec<Owed>,
    children: Vec<Admission>,
    /// Entries of systems that change with what the walk does.
    pub(super) entries: Vec<EntryChange>,
    /// Set if the walk went along `on.guard_error`.
    pub(super) fell: bool,
    /// The leg whose being missed moves the submission on.
    pub(super) escalated: Option<Name>,
    /// The deliveries that the walk owes.
    pub(super) told: Deliveries,
}

/// The number of deliveries, and the bytes of them.
#[derive(Clone, Copy, Default)]
pub(super) struct Deliveries {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(pipeline: &'a Pipeline, current: Current<'a>, context: &'a Context) -> Self {
        let mut walk = Walk::unborn(pipeline, current.documents.clone(), context);
        walk.row = Some(current.row.clone());
        walk
    }

    /// A walk whose submission is about to be made.
    pub(super) fn unborn(pipeline: &'a Pipeline, documents: Documents, context: &'a Context) -> Self {
        Walk {
            pipeline,
            context,
            sight: Sight::new(pipeline, documents, context.held()),
            chance: Chance::new(context.seed),
            queued_at: context.now,
            id: None,
            row: None,
            events: Vec::new(),
            owed: Vec::new(),
            children: Vec::new(),
            entries: Vec::new(),
            fell: false,
            escalated: None,
            told: Deliveries::default(),
        }
    }

    pub(super) fn row(&self) -> &Submission {
        self.row.as_ref().expect("a walk has a row once it was submitted")
    }

    pub(super) fn row_mut(&mut self) -> &mut Submission {
        self.row.as_mut().expect("a walk has a row once it was submitted")
    }

    pub(super) fn state(&self) -> &'a State {
        self.pipeline.known(&self.row().state)
    }

    pub(super) fn done(self, answer: Answer) -> Decision {
        let row = self.row.expect("a walk has a row at its end");
        let Walk { events, owed, children, entries, .. } = self;
        Decision { row, events, owed, children, entries, answer }
    }

    /// Moves along an edge, then on through every pass state whose guard holds.
    pub(super) fn go(&mut self, edge: &Edge, to: &Name, step: Step<'_>) -> Result<(), GuardError> {
        // What it leaves behind ends its clocks: one that ran out a moment ago ran out all the same.
        self.note_late();
        self.take_edge(edge, to, step)?;
        self.pass_on()
    }

    pub(super) fn take_edge(&mut self, edge: &Edge, to: &Name, step: Step<'_>) -> Result<(), GuardError> {
        let from = self.state();
        let target = self.pipeline.known(to);
        assert!(self.pipeline.allows(Some(&from.name), to), "only declared moves are made");
        // Derived from where it was, as the file reads: `from` is the state it leaves.
        let came_from = self.row_mut().from.replace(from.name.clone());
        let derived = self.derive(edge, target, &step);
        self.row_mut().from = came_from;
        let Derived { metadata, error: stated, entry } = derived?;
        let good = step.success && from.checkpoint && entry.status != Status::Failed && stated.is_none();
        // A pass state hands an error on: where it leads, people still want to know what went wrong and where.
        let carried = matches!(from.kind, Kind::Pass { .. }) && self.row().error.is_some();
        let cause = if carried { self.row().error.clone() } else { step.moment.error.cloned() };
        let (error, stated, restated) = match stated {
            Some(error) => (Some(error), true, cause),
            None => (cause, false, None),
        };
        let reopened = from.is_final() && !target.is_final();
        let spent = step.spent;
        let change = Change::Moved(Moved { entry, error, stated, restated, good, reopened, carried, spent });
        let fact =
            Fact { to, trigger: &edge.trigger, actor: edge.actor, metadata, tells: Some(&edge.notify) };
        self.record(change, fact, step);
        Ok(())
    }

    /// Evaluates everything an edge and its target say about the move, before anything is recorded.
    fn derive(&self, edge: &Edge, target: &State, step: &Step<'_>) -> Result<Derived, GuardError> {
        let row = self.row();
        let priority = match self.priority(row, step.moment) {
            Err(_) if step.lenient => row.priority,
            priority => priority?,
        };
        Ok(Derived {
            metadata: self.sight.metadata(row, edge, step)?,
            error: self.sight.stated(row, edge, step)?,
            entry: self.entry_with(target, row, priority)?,
        })
    }

    /// Walks on while nothing but a guard or children that have all ended keep it. Cycles of such states do not load,
    /// so this ends.
    pub(super) fn pass_on(&mut self) -> Result<(), GuardError> {
        loop {
            let mut step = Step::rule();
            let next = match (&self.state().kind, &self.row().wait) {
                // In line, parked or not yet: it rests here whatever its guards say.
                (Kind::Pass { next }, Wait::Guard) => next,
                (Kind::Join { on_all_succeeded, on_some_failed, .. }, Wait::Children) => {
                    let children = self.row().children;
                    // What a worker's outcome is to a task, its children's success is to a join.
                    step.success = (children.open, children.failed) == (0, 0);
                    match (children.open, children.failed) {
                        (0, 0) => on_all_succeeded,
                        (0, _) => on_some_failed,
                        _ => break,
                    }
                }
                _ => break,
            };
            let chosen = self.sight.choose(self.row(), Moment::default(), next)?;
            let Some((_, edge)) = chosen else { break };
            let to = only(edge);
            self.take_edge(edge, to, step)?;
        }
        Ok(())
    }

    /// Makes children in the commit of what it is doing; those that are there already stay as they are.
    pub(super) fn spawn(&mut self, children: &[Admission]) {
        let before = self.children.len();
        for child in children.iter().filter(|child| !child.is_made()) {
            let queued_at = self.next_place();
            self.children.push(Admission { queued_at: Some(queued_at), ..child.clone() });
        }
        let count = (self.children.len() - before) as u64;
        let counted = &mut self.row_mut().children;
        counted.total += count;
        counted.open += count;
    }

    /// Returns the place of the next child in its queue. Children of one parent stand there in the order in which they were
    /// named, though all are made at once and their ids are in no order: each is taken for a millisecond younger.
    fn next_place(&mut self) -> Time {
        let now = self.context.now;
        let behind = self.row().last_child_at.map_or(now, |last| last.plus(Millis::new(1)));
        let place = behind.clamp(now, now.plus(PLACES_AHEAD_MAX));
        self.row_mut().last_child_at = Some(place);
        place
    }

    /// Moves like `go`, where nobody can be refused any more.
    pub(super) fn go_or_die(&mut self, edge: &Edge, to: &Name, step: Step<'_>, kept: Option<Kept>) {
        self.note_late();
        let before = self.row().revision;
        if let Err(error) = self.go(edge, to, step.clone()) {
            self.interrupted(before, &error, kept, step);
        }
    }

    /// Ends what a guard error interrupted. A step that came as far as its first event, after the revision `before`, is
    /// done; what failed then is a state that it passed through.
    pub(super) fn interrupted(
        &mut self,
        before: u64,
        error: &GuardError,
        kept: Option<Kept>,
        step: Step<'_>,
    ) {
        if self.row().revision == before {
            self.guard_failed(error, kept, step);
        } else {
            self.guard_failed(error, None, Step::rule());
        }
    }

    /// Stops where it is, as a dead letter.
    pub(super) fn die(&mut self, error: Failure, kept: Option<Kept>, step: Step<'_>) {
        let trigger = error.code.clone();
        let mut seat = self.row().seat.clone();
        if let (Some(seat), Some(Lane { on_dead: OnDead::Free, .. })) = (&mut seat, &self.pipeline.lane) {
            seat.stand = Stand::Away;
        }
        let tells = self.last_word(&error).map(|edge| &*edge.notify);
        let to = self.row().state.clone();
        let change = Change::Died { error, kept, seat, spent: step.spent };
        self.record(change, Fact { to: &to, trigger: &trigger, actor: None, metadata: None, tells }, step);
    }

    /// An event that leaves the submission in its state.
    pub(super) fn note(&mut self, change: Change, trigger: &Name, step: Step<'_>) {
        let to = self.row().state.clone();
        self.record(change, Fact { to: &to, trigger, actor: None, metadata: None, tells: None }, step);
    }

    /// Returns the submission's place in its lane on entering a state: given up, kept, or asked for.
    pub(super) fn seat(&self, state: &State, seat: Option<&Seat>) -> Option<Seat> {
        let mut seat = seat?.clone();
        if state.is_final() || state.lane == LaneRule::Free {
            seat.stand = Stand::Away;
        } else if !seat.holds() {
            seat.stand = if self.context.lane_free { Stand::Holds } else { Stand::InLine };
        }
        Some(seat)
    }

    /// Gives the submission its turn in the lane: from here on it waits for what its state waits for.
    pub(super) fn sit(&mut self) -> Result<(), GuardError> {
        if let Some(seat) = &mut self.row_mut().seat {
            seat.stand = Stand::Holds;
        }
        self.settle_in()
    }

    /// Stands in its lane as its state wants it to.
    pub(super) fn reseat(&mut self) {
        self.row_mut().seat = self.seat(self.state(), self.row().seat.as_ref());
    }

    /// The seat of one that stopped and goes on: its lane must be free, or still its own.
    pub(super) fn regained_seat(&self) -> Result<Option<Seat>, Refusal> {
        let row = self.row();
        let seat = self.seat(self.state(), row.seat.as_ref());
        if seat.as_ref().is_some_and(Seat::waits) { Err(lane_taken(row)) } else { Ok(seat) }
    }

    /// Waits for what its state waits for, from now on, and walks on if that is nothing.
    pub(super) fn settle_in(&mut self) -> Result<(), GuardError> {
        let (state, row) = (self.state(), self.row());
        let wait = self.turn(state, row, self.context.now, row.priority)?;
        self.row_mut().wait = wait;
        self.pass_on()
    }

    /// Seals an event: digests, chain, revision; then lets it change the row.
    pub(super) fn record(&mut self, change: Change, fact: Fact<'_>, step: Step<'_>) {
        let id = self.row.as_ref().map(|row| row.id).or(self.id);
        let id = id.unwrap_or_else(|| {
            SubmissionId::nth(self.context.now, self.context.arrivals, self.chance.take())
        });
        let actor = match fact.actor {
            Some(ActorKind::System) => Actor::system(),
            Some(kind) => Actor { kind, ..step.actor },
            None => step.actor,
        };
        let payload = step.sealed.or_else(|| self.seal(step.documents.payload.as_ref()));
        let output = self.seal(step.documents.output.as_ref());
        let metadata = self.seal(fact.metadata.as_ref());
        let salt = |sealed: Option<Sealed>| sealed.map(|sealed| sealed.salt);
        let salts = Salts { payload: salt(payload), output: salt(output), metadata: salt(metadata) };
        let digest = |sealed: Option<Sealed>| sealed.map(|sealed| sealed.digest);
        let row = self.row.take();
        let stood = row.as_ref().map(|row| Stood::of(self.pipeline, row));
        let leaf = Leaf {
            format: Leaf::FORMAT,
            kind: change.kind(),
            definition: self.pipeline.digest,
            submission: id,
            revision: row.as_ref().map_or(0, |row| row.revision) + 1,
            previous: row.as_ref().map(|row| row.leaf),
            at: self.context.now,
            from: row.as_ref().map(|row| row.state.clone()),
            to: fact.to.clone(),
            trigger: fact.trigger.clone(),
            actor: Pseudonym::of(&actor, &self.context.pseudonyms),
            right: step.right,
            held: self.context.held(),
            attempt: row.as_ref().map_or(1, |row| row.attempt),
            payload: digest(payload),
            output: digest(output),
            metadata: digest(metadata),
        };
        let detail =
            Detail { actor: actor.name, metadata: fact.metadata, salts, notified: Vec::new(), change };
        let bytes = leaf.bytes();
        let hash = Leaf::hash(&bytes);
        let mut event = Event { leaf, detail, documents: step.documents, bytes: Some(bytes.into()) };
        let after = evolve_hashed(row, &event, hash);
        owe(self.pipeline, stood, &after, &mut self.owed);
        self.row = Some(after);
        self.sight.learn(&event);
        if let Some(names) = fact.tells.filter(|_| !self.pipeline.notify.is_empty()) {
            let entered = match event.leaf.kind {
                event::Kind::Died | event::Kind::Late => &[],
                _ => self.state().notify.as_slice(),
            };
            event.detail.notified = self.notify(&event, hash, step.moment, &[entered, names]);
        }
        self.events.push(event);
    }

    pub(super) fn owe(&mut self, owed: Owed) {
        self.owed.push(owed);
    }

    fn seal(&mut self, document: Option<&Json>) -> Option<Sealed> {
        document.map(|document| Sealed::of(document, self.chance.bits()))
    }
}

/// Values of a move that expressions give.
struct Derived {
    metadata: Option<Json>,
    error: Option<Failure>,
    entry: Entry,
}

/// The public half of what is recorded.
pub(super) struct Fact<'a> {
    pub(super) to: &'a Name,
    pub(super) trigger: &'a Name,
    pub(super) actor: Option<ActorKind>,
    pub(super) metadata: Option<Json>,
    /// The notifications that tell of it, beside those of the state that a move leads to.
    pub(super) tells: Option<&'a [Name]>,
}

/// The parts of a row that others may wait for.
struct Stood {
    status: Status,
    lane: Option<Name>,
    has_key: bool,
}

impl Stood {
    fn of(pipeline: &Pipeline, row: &Submission) -> Self {
        let status = pipeline.standing(row);
        Stood { status, lane: row.held_lane().cloned(), has_key: row.held_key().is_some() }
    }
}

/// Adds what a change of the row means for others.
fn owe(pipeline: &Pipeline, before: Option<Stood>, after: &Submission, owed: &mut Vec<Owed>) {
    let stands = Stood::of(pipeline, after);
    let before = before.unwrap_or(Stood { status: Status::Open, lane: None, has_key: false });
    if let Some(lane) = before.lane.filter(|_| stands.lane.is_none()) {
        owed.push(freed(Recipient::Lane { pipeline: pipeline.name.clone(), lane }));
    }
    if let Some(parent) = after.parent
        && before.status != stands.status
    {
        let effect = Effect::Child { before: before.status, after: stands.status };
        owed.push(Owed { to: Recipient::Submission(parent), effect });
    }
    if stands.status == Status::Cancelled
        && before.status != stands.status
        && after.children.total > 0
        && let Some(child) = pipeline.child()
    {
        let to = Recipient::Children { of: after.id, pipeline: child.clone() };
        owed.push(Owed { to, effect: Effect::ParentCancelled });
    }
    if let Some(key) = &after.key
        && pipeline.on_duplicate == OnDuplicate::Queue
        && before.has_key
        && !stands.has_key
    {
        owed.push(freed(Recipient::Key { pipeline: pipeline.name.clone(), key: key.clone() }));
    }
}

/// Back in line after a hold: somebody has to look whether it is its turn.
pub(super) fn line_up(pipeline: &Pipeline, row: &Submission) -> Vec<Owed> {
    let waits = row.seat.as_ref().filter(|seat| seat.waits());
    let lane = waits.map(|seat| Recipient::Lane { pipeline: pipeline.name.clone(), lane: seat.lane.clone() });
    lane.into_iter().map(freed).collect()
}

pub(super) fn lane_taken(row: &Submission) -> Refusal {
    let lane = row.seat.as_ref().map_or("", |seat| &seat.lane);
    Refusal::new(Code::LaneTaken, format!("another submission has the lane `{lane}`")).with("lane", lane)
}

fn freed(to: Recipient) -> Owed {
    Owed { to, effect: Effect::Freed }
}

/// Returns the state to which an edge leads that leaves no choice: all but those of actions.
pub(super) fn only(edge: &Edge) -> &Name {
    match &edge.to {
        Some(Choice::One(to)) => to,
        _ => unreachable!(
            "only actions offer a choice and only on.error may lead nowhere; the file was checked"
        ),
    }
}
