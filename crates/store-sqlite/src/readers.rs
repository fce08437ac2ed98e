//! A few read-only connections, shared by whoever asks.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use store::Error;

use crate::connection;
use crate::error::{Fault, Result};

/// Reading is done from memory or a fast disk: more readers than this would only take turns.
const READERS: usize = 4;

#[derive(Debug)]
pub(crate) struct Readers {
    database: PathBuf,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Connection>,
    lent: usize,
}

impl Readers {
    pub(crate) fn new(database: PathBuf) -> Self {
        Readers { database, pool: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs a few queries on one state of the database.
    pub(crate) fn read<T>(&self, queries: impl FnOnce(&Connection) -> Result<T>) -> Result<T, Error> {
        self.read_faulty(queries).map_err(Fault::before_commit)
    }

    fn read_faulty<T>(&self, queries: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let loan = self.lend()?;
        let transaction = loan.connection().unchecked_transaction()?;
        let answer = queries(&transaction)?;
        transaction.finish()?;
        Ok(answer)
    }

    fn lend(&self) -> Result<Loan<'_>> {
        let mut pool = self.pool();
        while pool.idle.is_empty() && pool.lent == READERS {
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        let idle = pool.idle.pop();
        pool.lent += 1;
        drop(pool);
        let mut loan = Loan { readers: self, connection: idle };
        if loan.connection.is_none() {
            loan.connection = Some(connection::open_reader(&self.database)?);
        }
        Ok(loan)
    }

    /// Two numbers and a list that no panic leaves half changed: poison says nothing.
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Loan<'a> {
    readers: &'a Readers,
    /// `None` only until it is opened, and if that fails.
    connection: Option<Connection>,
}

impl Loan<'_> {
    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("a loan that was given out has its connection")
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        pool.lent -= 1;
        pool.idle.extend(self.connection.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}
