//! Writing rows, each against the version it was decided on.

use std::collections::HashMap;

use model::SubmissionId;
use rusqlite::Connection;
use store::RowChange;

use super::Tip;
use crate::codec::{blob, row_text, signed};
use crate::error::{Fault, Result};
use crate::rows::Rows;
use crate::sql;

/// `newest` has the newest event of each submission that got one.
pub(super) fn write(
    connection: &Connection,
    rows: &[RowChange],
    mut newest: HashMap<SubmissionId, Tip>,
) -> Result<()> {
    let mut insert = connection.prepare_cached(sql::SUBMISSION_INSERT)?;
    let mut update = connection.prepare_cached(sql::SUBMISSION_UPDATE)?;
    let mut stored = Rows::new(connection)?;
    for RowChange { before, after } in rows {
        let last_seq = newest.remove(&after.id).map(|tip| signed(tip.seq));
        let text = row_text(after);
        let Some(before) = before else {
            let last_seq = match last_seq {
                Some(seq) => seq,
                None => signed(stored.tip(after.id)?.seq),
            };
            insert.execute((blob(&after.id), last_seq, text))?;
            continue;
        };
        let written = update.execute((blob(&after.id), signed(before.row_version), last_seq, text))?;
        if written == 0 {
            return Err(Fault::Conflict(format!("submission {} was written since it was taken", after.id)));
        }
    }
    link(connection, &newest)
}

/// Links events that came without a change of their row.
fn link(connection: &Connection, newest: &HashMap<SubmissionId, Tip>) -> Result<()> {
    let mut set = connection.prepare_cached(sql::SUBMISSION_SET_LAST_SEQ)?;
    let mut set_tip = connection.prepare_cached(sql::TIP_SET)?;
    for (id, tip) in newest {
        if set.execute((blob(id), signed(tip.seq)))? == 0 {
            set_tip.execute((blob(id), signed(tip.seq), signed(tip.revision)))?;
        }
    }
    Ok(())
}
