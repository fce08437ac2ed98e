//! The raw loop: the same tables, the same statements, the same bytes, batches and syncs, and nothing else. No queue, no
//! decision, no JSON: what the store could do if the engine cost nothing.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use engine::SystemClock;
use rusqlite::{Connection, Transaction};
use store_sqlite::SqliteStore;

use crate::pipelines::payload;
use crate::stopwatch::now;
use crate::workload::Rate;

macro_rules! statement {
    ($name:literal) => {
        include_str!(concat!("../../store-sqlite/src/sql/", $name, ".sql"))
    };
}

const PIPELINE: &str = "raw";
const STATES: usize = 6;
/// The settings that the store has.
const SETTINGS: &str = "
PRAGMA journal_mode = wal;
PRAGMA synchronous = full;
PRAGMA cache_size = -16384;
PRAGMA temp_store = memory;
PRAGMA wal_autocheckpoint = 4000;
";

/// The data that the engine writes for one submission, taken from a store the engine has written.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    row: String,
    leaf: Vec<u8>,
    detail: Vec<u8>,
}

impl Sample {
    /// Reads it from a folder whose store is closed.
    pub(crate) fn read(folder: &Path) -> Result<Sample> {
        let connection = Connection::open(database(folder)?)?;
        let (seq, row) = connection
            .query_row("SELECT last_seq, row FROM submission ORDER BY length(row) DESC LIMIT 1", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get(1)?))
            })
            .context("the sample has no submission")?;
        let event = "SELECT leaf, detail FROM event WHERE seq = ?1";
        let (leaf, detail) = connection.query_row(event, [seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Sample { row, leaf, detail })
    }
}

/// The one database file of a folder.
fn database(folder: &Path) -> Result<std::path::PathBuf> {
    let files = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut databases = files.filter(|path| path.extension().is_some_and(|extension| extension == "db"));
    databases.next().context("the folder holds no database")
}

#[derive(Debug)]
pub(crate) struct RawLoop {
    connection: Connection,
    sample: Sample,
    next_id: u128,
    next_seq: i64,
}

impl RawLoop {
    pub(crate) fn open(folder: &Path, sample: Sample) -> Result<RawLoop> {
        drop(SqliteStore::open(folder, Arc::new(SystemClock::new()))?);
        let connection = Connection::open(database(folder)?)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(SETTINGS)?;
        for state in 0..STATES {
            let counter =
                "INSERT INTO counter (pipeline, state, status, count) VALUES (?1, ?2, 'open', 1000000000)";
            connection.execute(counter, (PIPELINE, name(state)))?;
        }
        Ok(RawLoop { connection, sample, next_id: 1 << 100, next_seq: 1 })
    }

    /// Inserts so many submissions, `batch` to a commit.
    pub(crate) fn submits(&mut self, count: usize, batch: usize) -> Result<Rate> {
        let began = now();
        for begin in (0..count).step_by(batch) {
            let RawLoop { connection, sample, next_id, next_seq } = self;
            let transaction = connection.transaction()?;
            for _ in begin..(begin + batch).min(count) {
                *next_id += 1 << 40;
                *next_seq += 1;
                submit(&transaction, sample, &next_id.to_be_bytes(), *next_seq)?;
            }
            transaction.prepare_cached(statement!("counter_add"))?.execute((PIPELINE, name(0), "open", 1))?;
            transaction.commit()?;
        }
        Ok(Rate { count, took: began.elapsed() })
    }

    /// Claims and finishes every task of everything submitted, `steps` tasks to a submission, `batch` to a commit.
    pub(crate) fn steps(&mut self, steps: usize, batch: usize) -> Result<Rate> {
        let began = now();
        let mut count = 0;
        for step in 0..steps {
            let last = step + 1 == steps;
            loop {
                let claimed = self.claim(step, batch)?;
                if claimed.is_empty() {
                    break;
                }
                count += claimed.len();
                self.finish(step, &claimed, last)?;
            }
        }
        Ok(Rate { count, took: began.elapsed() })
    }

    fn claim(&mut self, step: usize, batch: usize) -> Result<Vec<Claimed>> {
        let RawLoop { connection, sample, .. } = self;
        let transaction = connection.transaction()?;
        let claimed = ready(&transaction, step, batch)?;
        for claimed in &claimed {
            let id = claimed.id.as_slice();
            let version = read(&transaction, id)?;
            documents(&transaction, id)?;
            update(&transaction, sample, id, version, None)?;
            let entry = (name(step), PIPELINE, claimed.rank, id);
            transaction.prepare_cached(statement!("ready_delete"))?.execute(entry)?;
            transaction.prepare_cached(statement!("timer_insert"))?.execute((0, claimed.rank, id))?;
        }
        transaction.commit()?;
        Ok(claimed)
    }

    fn finish(&mut self, step: usize, claimed: &[Claimed], last: bool) -> Result<()> {
        let RawLoop { connection, sample, next_seq, .. } = self;
        let transaction = connection.transaction()?;
        for claimed in claimed {
            let id = claimed.id.as_slice();
            *next_seq += 1;
            let version = read(&transaction, id)?;
            event(&transaction, sample, *next_seq, name(step + 1))?;
            update(&transaction, sample, id, version, Some(*next_seq))?;
            let place = (PIPELINE, name(step), "open", id);
            transaction.prepare_cached(statement!("place_delete"))?.execute(place)?;
            let place = (PIPELINE, name(step + 1), "open", id);
            transaction.prepare_cached(statement!("place_insert"))?.execute(place)?;
            transaction.prepare_cached(statement!("timer_delete"))?.execute((0, claimed.rank, id))?;
            if !last {
                let entry = (name(step + 1), PIPELINE, claimed.rank, id);
                transaction.prepare_cached(statement!("ready_insert"))?.execute(entry)?;
            }
        }
        let mut add = transaction.prepare_cached(statement!("counter_add"))?;
        add.execute((PIPELINE, name(step), "open", -1))?;
        add.execute((PIPELINE, name(step + 1), "open", 1))?;
        drop(add);
        Ok(transaction.commit()?)
    }
}

#[derive(Debug)]
struct Claimed {
    rank: i64,
    id: Vec<u8>,
}

fn name(state: usize) -> &'static str {
    ["s1", "s2", "s3", "s4", "s5", "done"][state]
}

fn submit(transaction: &Transaction<'_>, sample: &Sample, id: &[u8], seq: i64) -> Result<()> {
    event(transaction, sample, seq, name(0))?;
    transaction.prepare_cached(statement!("submission_insert"))?.execute((id, seq, &sample.row))?;
    transaction.prepare_cached(statement!("place_insert"))?.execute((PIPELINE, name(0), "open", id))?;
    transaction.prepare_cached(statement!("ready_insert"))?.execute((name(0), PIPELINE, seq, id))?;
    transaction.prepare_cached(statement!("document_set"))?.execute((id, "payload", payload()))?;
    Ok(())
}

fn event(transaction: &Transaction<'_>, sample: &Sample, seq: i64, state: &str) -> Result<()> {
    let Sample { leaf, detail, .. } = sample;
    let none: Option<&str> = None;
    let event = (seq, seq - 1, 1, PIPELINE, state, none, leaf, detail);
    transaction.prepare_cached(statement!("event_insert"))?.execute(event)?;
    Ok(())
}

fn ready(transaction: &Transaction<'_>, step: usize, batch: usize) -> Result<Vec<Claimed>> {
    let mut page = transaction.prepare_cached(statement!("ready_page"))?;
    let from: &[u8] = &[];
    let rows = page.query_map((name(step), PIPELINE, 0, from, i64::try_from(batch)?), |row| {
        Ok(Claimed { rank: row.get(0)?, id: row.get(1)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read(transaction: &Transaction<'_>, id: &[u8]) -> Result<i64> {
    let mut by_id = transaction.prepare_cached(statement!("submission_by_id"))?;
    let (version, _row) = by_id.query_row([id], |row| Ok((row.get(0)?, row.get::<_, String>(2)?)))?;
    Ok(version)
}

fn documents(transaction: &Transaction<'_>, id: &[u8]) -> Result<()> {
    let mut all = transaction.prepare_cached(statement!("document_all"))?;
    let bodies = all.query_map([id], |row| row.get::<_, String>(1))?;
    for body in bodies {
        body?;
    }
    Ok(())
}

fn update(
    transaction: &Transaction<'_>,
    sample: &Sample,
    id: &[u8],
    version: i64,
    seq: Option<i64>,
) -> Result<()> {
    transaction.prepare_cached(statement!("submission_update"))?.execute((id, version, seq, &sample.row))?;
    Ok(())
}
