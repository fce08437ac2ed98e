//! Transactions.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use store::{Changes, Committed, Error, RETIRED_MAX, Take, Taken};

use crate::clock::Now;
use crate::codec::{limit, signed, unsigned};
use crate::connection::connect;
use crate::error::{Fault, Result};
use crate::partition;
use crate::query::{Client, execute, rows};
use crate::sql;
use crate::taking;
use crate::writing::Writing;

pub(crate) type Decide<'d> = &'d mut dyn FnMut(Taken) -> Changes;

/// The time a rollback may take. Then the connection is closed, which rolls back as well.
const ROLL_BACK: Duration = Duration::from_secs(5);

/// A connection that is closed unless it is known to be as it was: the server then rolls back what was left open.
pub(crate) struct Loan {
    connection: Option<Object>,
    clean: bool,
}

impl Loan {
    pub(crate) async fn of(pool: &Pool) -> Result<Loan> {
        Ok(Loan { connection: Some(connect(pool).await?), clean: false })
    }

    pub(crate) fn client(&self) -> &Client {
        self.connection.as_ref().expect("it is there until it is dropped")
    }

    /// Gives back a connection that is in no transaction.
    pub(crate) fn give_back(mut self) {
        self.clean = true;
    }

    async fn roll_back_after(self, fault: &Fault) {
        // Neither a reader nor one that says nothing is asked for anything more.
        if !fault.is_by_a_reader() && !matches!(fault, Fault::Silent(_)) {
            self.roll_back().await;
        }
    }

    async fn roll_back(self) {
        let rolled_back = async { Ok(self.client().batch_execute("ROLLBACK").await?) };
        if within(ROLL_BACK, rolled_back).await.is_ok() {
            self.give_back();
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take().filter(|_| !self.clean) {
            drop(Object::take(connection));
        }
    }
}

/// The pool, the clock and the patience that transactions are made with.
pub(crate) struct Ways<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) now: &'a Now,
    pub(crate) patience: Duration,
}

/// A database that does not answer is one that is away. What was waited for is dropped, and its connection with it.
pub(crate) async fn within<T>(patience: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    let answered = tokio::time::timeout(patience, work).await;
    answered.unwrap_or_else(|_| Err(Fault::Silent(patience)))
}

pub(crate) async fn transact(
    ways: &Ways<'_>,
    take: &Take<'_>,
    decide: Decide<'_>,
) -> Result<Committed, Error> {
    let patience = ways.patience;
    let loan = within(patience, Loan::of(ways.pool)).await.map_err(Fault::before_commit)?;
    let reading = match within(patience, taking::read(loan.client(), take, ways.now)).await {
        Ok(reading) => reading,
        Err(fault) => {
            loan.roll_back_after(&fault).await;
            return Err(fault.before_commit());
        }
    };
    let (certain, known) = ((take.certain)(reading.taken.now), reading.known);
    let changes = match catch_unwind(AssertUnwindSafe(|| decide(reading.taken))) {
        Ok(changes) => changes,
        Err(panic) => {
            loan.roll_back().await;
            resume_unwind(panic);
        }
    };
    let retired_before = changes.retired_before;
    let changes = Changes { retired_before: None, ..changes };
    let (mut batch, mut fewer_dead) = (None, Vec::new());
    if changes.is_empty() {
        // What was locked is let go. A commit would be synced to the disk for it.
        let rolled_back = async { Ok(loan.client().batch_execute("ROLLBACK").await?) };
        within(patience, rolled_back).await.map_err(Fault::before_commit)?;
    } else {
        let writing = Writing::new(loan.client(), &changes, &known, certain);
        if let Err(fault) = within(patience, writing.prepare()).await {
            loan.roll_back_after(&fault).await;
            return Err(fault.before_commit());
        }
        batch = match within(patience, writing.commit()).await {
            Ok(batch) => batch,
            Err(fault) => {
                loan.roll_back_after(&fault).await;
                return Err(fault.while_committing());
            }
        };
        fewer_dead = writing.fewer_dead();
    }
    let count = changes.acts.len() + changes.events.len();
    let Ok(committed) = within(patience, sequenced(loan.client(), batch, count)).await else {
        // What was committed stands, and somebody else sees to its place.
        return Ok(Committed::default());
    };
    if let Some(before) = retired_before {
        let retired = within(patience, retire(loan.client(), before)).await;
        if changes.is_empty() {
            retired.map_err(Fault::before_commit)?;
        }
    }
    if !fewer_dead.is_empty() {
        // What stays is cleared away when the next of its kind goes.
        let _ = within(patience, crate::figures::clear_dead(loan.client(), &fewer_dead)).await;
    }
    if !loan.client().is_closed() {
        loan.give_back();
    }
    Ok(committed)
}

/// Returns the positions of a batch's events. What was committed stands whatever happens here: if the sequencer
/// cannot be reached, the events have no positions yet, and whoever next reads events or commits sees to these.
async fn sequenced(client: &Client, batch: Option<i64>, events: usize) -> Result<Committed> {
    let Some(batch) = batch else { return Ok(Committed::default()) };
    if partition::is_due(batch) {
        // If this fails, those that follow or the next server that starts will do it: there are two ahead.
        let _ = partition::provide_safely(client).await;
    }
    Ok(match sequence(client, batch).await {
        Ok(Some(first_seq)) => Committed { first_seq, last_seq: first_seq + events as u64 - 1 },
        Ok(None) | Err(_) => Committed::default(),
    })
}

/// Asks for the place of no batch, so that only what is new is looked at.
pub(crate) const WHAT_IS_NEW: i64 = -1;
/// Asks for everything to be looked through: what came so late that nobody looked for it any more, too.
pub(crate) const EVERYTHING: i64 = 0;

/// Gives positions to all batches that are visible. Returns where the events of one of them begin.
pub(crate) async fn sequence(client: &Client, batch: i64) -> Result<Option<u64>> {
    let answer = rows(client, sql::BATCH_SEQUENCE, &[&batch]).await?;
    let first: Option<i64> = answer.first().map(|row| row.try_get(0)).transpose()?.flatten();
    first.map(unsigned).transpose()
}

/// Lets the past go, after what was committed has its place in it. Asked for again, it goes on where it stopped.
async fn retire(client: &Client, before: u64) -> Result<()> {
    let most = limit(usize::try_from(RETIRED_MAX).unwrap_or(usize::MAX));
    execute(client, sql::EVENT_RETIRE, &[&signed(before.saturating_sub(1)), &most]).await?;
    // The events are gone either way: tables that stay are dropped the next time.
    let _ = partition::drop_emptied(client).await;
    Ok(())
}
