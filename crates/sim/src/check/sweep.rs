//! The whole store against the book: everything is there, nothing else is, and every index says the same.

use std::collections::BTreeMap;

use model::submission::Wait;
use model::{Name, SubmissionId, Time};
use store::{Changes, Count, OpenKey, Query, Ready, RegistryKey, Store, Take};

use super::ledger::Ledger;
use super::{Checked, ensure};

const PAGE: usize = 100;
const ALL: usize = 100_000;

impl Ledger {
    /// Reads everything. To be called when nothing is under way.
    pub(crate) fn sweep(&self, store: &dyn Store) -> Checked {
        let checks = [sequence, rows, histories, counts, indexes, registry];
        checks.into_iter().try_for_each(|check| check(self, store))
    }
}

fn unreadable(error: store::Error) -> String {
    format!("the store cannot be read: {error}")
}

fn sequence(ledger: &Ledger, store: &dyn Store) -> Checked {
    let mut read = 0;
    loop {
        let page = store.events(read as u64, PAGE).map_err(unreadable)?;
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
        if let Wait::Worker { task, rank } = &row.wait {
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

fn registry(ledger: &Ledger, store: &dyn Store) -> Checked {
    let stored: BTreeMap<_, _> = store.registry("pipeline").map_err(unreadable)?.into_iter().collect();
    ensure!(stored == ledger.registry, "the registry of pipelines is not what was applied");
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
