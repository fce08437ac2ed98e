//! The step core: takes a batch, decides it inside one transaction, answers everyone.

mod administered;
mod answers;
mod claims;
mod commit;
mod cursors;
mod definitions;
mod endpoints;
mod entries;
mod epoch;
mod fleet;
mod flow;
mod inbox;
mod input;
mod levels;
mod log;
mod operations;
mod owed;
mod plan;
mod schedules;
mod surroundings;
mod system_entries;
mod tokens;
mod trust;
mod waking;

pub use administered::{ACTORS, ActorNames, administered_count, administered_series};
pub use cursors::{CURSORS, Cursor, CursorName, Cursors, MoveCursor, cursor_name};
pub use endpoints::{
    DEFAULT_ENDPOINT, Disabled, ENDPOINTS, EndpointDeed, EndpointEntry, Endpoints, endpoint_name,
};
pub use fleet::{Server, Shift, servers, shifts};
pub use inbox::Tally;
pub use input::{Answered, Ask, Asker, ClaimMany, Granted, Input, LoggedRecord, Once, Output, Reply};
pub use log::{
    ACTS, Acts, Deed as LogDeed, KeptActs, LOG, LogActs, LoggedPrune, applied_series, kept_act, kept_key,
    log_series,
};
pub use operations::{
    CHUNK_MAX, Chunk, Deed, Filter, OPERATIONS, Operation, OperationResult, OperationResults,
    OperationStatus, Operations, RUNNING, RunningOperations, results_of,
};
pub use schedules::{Due, SCHEDULES, Scheduled, Schedules, Tick};
pub use system_entries::{SystemEntries, system_entries, system_entry};
pub use tokens::{TOKENS, TOKENS_USED, TokenDeed, TokenEntry, Tokens, TokensUsed, token_name};
pub use trust::{AHEAD_MAX, APART_MAX, BEHIND_MAX, Doubt, Trust};

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use model::admit::Admission;
use model::decide::{Current, Decision};
use model::{Code, Command, Context, Links, Name, Pipeline, Refusal, Submission, Time};
use store::{LaneKey, LimitKey, OpenKey, Store, Stored, Take};

use crate::holds::Holds;
use crate::metrics::Notes;
use crate::pipelines::Pipelines;
use answers::KeptAnswers;
use commit::{Commit, News, Rules};
use plan::Plan;

/// The function that decides a command. The model's `decide`, unless a test wants to see one fail.
pub type Decide = fn(&Pipeline, Option<Current<'_>>, &Command, &Context) -> Result<Decision, Refusal>;

/// Rows whose time has come that one step looks at.
pub const DUE_MAX: usize = 256;
/// Owed rows one step applies.
pub const OWED_MAX: usize = 256;
/// The most entries of the inbox that one step decides.
pub const INBOX_MAX: usize = 256;
/// Ended rows one step erases or forgets: few, because nobody waits for it.
const IDLE_MAX: usize = 64;
/// Rows one step takes out of what a hold parked.
const PARKED_MAX: usize = 256;
/// Bytes of documents one transaction holds, unless it can do no less: a thousand submissions may bring a megabyte each.
const ROOM: usize = 32 << 20;
/// The number of times a batch that lost a race is decided anew before it is split.
const CONFLICTS_MAX: u32 = 3;

#[derive(Debug)]
pub struct Core {
    store: Arc<dyn Store>,
    pipelines: Pipelines,
    holds: Holds,
    secret: [u8; 32],
    links: Option<Arc<Links>>,
    decide: Decide,
    /// Since when the store has answered; `None` while it does not.
    reachable_since: Option<Time>,
    /// The state of the registry that holds and definitions were read at. Unknown at first, and after a commit that
    /// was lost on its way: it may have changed them.
    epoch: Option<u64>,
    /// Set if the queues held less than was asked of them last time. Then what is finished goes on in its commit, if
    /// its documents are at hand, and fetching them is worth it.
    scarce: bool,
    /// The time at which submissions were made last, and their number at that time.
    arrivals: Option<(Time, u32)>,
    /// The number of inputs, and of what is due, that one transaction takes on: fewer while their documents are large.
    bulk: usize,
    /// The answers that were kept to be given again, counted.
    answers: KeptAnswers,
    /// The trust in the store's clock; a clock that is not watched is believed.
    trust: Trust,
}

/// The results of a step, beyond its answers.
#[derive(Debug, Default)]
pub struct Step {
    /// One for each input, in order.
    pub outcomes: Vec<Reply>,
    /// The number of submissions that joined each task's queue.
    pub ready: BTreeMap<Name, usize>,
    /// The position of the last event, if there was one.
    pub last_seq: Option<u64>,
    /// The number of entries of the inbox, by what became of them.
    pub received: Tally,
    /// The facts to count of the step.
    pub notes: Notes,
    /// The time at which something is due next. A time in the past means: at once.
    pub next_timer: Option<Time>,
    /// The store's time, if something was committed or looked at.
    pub now: Option<Time>,
    /// The latest time that is certain to have come, then.
    pub known: Option<Time>,
    /// The reason why the store's time is not believed.
    pub doubt: Option<Doubt>,
    /// The reason why the store could not be reached or written.
    pub unreachable: Option<String>,
    /// Set when the store is beyond use; the process has to stop.
    pub corrupt: Option<String>,
}

impl Core {
    #[must_use]
    pub fn new(store: Arc<dyn Store>, pipelines: Pipelines, holds: Holds, secret: [u8; 32]) -> Self {
        Core {
            store,
            pipelines,
            holds,
            secret,
            links: None,
            decide: model::decide,
            reachable_since: None,
            epoch: None,
            scarce: false,
            arrivals: None,
            bulk: usize::MAX,
            answers: KeptAnswers::default(),
            trust: Trust::default(),
        }
    }

    /// Lets what cannot be taken back wait while the clock is in doubt.
    #[must_use]
    pub fn watching_the_clock(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Tells the addresses that messages name.
    #[must_use]
    pub fn with_links(mut self, links: Option<Arc<Links>>) -> Self {
        self.links = links;
        self
    }

    #[must_use]
    pub fn with_decide(mut self, decide: Decide) -> Self {
        self.decide = decide;
        self
    }

    /// Keeps what time it is, as the last thing that is done: what ended until now stays so, whatever the clock says when
    /// the store is opened again.
    pub fn keep_time(&mut self, chance: &mut dyn FnMut() -> [u8; 32]) -> Step {
        self.trust.keep_next();
        self.step(&[], 0, chance)
    }

    /// Returns the number of inputs that the next batch should have at most.
    #[must_use]
    pub fn bulk(&self) -> usize {
        self.bulk
    }

    /// Decides and commits a batch, and whatever is due. Every input is answered, whatever happens.
    pub fn step(&mut self, inputs: &[Input], due: usize, chance: &mut dyn FnMut() -> [u8; 32]) -> Step {
        let mut work = Work { chance, step: Step::default() };
        self.attempt(inputs, due.min(self.bulk), &mut work);
        work.step
    }

    fn attempt(&mut self, inputs: &[Input], due: usize, work: &mut Work<'_>) {
        for _ in 0..CONFLICTS_MAX {
            match self.commit(inputs, due, work) {
                Ok(Committed::Done) => return,
                Ok(Committed::TooLarge) => {
                    if due > 0 {
                        // Waiting claims count as inputs but load no documents, so one halving may not be enough; the next
                        // attempt halves again.
                        self.bulk = (self.bulk.min(inputs.len().max(due)) / 2).max(1);
                    }
                    break;
                }
                Err(store::Error::Conflict(reason)) => {
                    tracing::debug!(reason, inputs = inputs.len(), "lost a race, deciding again");
                }
                Err(error) => return self.failed(inputs.len(), &error, &mut work.step),
            }
        }
        self.split(inputs, due, work);
    }

    /// Attempts each half of a batch that cannot be decided or committed as a whole, so that one bad input is answered alone.
    /// Submissions that are due stay due.
    fn split(&mut self, inputs: &[Input], due: usize, work: &mut Work<'_>) {
        match inputs {
            [] if due > 1 => self.attempt(&[], due / 2, work),
            [] => {}
            [_] if due > 0 => self.attempt(inputs, 0, work),
            [one] => match one.half() {
                Some(half) => self.attempt(&[half], 0, work),
                None => work.step.outcomes.push(Err(Refusal::new(
                    Code::Unavailable,
                    "others changed the same submission at the same time; try again",
                ))),
            },
            _ => {
                let (first, second) = inputs.split_at(inputs.len() / 2);
                self.attempt(first, 0, work);
                self.attempt(second, 0, work);
            }
        }
    }

    fn commit(
        &mut self,
        inputs: &[Input],
        due: usize,
        work: &mut Work<'_>,
    ) -> Result<Committed, store::Error> {
        let plan = Plan::of(inputs, self.scarce);
        // Once to find out that others have changed what is kept at hand, once with what they changed it to.
        loop {
            match self.transact(&plan, inputs, due, work.chance)? {
                Decided::Outdated { epoch } => self.catch_up(epoch)?,
                Decided::Missing(versions) => self.pipelines.recall(&*self.store, &versions)?,
                Decided::Crowded => return Ok(Committed::TooLarge),
                Decided::Done { outcomes, news, last_seq } => {
                    self.keep(&news);
                    self.scarce = scarcity(inputs, &outcomes).unwrap_or(self.scarce);
                    if due > 0 {
                        // Not by parts of a batch that was too much, or what is due would never have its turn.
                        self.bulk = self.bulk.saturating_add(1 + self.bulk / 8);
                    }
                    work.step.add(outcomes, news, last_seq);
                    return Ok(Committed::Done);
                }
            }
        }
    }

    fn transact(
        &self,
        plan: &Plan,
        inputs: &[Input],
        due: usize,
        chance: &mut dyn FnMut() -> [u8; 32],
    ) -> Result<Decided, store::Error> {
        let versions = self.pipelines.current();
        let version = |row: &Submission| versions.version(&row.pipeline, row.version);
        let door = inbox::Door::new(&versions);
        let needs_documents = |row: &Submission| {
            let named = plan.needs_documents(row) || door.needs_documents(row);
            named || version(row).is_none_or(|pipeline| pipeline.reads.any())
        };
        let wants_documents = |row: &Submission| plan.wants_documents(row) || needs_documents(row);
        let leaves_lane = |row: &Submission| {
            row.held_lane().is_some() && version(row).is_some_and(|pipeline| pipeline.may_leave_lane(row))
        };
        let limits = |row: &Submission| version(row).map_or(Vec::new(), |pipeline| limits_of(pipeline, row));
        let arrival = |received: &store::Received| door.arrival(received);
        let certain = |now: Time| self.trust.certain(now);
        let holds = self.holds.current();
        let mut take = Take {
            documents: &wants_documents,
            room: if can_be_less(inputs, due) { ROOM } else { usize::MAX },
            leaves_lane: &leaves_lane,
            limits: &limits,
            arrival: &arrival,
            certain: &certain,
            ..plan.take(due)
        };
        if holds.next_expiry().is_some() {
            // A hold that ends by itself goes on record.
            take.registry.push(administered::count_key().raw());
        }
        let (decide, secret, answers, links) = (self.decide, self.secret, &self.answers, self.links.as_ref());
        let rules = Rules { versions: &versions, holds: &holds, decide, secret, links, answers };
        let mut decided = None;
        let committed = self.store.transact(&take, &mut |taken| {
            let epoch = epoch::of(&taken);
            if self.epoch != Some(epoch) {
                decided = Some(Decided::Outdated { epoch });
                return store::Changes::default();
            }
            let lacks = |stored: &Stored| stored.documents.is_none() && needs_documents(&stored.row);
            if taken.crowded && taken.rows.values().any(lacks) {
                decided = Some(Decided::Crowded);
                return store::Changes::default();
            }
            let expected = inputs.len() + taken.due.len() + taken.owed.len();
            let mut batch = Commit::new(taken, rules, chance, expected);
            batch.reachable_since = self.reachable_since.unwrap_or(batch.now);
            batch.contested = contested(plan.lanes().iter().chain(door.lanes().iter()));
            batch.arrivals = self.arrivals.filter(|(at, _)| *at == batch.now).map_or(0, |(_, count)| count);
            batch.watch_clock(&self.trust);
            batch.end_holds();
            let mut outcomes = plan.run(inputs, &mut batch);
            batch.wake_due();
            batch.spare_idle();
            batch.wake_idle();
            batch.pay_owed(take.parked);
            batch.receive(&door);
            batch.hand_over_lanes();
            batch.lend(inputs, &mut outcomes);
            let missing = batch.missing.take();
            if !missing.is_empty() {
                decided = Some(Decided::Missing(missing));
                return store::Changes::default();
            }
            let (changes, news) = batch.finish();
            decided = Some(Decided::Done { outcomes, news, last_seq: 0 });
            changes
        })?;
        match decided {
            None => Err(store::Error::corrupt("the store committed without asking for a decision")),
            Some(Decided::Done { outcomes, news, .. }) => {
                Ok(Decided::Done { outcomes, news, last_seq: committed.last_seq })
            }
            Some(outdated) => Ok(outdated),
        }
    }

    /// Remembers what a commit made true.
    fn keep(&mut self, news: &News) {
        self.reachable_since.get_or_insert(news.now);
        if let Some(definitions) = &news.definitions {
            // They come into force once they are on disk.
            self.pipelines.replace(definitions.clone());
        }
        if let Some(holds) = &news.holds {
            self.holds.replace(holds.clone());
        }
        self.epoch = Some(news.epoch);
        self.arrivals = Some((news.now, news.arrivals));
        self.trust = news.trust.clone();
        self.answers.add(&news.kept, self.trust.known().unwrap_or(news.now));
    }

    fn failed(&mut self, inputs: usize, error: &store::Error, step: &mut Step) {
        self.reachable_since = None;
        self.epoch = None;
        step.unreachable = Some(error.to_string());
        let refusal = match error {
            store::Error::Unavailable { outcome_unknown: true, .. } => Refusal::new(
                Code::OutcomeUnknown,
                "the store was lost while committing; look before you repeat",
            ),
            store::Error::Corrupt(reason) => {
                // A failed sync among them: what was written may be found when the store is opened again.
                step.corrupt = Some(reason.clone());
                Refusal::new(
                    Code::OutcomeUnknown,
                    "the store cannot be used and the server is stopping; look before you repeat",
                )
            }
            _ => Refusal::new(Code::Unavailable, "the store cannot be reached or written; try again"),
        };
        step.outcomes.extend(std::iter::repeat_n(Err(refusal), inputs));
    }
}

/// The parts of a step that its attempts share.
struct Work<'a> {
    chance: &'a mut dyn FnMut() -> [u8; 32],
    step: Step,
}

/// The result of an attempt to commit.
enum Committed {
    Done,
    /// There was no room for all the documents it needs.
    TooLarge,
}

/// The result of a transaction.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one a transaction, and it is nearly always the large one"
)]
enum Decided {
    Done {
        outcomes: Vec<Reply>,
        news: News,
        last_seq: u64,
    },
    /// Holds or definitions have changed since they were read: nothing was decided.
    Outdated {
        epoch: u64,
    },
    /// Versions that something follows are not at hand, because they were retired: nothing was decided.
    Missing(BTreeSet<(Name, u32)>),
    /// Documents that were needed had no room: nothing was decided.
    Crowded,
}

impl Step {
    fn add(&mut self, outcomes: Vec<Reply>, news: News, last_seq: u64) {
        self.outcomes.extend(outcomes);
        for (task, count) in news.ready {
            *self.ready.entry(task).or_default() += count;
        }
        self.last_seq = (last_seq > 0).then_some(last_seq).or(self.last_seq);
        self.next_timer = [self.next_timer, news.next_timer].into_iter().flatten().min();
        self.received.add(&news.received);
        self.notes.append(news.notes);
        self.now = Some(news.now);
        (self.known, self.doubt) = (news.trust.known(), news.trust.doubt());
    }
}

/// Tells whether a batch can be decided in parts.
fn can_be_less(inputs: &[Input], due: usize) -> bool {
    match inputs {
        [] => due > 1,
        [one] => due > 1 || one.half().is_some(),
        _ => true,
    }
}

/// The lanes that are named more than once.
fn contested<'a>(lanes: impl Iterator<Item = &'a LaneKey>) -> HashSet<LaneKey> {
    let mut seen = HashSet::new();
    lanes.filter(|lane| !seen.insert(*lane)).cloned().collect()
}

/// Tells whether claims came away with less than they asked for, if there were any.
fn scarcity(inputs: &[Input], outcomes: &[Reply]) -> Option<bool> {
    let short = inputs.iter().zip(outcomes).filter_map(|(input, outcome)| match (&input.ask, outcome) {
        (Ask::Claim(claim), Ok(Output::Tasks(tasks))) => Some(tasks.len() < claim.max),
        _ => None,
    });
    short.reduce(|one, other| one || other)
}

fn limits_of(pipeline: &Pipeline, row: &Submission) -> Vec<LimitKey> {
    let key = |(label, value): (&Name, &Name)| LimitKey {
        pipeline: pipeline.name.clone(),
        label: label.clone(),
        value: value.clone(),
    };
    pipeline.limits_of(row).map(key).collect()
}

fn children_of(command: &Command) -> &[Admission] {
    match command {
        Command::Finish(finish) => &finish.children,
        Command::Spawn(spawn) => &spawn.children,
        _ => &[],
    }
}

fn open_key(admission: &Admission) -> Option<OpenKey> {
    let key = admission.key()?.clone();
    Some(OpenKey { pipeline: admission.pipeline().clone(), key })
}

/// The key of one whose payload has to be compared with that of whoever has it.
fn compared_key(admission: &Admission) -> Option<OpenKey> {
    open_key(admission).filter(|_| admission.is_compared())
}

/// Tells whether a submission has one of these keys, held or not: it may take it back in the same commit.
fn has_key_of(keys: &HashSet<OpenKey>, row: &Submission) -> bool {
    let key = row.key.as_ref().filter(|_| !keys.is_empty());
    key.is_some_and(|key| keys.contains(&OpenKey { pipeline: row.pipeline.clone(), key: key.clone() }))
}

fn lane_key(admission: &Admission) -> Option<LaneKey> {
    let lane = admission.lane()?.clone();
    Some(LaneKey { pipeline: admission.pipeline().clone(), lane })
}
