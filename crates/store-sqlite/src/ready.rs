//! The queues of submissions that wait for a worker.
//!
//! They are a table, not a set in memory. Kept in memory alone, unwritten, they made W3 of `milepost bench` 3 % faster (36,500
//! instead of 35,400 steps a second) and W2 no faster (22,300 and 22,300). The price would be to read every waiting row before
//! the first claim after a restart, and memory that grows with the backlog.

use std::collections::{BTreeSet, HashSet};

use model::{Name, SubmissionId};
use rusqlite::{Connection, OptionalExtension};
use store::Ready;
use uuid::Uuid;

use crate::codec;
use crate::error::Result;
use crate::index_walk::{Index, Key, Walk};
use crate::sql;

/// A place in a queue: rank, then id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(i64, u128);

impl Turn {
    const FIRST: Turn = Turn(i64::MIN, 0);

    fn id(self) -> SubmissionId {
        SubmissionId(Uuid::from_u128(self.1))
    }
}

impl Key for Turn {
    fn next(self) -> Option<Turn> {
        match self.1.checked_add(1) {
            Some(id) => Some(Turn(self.0, id)),
            None => Some(Turn(self.0.checked_add(1)?, 0)),
        }
    }
}

/// A task's queue within a pipeline: all of it, or what has a label's value.
struct Queue<'a> {
    task: &'a str,
    pipeline: Name,
    label: Option<(&'a str, &'a str)>,
}

impl Index for Queue<'_> {
    type Key = Turn;

    fn page(&self, connection: &Connection, from: Turn, limit: usize) -> Result<Vec<Turn>> {
        let Queue { task, pipeline, label } = self;
        let (rank, id, limit) = (from.0, from.1.to_be_bytes(), codec::limit(limit));
        let turn = |row: &rusqlite::Row<'_>| Ok(Turn(row.get(0)?, u128::from_be_bytes(row.get(1)?)));
        let turns = match label {
            None => connection
                .prepare_cached(sql::READY_PAGE)?
                .query_map((task, pipeline, rank, id, limit), turn)?
                .collect::<rusqlite::Result<_>>(),
            Some((name, value)) => connection
                .prepare_cached(sql::READY_LABEL_PAGE)?
                .query_map((task, pipeline, name, value, rank, id, limit), turn)?
                .collect(),
        };
        Ok(turns?)
    }
}

/// Hands out waiting submissions, each once.
pub(crate) struct Dealer<'a> {
    connection: &'a Connection,
    handed: HashSet<SubmissionId>,
    /// Hands that many ask for in the same words, as the workers of one task do, go on where the last one stopped.
    lines: Vec<QueueWalk<'a>>,
}

struct QueueWalk<'a> {
    wanted: &'a Ready,
    walk: Walk<Queue<'a>>,
    /// Everybody before this was handed out.
    from: Option<Turn>,
}

impl<'a> Dealer<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Dealer { connection, handed: HashSet::new(), lines: Vec::new() }
    }

    pub(crate) fn deal(&mut self, wanted: &'a Ready) -> Result<Vec<SubmissionId>> {
        let known = self.lines.iter().position(|line| same(line.wanted, wanted));
        let line = match known {
            Some(position) => &mut self.lines[position],
            None => {
                let walk = queues(self.connection, wanted)?;
                self.lines.push(QueueWalk { wanted, walk, from: Some(Turn::FIRST) });
                self.lines.last_mut().expect("pushed just now")
            }
        };
        let mut hand = Vec::new();
        while hand.len() < wanted.max
            && let Some(from) = line.from
        {
            let Some(turn) = line.walk.seek(self.connection, from)? else { break };
            line.from = turn.next();
            if self.handed.insert(turn.id()) {
                hand.push(turn.id());
            }
        }
        Ok(hand)
    }
}

fn same(one: &Ready, other: &Ready) -> bool {
    one.tasks == other.tasks && one.pipelines == other.pipelines && one.labels == other.labels
}

fn queues<'a>(connection: &Connection, wanted: &'a Ready) -> Result<Walk<Queue<'a>>> {
    let mut queues = Vec::new();
    for task in wanted.tasks.iter().collect::<BTreeSet<_>>() {
        let pipelines = match wanted.pipelines.is_empty() {
            true => pipelines_of(connection, task)?,
            false => wanted.pipelines.iter().cloned().collect(),
        };
        for pipeline in pipelines {
            let along = |label| Walk::along(Queue { task, pipeline: pipeline.clone(), label });
            let mut labels = wanted.labels.iter().map(|(name, value)| along(Some((&**name, &**value))));
            queues.push(match wanted.labels.len() {
                0 => along(None),
                _ => Walk::All(labels.by_ref().collect()),
            });
        }
    }
    Ok(Walk::Any(queues))
}

/// The pipelines that have the task waiting.
fn pipelines_of(connection: &Connection, task: &str) -> Result<BTreeSet<Name>> {
    let mut pipelines = BTreeSet::new();
    let mut next = connection.prepare_cached(sql::READY_NEXT_PIPELINE)?;
    let mut from = String::new();
    while let Some(pipeline) = next.query_row((task, &from), |row| row.get::<_, Name>(0)).optional()? {
        // No text lies between this one and the pipeline's name.
        from = format!("{pipeline}\0");
        pipelines.insert(pipeline);
    }
    Ok(pipelines)
}
