//! The whole store against the book: everything is there, nothing else is, and every index says the same.

use std::collections::{BTreeMap, BTreeSet};

use model::submission::Wait;
use model::{Name, SubmissionId, Time};
use store::entries::Stand;
use store::{
    Changes, Count, Entries, Feed, LaneKey, LimitKey, Line, OpenKey, OwedTo, Query, Ready, RegistryKey,
    Store, Take,
};

use super::ledger::Ledger;
use super::{Checked, clocks, ensure, reasons, reviewed};
use crate::finding::{Finding, finding};

const PAGE: usize = 100;
const ALL: usize = 100_000;

impl Ledger {
    /// Reads everything. To be called when nothing is under way.
    pub(crate) fn sweep(&self, store: &dyn Store, now: Time) -> Checked {
        let checks = [sequence, leaves, rows, histories, counts, indexes, lines, owed, slots, registry];
        checks.into_iter().try_for_each(|check| check(self, store))?;
        clocks::listed(self, store, now)?;
        reviewed::listed(self, store)?;
        reasons::check(self, now)
    }
}

fn unreadable(error: store::Error) -> Finding {
    finding!("the store cannot be read: {error}")
}

fn sequence(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut read = ledger.retired();
    let mut after = ledger.retired_through();
    loop {
        let page = store.feed(&Feed { after, limit: PAGE, ..Feed::default() }).map_err(unreadable)?;
        let oldest = ledger.retired_through() + 1;
        ensure!(page.oldest == oldest, "the oldest event is at {} and not at {oldest}", page.oldest);
        let is_last = page.next == after;
        after = page.next;
        for recorded in &page.events {
            let known = ledger.seqs.get(read).zip(ledger.events.get(read));
            let same = known == Some((&recorded.seq, &recorded.event));
            ensure!(same, "position {} holds another event than it did", recorded.seq);
            read += 1;
        }
        if is_last {
            ensure!(read == ledger.events.len(), "{read} of {} events are left", ledger.events.len());
            return Ok(());
        }
    }
}

/// Whatever was not let go is there to the letter, acts included.
fn leaves(ledger: &Ledger, store: &dyn Store) -> Checked {
    let page = store.leaves(0, ledger.leaves.len() + 1).map_err(unreadable)?;
    let oldest = ledger.retired_through() + 1;
    ensure!(page.first == oldest, "the oldest leaf is at {} and not at {oldest}", page.first);
    let kept = &ledger.leaves[ledger.leaves.len() - page.leaves.len().min(ledger.leaves.len())..];
    ensure!(page.leaves == kept, "the leaves are not those that were committed");
    Ok(())
}

fn rows(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut query = Query { limit: PAGE, ..Query::default() };
    let mut expected = ledger.known.values().rev();
    loop {
        let page = store.find(&query).map_err(unreadable)?;
        for row in &page.rows {
            let known = expected.next().map(|known| &known.row);
            ensure!(known == Some(row), "the store lists\n{row:?}\nwhere there should be\n{known:?}");
        }
        query.after = page.rows.last().map(|row| row.id);
        if !page.more {
            ensure!(expected.next().is_none(), "the store lists fewer submissions than were made");
            return Ok(());
        }
    }
}

fn histories(ledger: &Ledger, store: &dyn Store) -> Checked {
    for (id, known) in ledger.known.iter().chain(&ledger.gone) {
        let history = store::history_all(store, *id).map_err(unreadable)?;
        let kept = known.places.iter().filter(|at| **at >= ledger.retired()).map(|at| &ledger.events[*at]);
        let same = history.iter().map(|recorded| &recorded.event).eq(kept);
        ensure!(same, "the history of {id} is not what it was");
        let stored = store.submission(*id).map_err(unreadable)?;
        if ledger.gone.contains_key(id) {
            ensure!(stored.is_none(), "{id} was forgotten and is back");
            continue;
        }
        let (row, documents) = stored.ok_or_else(|| finding!("{id} is gone"))?;
        ensure!(row == known.row && documents == known.documents, "{id} is not as it was");
    }
    Ok(())
}

fn counts(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut counted = store.counts().map_err(unreadable)?;
    counted.sort();
    let expected: Vec<Count> = ledger
        .counts
        .iter()
        .map(|(place, count)| Count {
            pipeline: place.pipeline.clone(),
            state: place.state.clone(),
            status: place.status,
            investigation: place.investigation,
            count: *count,
        })
        .collect();
    ensure!(counted == expected, "the counts are\n{counted:?}\nand a recount gives\n{expected:?}");
    Ok(())
}

/// Queues, timers and keys, through what a take shows of them.
fn indexes(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut queues: BTreeMap<Name, Vec<(i64, SubmissionId)>> = BTreeMap::new();
    let (mut timers, mut idle): (Vec<(Time, SubmissionId)>, Vec<_>) = (Vec::new(), Vec::new());
    for row in ledger.rows() {
        if let Wait::Worker { task, rank } = &row.wait
            && row.parked.is_none()
        {
            queues.entry(task.clone()).or_default().push((*rank, row.id));
        }
        let timers = if row.status.is_final() { &mut idle } else { &mut timers };
        timers.extend(row.timer.map(|at| (at, row.id)));
    }
    queues.values_mut().for_each(|queue| queue.sort_unstable());
    timers.sort_unstable();
    idle.sort_unstable();
    let ready = |task: &Name| Ready {
        tasks: vec![task.clone()],
        pipelines: vec![],
        labels: BTreeMap::new(),
        max: ALL,
    };
    let keys: Vec<OpenKey> = ledger
        .known
        .values()
        .filter_map(|known| {
            Some(OpenKey { pipeline: known.row.pipeline.clone(), key: known.row.key.clone()? })
        })
        .collect();
    let take =
        Take { ready: queues.keys().map(ready).collect(), due: ALL, idle: ALL, keys, ..Take::nothing() };
    let mut checked = Ok(());
    let committed = store.transact(&take, &mut |taken| {
        checked = (|| {
            let queued: Vec<Vec<SubmissionId>> =
                queues.values().map(|queue| queue.iter().map(|(_, id)| *id).collect()).collect();
            ensure!(taken.ready == queued, "the queues are\n{:?}\nand should be\n{queued:?}", taken.ready);
            let due: Vec<SubmissionId> =
                timers.iter().take_while(|(at, _)| *at <= taken.now).map(|(_, id)| *id).collect();
            ensure!(taken.due == due, "due is\n{:?}\nand should be\n{due:?}", taken.due);
            let over: Vec<SubmissionId> =
                idle.iter().take_while(|(at, _)| *at <= taken.now).map(|(_, id)| *id).collect();
            ensure!(taken.idle == over, "ended and due is\n{:?}\nand should be\n{over:?}", taken.idle);
            let next_idle = idle.get(over.len()).map(|(at, _)| *at);
            ensure!(taken.next_idle == next_idle, "the next to clear up is at {:?}", taken.next_idle);
            let next = timers.get(due.len()).map(|(at, _)| *at);
            ensure!(
                taken.next_timer == next,
                "the next timer is {:?} and should be {next:?}",
                taken.next_timer
            );
            let held: BTreeMap<_, _> = taken.holders.into_iter().collect();
            ensure!(
                held == ledger.keys,
                "the holders of keys are\n{held:?}\nand should be\n{:?}",
                ledger.keys
            );
            Ok(())
        })();
        Changes::default()
    });
    committed.map_err(unreadable)?;
    checked
}

/// Every lane with its holder and those in line, first first.
fn lines(ledger: &Ledger, store: &dyn Store) -> Checked {
    type Places = Vec<(Time, Name, SubmissionId)>;
    let mut lines: BTreeMap<LaneKey, (Line, Places)> = BTreeMap::new();
    for row in ledger.rows() {
        let Some(entry) = Entries::of(row).lane else { continue };
        let (line, waiting) = lines.entry(entry.key).or_default();
        match entry.stand {
            Stand::Holds => line.holder = Some(row.id),
            Stand::InLine { since, tie } => waiting.push((since, tie, row.id)),
        }
    }
    for (lane, (mut line, mut waiting)) in lines {
        waiting.sort_unstable();
        line.waiting = waiting.into_iter().map(|(_, _, id)| id).collect();
        let stored = store.line(&lane, ALL).map_err(unreadable)?;
        ensure!(stored == line, "the line of {lane:?} is\n{stored:?}\nand should be\n{line:?}");
    }
    Ok(())
}

/// Checks what is owed, and what holds have parked.
fn owed(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut checked = Ok(());
    let committed = store.transact(&Take { owed: ALL, parked: ALL, ..Take::nothing() }, &mut |taken| {
        checked = (|| {
            let mut stored = taken.owed.clone();
            stored.sort_by(|one, other| one.id.cmp(&other.id));
            let known: Vec<_> = ledger.debts.open.values().cloned().collect();
            ensure!(stored == known, "what is owed is\n{stored:?}\nand should be\n{known:?}");
            for (hold, parked) in taken.parked {
                let whole = taken.owed.iter().any(|owed| owed.to == OwedTo::Parked(hold.clone()));
                let most = if whole { ALL } else { 1 };
                let known = ledger.rows().filter(|row| row.parked.as_ref() == Some(&hold));
                let known: Vec<_> = known.map(|row| row.id).take(most).collect();
                ensure!(parked == known, "hold {hold} parked\n{parked:?}\nand not\n{known:?}");
            }
            Ok(())
        })();
        Changes::default()
    });
    committed.map_err(unreadable)?;
    checked
}

/// The slots of every limit, as a claim for all that waits would see them.
fn slots(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut known: BTreeMap<LimitKey, BTreeSet<u32>> = BTreeMap::new();
    for entry in ledger.rows().flat_map(|row| Entries::of(row).slots) {
        known.entry(entry.limit).or_default().insert(entry.no);
    }
    let waiting = ledger.rows().find_map(|row| Entries::of(row).ready);
    let Some(waiting) = waiting else { return Ok(()) };
    let (tasks, labels) = (vec![waiting.task], BTreeMap::new());
    let ready = vec![Ready { tasks, pipelines: Vec::new(), labels, max: 1 }];
    let all: Vec<LimitKey> = known.keys().cloned().collect();
    let limits = |_: &model::Submission| all.clone();
    let mut taken = BTreeMap::new();
    let committed = store.transact(&Take { ready, limits: &limits, ..Take::nothing() }, &mut |found| {
        taken = found.slots.into_iter().collect();
        Changes::default()
    });
    committed.map_err(unreadable)?;
    ensure!(taken == known, "the slots that are taken are\n{taken:?}\nand should be\n{known:?}");
    Ok(())
}

/// Every kind of entry, read in pages and taken one by one.
fn registry(ledger: &Ledger, store: &dyn Store) -> Checked {
    for (kind, known) in ledger.registry.kinds() {
        let stored = store::registry_all(store, kind).map_err(unreadable)?;
        let same = stored.iter().map(|(name, body)| (name, body)).eq(known);
        ensure!(same, "the registry of `{kind}` is\n{stored:?}\nand should be\n{known:?}");
        let key = |name: &String| RegistryKey { kind: kind.clone(), name: name.clone() };
        let take = Take { registry: known.keys().map(key).collect(), ..Take::nothing() };
        let mut taken = 0;
        let committed = store.transact(&take, &mut |found| {
            taken = found.registry.len();
            Changes::default()
        });
        committed.map_err(unreadable)?;
        ensure!(taken == known.len(), "{taken} of {} entries of `{kind}` can be taken", known.len());
    }
    Ok(())
}
