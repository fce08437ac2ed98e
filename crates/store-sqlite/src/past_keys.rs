//! Data that releases of before did not keep: the keys of submissions that have ended, and the counts of dead
//! letters by their errors.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior};
use store::DeadKey;
use store::entries::Keyed;

use crate::error::{Fault, Result};
use crate::sql;

/// The rows of a commit.
const CHUNK: i64 = 5_000;

type Dead = BTreeMap<DeadKey, i64>;

/// Writes the entries of all rows, and the version of a store that has them. What was written before a run was cut off is left
/// as it is.
pub(crate) fn fill(writer: &mut Connection, version: i64) -> Result<()> {
    let (mut after, mut dead): ([u8; 16], Dead) = ([0; 16], Dead::new());
    loop {
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let last = chunk(&transaction, after, &mut dead)?;
        if last.is_none() {
            transaction.execute("DELETE FROM dead_kind", [])?;
            for (DeadKey { pipeline, state, code, pattern }, count) in &dead {
                transaction.execute(sql::DEAD_ADD, (pipeline, state, code, pattern, count))?;
            }
            transaction.execute(sql::META_SET, ("version", version))?;
        }
        transaction.commit()?;
        match last {
            Some(last) => after = last,
            None => return Ok(()),
        }
    }
}

/// Writes the entries of the rows after an id. The last of them, if there were any.
fn chunk(connection: &Connection, after: [u8; 16], dead: &mut Dead) -> Result<Option<[u8; 16]>> {
    let mut page = connection.prepare_cached(sql::SUBMISSION_AFTER)?;
    let mut insert = connection.prepare_cached(sql::PAST_KEY_INSERT)?;
    let mut rows = page.query((after, CHUNK))?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let id: [u8; 16] = row.get(0)?;
        let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let keyed: Keyed = serde_json::from_str(text)
            .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
        keyed.dead().into_iter().for_each(|key| *dead.entry(key).or_default() += 1);
        if let Some(past) = keyed.past_key() {
            insert.execute((&past.pipeline, &past.key, id))?;
        }
        last = Some(id);
    }
    Ok(last)
}
