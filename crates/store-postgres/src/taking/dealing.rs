//! Handing out rows that whoever comes first may have: those that wait for a worker, those whose time has come, those
//! somebody owes something.
//!
//! The index tables say who comes next; a row is had by locking it. What another server has locked is passed over, and
//! the next one tried.

use std::collections::{BTreeSet, HashSet, VecDeque};

use model::{SubmissionId, Time};
use store::{Entries, OwedTo, READY_BYTES_MAX, Ready, TimerEntry};

use super::side_tables;
use super::{LOOK_AGAIN_MS, Taker};
use crate::codec::{self, Found, text};
use crate::error::Result;
use crate::query::{Client, rows};
use crate::sql;

/// The number of rows read beyond those wanted, for those that others have.
const MARGIN: usize = 64;

/// A claim and those who wait for it, lowest rank first.
pub(super) struct QueueWalk<'t> {
    wanted: &'t Ready,
    waiting: VecDeque<(i64, SubmissionId)>,
    /// The number of rows asked for, if there may be more.
    page: Option<usize>,
    hand: Vec<SubmissionId>,
}

impl<'t> QueueWalk<'t> {
    pub(super) async fn read(client: &Client, wanted: &'t Ready) -> Result<QueueWalk<'t>> {
        let mut line = QueueWalk { wanted, waiting: VecDeque::new(), page: None, hand: Vec::new() };
        if wanted.max > 0 {
            line.look(client, wanted.max + wanted.max.min(MARGIN)).await?;
        }
        Ok(line)
    }

    /// The first so many, from the beginning: those of each queue together have the first of all.
    async fn look(&mut self, client: &Client, page: usize) -> Result<()> {
        let tasks: BTreeSet<_> = self.wanted.tasks.iter().collect();
        let pipelines: BTreeSet<_> = self.wanted.pipelines.iter().collect();
        let (mut of_task, mut of_pipeline) = (Vec::new(), Vec::new());
        for task in tasks {
            for pipeline in pipelines.iter().map(Some).chain(pipelines.is_empty().then_some(None)) {
                of_task.push(text(task));
                of_pipeline.push(pipeline.map(|name| text(name)));
            }
        }
        if of_task.is_empty() {
            return Ok(());
        }
        let limit = codec::limit(page);
        let found = if self.wanted.labels.is_empty() {
            rows(client, sql::READY_PAGE, &[&of_task, &of_pipeline, &limit]).await?
        } else {
            let names: Vec<_> = self.wanted.labels.keys().map(|name| text(name)).collect();
            let values: Vec<_> = self.wanted.labels.values().map(|value| text(value)).collect();
            let parameters: crate::query::Parameters<'_> = &[&of_task, &of_pipeline, &limit, &names, &values];
            rows(client, sql::READY_LABEL_PAGE, parameters).await?
        };
        let turns: Result<BTreeSet<_>> =
            found.iter().map(|row| Ok((row.try_get(0)?, codec::id(row, 1)?))).collect();
        self.waiting = turns?.into_iter().take(page).collect();
        self.page = (self.waiting.len() == page).then_some(page);
        Ok(())
    }

    fn missing(&self) -> usize {
        self.wanted.max - self.hand.len()
    }

    /// Tells whether the row still waits for this claim: another may have had it since the queue was read.
    fn fits(&self, rank: i64, found: &Found) -> bool {
        let Ready { tasks, pipelines, labels, .. } = self.wanted;
        let row = &found.row;
        Entries::of(row).ready.is_some_and(|ready| ready.rank == rank && tasks.contains(&ready.task))
            && (pipelines.is_empty() || pipelines.contains(&row.pipeline))
            && labels.iter().all(|(label, value)| row.labels.get(label) == Some(value))
    }
}

/// Timers, earliest first.
pub(super) struct Timers {
    idle: bool,
    max: usize,
    waiting: Vec<(Time, SubmissionId)>,
    /// The number of timers that were tried.
    tried: usize,
    hand: Vec<SubmissionId>,
    /// Some that are due were another's.
    passed_over: bool,
}

impl Timers {
    pub(super) async fn read(client: &Client, idle: bool, max: usize) -> Result<Timers> {
        let limit = codec::limit(max.saturating_mul(4).saturating_add(1));
        let found = rows(client, sql::TIMER_FIRST, &[&idle, &limit]).await?;
        let waiting = found.iter().map(|row| Ok((codec::time(row, 0)?, codec::id(row, 1)?)));
        let waiting = waiting.collect::<Result<_>>()?;
        Ok(Timers { idle, max, waiting, tried: 0, hand: Vec::new(), passed_over: false })
    }

    fn pick(&mut self, now: Time) -> Vec<(Time, SubmissionId)> {
        let due = self.waiting[self.tried..].iter().take_while(|(at, _)| *at <= now);
        let picked: Vec<_> = due.take(self.max - self.hand.len()).copied().collect();
        self.tried += picked.len();
        picked
    }

    fn accept(&mut self, picked: &[(Time, SubmissionId)], taker: &Taker<'_>) {
        for &(at, id) in picked {
            let timer = Some(TimerEntry { idle: self.idle, at });
            match taker.rows.get(&id).filter(|_| taker.is_locked(id)) {
                Some(found) if Entries::of(&found.row).timer == timer => self.hand.push(id),
                Some(_) => {}
                None => self.passed_over = true,
            }
        }
    }

    /// The earliest that was not taken.
    fn next(&self, now: Time) -> Option<Time> {
        let next = self.waiting.get(self.tried).map(|(at, _)| *at);
        let again = self.passed_over.then(|| Time::from_millis(now.millis() + LOOK_AGAIN_MS));
        [next, again].into_iter().flatten().min()
    }
}

impl Taker<'_> {
    /// One statement locks what everybody is to have. It is repeated while somebody has too little and there is more.
    pub(super) async fn deal(
        &mut self,
        lines: &mut [QueueWalk<'_>],
        due: &mut Timers,
        idle: &mut Timers,
    ) -> Result<()> {
        let mut tried: HashSet<SubmissionId> = HashSet::new();
        let mut targets: Vec<SubmissionId> = self.targets();
        loop {
            let hands = pick_hands(lines, &mut tried);
            let timed = [due.pick(self.taken.now), idle.pick(self.taken.now)];
            let wanted = hands.iter().flatten().map(|(_, id)| *id);
            let wanted = wanted.chain(timed.iter().flatten().map(|(_, id)| *id)).chain(targets.drain(..));
            let wanted: BTreeSet<_> = wanted.collect();
            if wanted.is_empty() && !self.read_on(lines).await? {
                break;
            }
            self.lock_free(wanted).await?;
            for (line, hand) in lines.iter_mut().zip(&hands) {
                let fits = |(rank, id): &&(i64, SubmissionId)| {
                    self.is_locked(*id) && self.rows.get(id).is_some_and(|found| line.fits(*rank, found))
                };
                let had: Vec<_> = hand.iter().filter(fits).map(|(_, id)| *id).collect();
                line.hand.extend(had);
            }
            due.accept(&timed[0], self);
            idle.accept(&timed[1], self);
        }
        (self.taken.due, self.taken.next_timer) = (std::mem::take(&mut due.hand), due.next(self.taken.now));
        (self.taken.idle, self.taken.next_idle) = (std::mem::take(&mut idle.hand), idle.next(self.taken.now));
        self.postpone_busy_targets().await
    }

    /// Looks further along lines whose page was used up. Returns whether there was one.
    async fn read_on(&self, lines: &mut [QueueWalk<'_>]) -> Result<bool> {
        let mut any = false;
        for line in lines.iter_mut().filter(|line| line.missing() > 0) {
            if let Some(page) = line.page {
                line.look(self.client, page * 4).await?;
                any = true;
            }
        }
        Ok(any)
    }

    fn targets(&self) -> Vec<SubmissionId> {
        let targets = self.taken.owed.iter().filter_map(|owed| match owed.to {
            OwedTo::Submission(id) => Some(id),
            _ => None,
        });
        targets.collect()
    }

    /// One that does not exist is told nothing, but one that somebody else has in hand must not be taken for that.
    async fn postpone_busy_targets(&mut self) -> Result<()> {
        let missing: Vec<_> = self.targets().into_iter().filter(|id| !self.is_locked(*id)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let busy = rows(self.client, sql::SUBMISSION_BY_ID, &[&codec::ids(&missing)]).await?;
        let busy = busy.iter().map(|row| codec::id(row, 0)).collect::<Result<HashSet<_>>>()?;
        self.postpone(|to| matches!(to, OwedTo::Submission(id) if busy.contains(id)));
        Ok(())
    }

    /// Ready rows with their documents, which go to workers, until there is enough for one take.
    pub(super) async fn bring_ready(&mut self, lines: Vec<QueueWalk<'_>>) -> Result<()> {
        self.taken.ready = lines.into_iter().map(|line| line.hand).collect();
        let ids: Vec<_> = self.taken.ready.iter().flatten().copied().collect();
        let (documents, bytes) = side_tables::documents_within(self.client, &ids, READY_BYTES_MAX).await?;
        self.taken.ready.iter_mut().for_each(|ids| ids.retain(|id| documents.contains_key(id)));
        (self.documents, self.bytes) = (documents, bytes);
        Ok(())
    }
}

/// Picks as many for each line as it misses, nobody twice.
fn pick_hands(
    lines: &mut [QueueWalk<'_>],
    tried: &mut HashSet<SubmissionId>,
) -> Vec<Vec<(i64, SubmissionId)>> {
    let mut hands = Vec::with_capacity(lines.len());
    for line in lines {
        let mut hand = Vec::new();
        let missing = line.missing();
        while hand.len() < missing
            && let Some(turn) = line.waiting.pop_front()
        {
            if tried.insert(turn.1) {
                hand.push(turn);
            }
        }
        hands.push(hand);
    }
    hands
}
