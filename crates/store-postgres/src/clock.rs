//! The time, taken from the database, so that servers whose clocks differ agree.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::Time;
use store::Clock;

use crate::error::{Fault, Result};
use crate::query::{Client, rows};
use crate::sql;

#[derive(Debug)]
pub(crate) struct Now {
    /// The clock in place of the database's, where a test or a simulation moves time.
    given: Option<Arc<dyn Clock>>,
    /// The latest time that was told: none before it is, even when another machine takes over whose clock is behind.
    told: AtomicI64,
}

impl Now {
    pub(crate) fn new(given: Option<Arc<dyn Clock>>) -> Self {
        Now { given, told: AtomicI64::new(i64::MIN) }
    }

    pub(crate) async fn ask(&self, client: &Client) -> Result<Time> {
        if let Some(clock) = &self.given {
            return Ok(clock.now());
        }
        let rows = rows(client, sql::CLOCK, &[]).await?;
        let row = rows.first().ok_or_else(|| Fault::corrupt("the database does not tell the time"))?;
        let millis: i64 = row.try_get(0)?;
        Ok(Time::from_millis(self.told.fetch_max(millis, Ordering::SeqCst).max(millis)))
    }
}
