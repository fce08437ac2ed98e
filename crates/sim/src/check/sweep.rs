//! The whole store against the book: everything is there, nothing else is, and every index says the same.

use std::collections::BTreeMap;

use model::submission::Wait;
use model::{Name, SubmissionId, Time};
use store::entries::Stand;
use store::{
    Changes, Count, Entries, Feed, LaneKey, Line, OpenKey, PARKED_MAX, Query, Ready, RegistryKey, Store, Take,
};

use super::ledger::Ledger;
use super::{Checked, ensure, reasons};

const PAGE: usize = 100;
const ALL: usize = 100_000;

impl Ledger {
    /// Reads everything. To be called when nothing is under way.
    pub(crate) fn sweep(&self, store: &dyn Store, now: Time) -> Checked {
        let checks = [sequence, rows, histories, counts, indexes, lines, owed, registry];
        checks.into_iter().try_for_each(|check| check(self, store))?;
        reasons::check(self, store, now)
    }
}

fn unreadable(error: store::Error) -> String {
    format!("the store cannot be read: {error}")
}

fn sequence(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut read = 0;
    loop {
        let feed = Feed { after: read as u64, limit: PAGE, ..Feed::default() };
        let page = store.feed(&feed).map_err(unreadable)?.events;
        for recorded in &page {
            let same = recorded.seq == read as u64 + 1 && ledger.events.get(read) == Some(&recorded.event);
            ensure!(same, "position {} holds another event than it did", read + 1);
            read += 1;
        }
        if page.len() < PAGE {
            ensure!(read == ledger.events.len(), "{read} of {} events are left", ledger.events.len());
            return Ok(());
        }
    }
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
    for (id, known) in &ledger.known {
        let history = store.history(*id, 0, ALL).map_err(unreadable)?;
        let same = history
            .iter()
            .map(|recorded| &recorded.event)
            .eq(known.places.iter().map(|at| &ledger.events[*at]));
        ensure!(same, "the history of {id} is not what it was");
        let (row, documents) =
            store.submission(*id).map_err(unreadable)?.ok_or_else(|| format!("{id} is gone"))?;
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
            count: *count,
        })
        .collect();
    ensure!(counted == expected, "the counts are\n{counted:?}\nand a recount gives\n{expected:?}");
    Ok(())
}

/// Queues, timers and keys, through what a take shows of them.
fn indexes(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut queues: BTreeMap<Name, Vec<(i64, SubmissionId)>> = BTreeMap::new();
    let mut timers: Vec<(Time, SubmissionId)> = Vec::new();
    for row in ledger.rows() {
        if let Wait::Worker { task, rank } = &row.wait
            && row.parked.is_none()
        {
            queues.entry(task.clone()).or_default().push((*rank, row.id));
        }
        timers.extend(row.timer.map(|at| (at, row.id)));
    }
    queues.values_mut().for_each(|queue| queue.sort_unstable());
    timers.sort_unstable();
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
    let take = Take { ready: queues.keys().map(ready).collect(), due: ALL, keys, ..Take::nothing() };
    let mut checked = Ok(());
    let committed = store.transact(&take, &mut |taken| {
        checked = (|| {
            let queued: Vec<Vec<SubmissionId>> =
                queues.values().map(|queue| queue.iter().map(|(_, id)| *id).collect()).collect();
            ensure!(taken.ready == queued, "the queues are\n{:?}\nand should be\n{queued:?}", taken.ready);
            let due: Vec<SubmissionId> =
                timers.iter().take_while(|(at, _)| *at <= taken.now).map(|(_, id)| *id).collect();
            ensure!(taken.due == due, "due is\n{:?}\nand should be\n{due:?}", taken.due);
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

/// What is owed, and what holds have parked.
fn owed(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut checked = Ok(());
    let committed = store.transact(&Take { owed: ALL, ..Take::nothing() }, &mut |taken| {
        checked = (|| {
            let mut stored = taken.owed.clone();
            stored.sort_by(|one, other| one.id.cmp(&other.id));
            let known: Vec<_> = ledger.debts.open.values().cloned().collect();
            ensure!(stored == known, "what is owed is\n{stored:?}\nand should be\n{known:?}");
            for (hold, parked) in taken.parked {
                let known: Vec<_> = ledger.rows().filter(|row| row.parked.as_ref() == Some(&hold)).collect();
                let known: Vec<_> = known.into_iter().map(|row| row.id).take(PARKED_MAX).collect();
                ensure!(parked == known, "hold {hold} parked\n{parked:?}\nand not\n{known:?}");
            }
            Ok(())
        })();
        Changes::default()
    });
    committed.map_err(unreadable)?;
    checked
}

fn registry(ledger: &Ledger, store: &dyn Store) -> Checked {
    let stored: BTreeMap<_, _> = store.registry("pipeline").map_err(unreadable)?.into_iter().collect();
    ensure!(stored == ledger.registry, "the registry of pipelines is not what was applied");
    let holds: Vec<_> = store.registry("hold").map_err(unreadable)?.into_iter().map(|(id, _)| id).collect();
    let known: Vec<_> = ledger.holds.keys().map(ToString::to_string).collect();
    ensure!(holds == known, "the holds are\n{holds:?}\nand should be\n{known:?}");
    let take = Take {
        registry: stored
            .keys()
            .map(|name| RegistryKey { kind: "pipeline".to_owned(), name: name.clone() })
            .collect(),
        ..Take::nothing()
    };
    let mut taken = 0;
    let committed = store.transact(&take, &mut |found| {
        taken = found.registry.len();
        Changes::default()
    });
    committed.map_err(unreadable)?;
    ensure!(taken == stored.len(), "{taken} of {} definitions can be taken", stored.len());
    Ok(())
}
