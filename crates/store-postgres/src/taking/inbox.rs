//! The inbox: what is first in it and nobody else is deciding.

use model::{Name, SubmissionId, Time};
use store::{Received, inbox};
use tokio_postgres::Row;

use super::Taker;
use crate::codec;
use crate::error::{Fault, Result};
use crate::query::{Client, rows};
use crate::sql;

/// Locks the first of the inbox and returns them with the sizes of their payloads.
pub(super) async fn first(client: &Client, max: usize) -> Result<Vec<(SubmissionId, usize)>> {
    if max == 0 {
        return Ok(Vec::new());
    }
    let found = rows(client, sql::INBOX_FIRST, &[&codec::limit(max)]).await?;
    let sized = found.iter().map(|row| {
        let size: i32 = row.try_get(1)?;
        Ok((codec::id(row, 0)?, usize::try_from(size).map_err(|_| Fault::corrupt("a size is below zero"))?))
    });
    sized.collect()
}

impl Taker<'_> {
    /// Reads as many of the inbox as fit a take, and locks the submissions that have their ids already.
    pub(super) async fn receive(&mut self) -> Result<()> {
        if self.sizes.is_empty() {
            return Ok(());
        }
        let fitting = inbox::fitting(self.sizes.iter().map(|(_, size)| *size));
        let ids: Vec<_> = self.sizes[..fitting].iter().map(|(id, _)| *id).collect();
        let found = rows(self.client, sql::INBOX_PAGE, &[&codec::ids(&ids)]).await?;
        self.taken.inbox = found.iter().map(received).collect::<Result<_>>()?;
        self.lock_free(ids).await?;
        self.arrivals = self.taken.inbox.iter().map(|received| (self.take.arrival)(received)).collect();
        Ok(())
    }
}

fn received(row: &Row) -> Result<Received> {
    let text = |column| row.try_get::<_, Option<String>>(column);
    Ok(Received {
        id: codec::id(row, 0)?,
        submitter: Name::from(row.try_get::<_, &str>(1)?),
        pipeline: Name::from(row.try_get::<_, &str>(2)?),
        payload: row.try_get(3)?,
        key: text(4)?,
        priority: row.try_get(5)?,
        not_before: row.try_get::<_, Option<i64>>(6)?.map(Time::from_millis),
        reason: text(7)?,
    })
}
