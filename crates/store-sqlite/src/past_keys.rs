//! The keys of submissions that ended under a release that kept none of them.

use rusqlite::{Connection, TransactionBehavior};
use store::entries::Keyed;

use crate::error::{Fault, Result};
use crate::sql;

/// The rows of a commit.
const CHUNK: i64 = 5_000;

/// Writes the entries of all rows. What was written before a run was cut off is left as it is.
pub(crate) fn fill(writer: &mut Connection) -> Result<()> {
    let mut after: [u8; 16] = [0; 16];
    loop {
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let last = chunk(&transaction, after)?;
        transaction.commit()?;
        match last {
            Some(last) => after = last,
            None => return Ok(()),
        }
    }
}

/// Writes the entries of the rows after an id. The last of them, if there were any.
fn chunk(connection: &Connection, after: [u8; 16]) -> Result<Option<[u8; 16]>> {
    let mut page = connection.prepare_cached(sql::SUBMISSION_AFTER)?;
    let mut insert = connection.prepare_cached(sql::PAST_KEY_INSERT)?;
    let mut rows = page.query((after, CHUNK))?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let id: [u8; 16] = row.get(0)?;
        let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let keyed: Keyed = serde_json::from_str(text)
            .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
        if let Some(past) = keyed.past_key() {
            insert.execute((&past.pipeline, &past.key, id))?;
        }
        last = Some(id);
    }
    Ok(last)
}
