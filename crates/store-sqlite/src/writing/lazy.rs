//! Statements for what most rows have nothing of.

use rusqlite::{CachedStatement, Connection};

use crate::error::Result;

/// A statement that is looked up when it is first needed, and then once for all rows.
pub(super) struct Lazy<'c> {
    connection: &'c Connection,
    query: &'static str,
    statement: Option<CachedStatement<'c>>,
}

impl<'c> Lazy<'c> {
    pub(super) fn new(connection: &'c Connection, query: &'static str) -> Self {
        Lazy { connection, query, statement: None }
    }

    pub(super) fn get(&mut self) -> Result<&mut CachedStatement<'c>> {
        if self.statement.is_none() {
            self.statement = Some(self.connection.prepare_cached(self.query)?);
        }
        Ok(self.statement.as_mut().expect("prepared above"))
    }
}
