//! Writing rows, each against the version it was decided on.

use rusqlite::Connection;
use store::{IdMap, RowChange};

use super::Tip;
use crate::codec::{blob, signed};
use crate::encode::Sheets;
use crate::error::{Fault, Result};
use crate::hot::{TEXT_MAX, Warm};
use crate::rows::Rows;
use crate::sql;

/// `newest` has the newest event of each submission that got one; those of the rows are taken out of it. `tips` has the
/// newest before this commit. Answers what is worth keeping at hand.
pub(super) fn write(
    connection: &Connection,
    sheets: &Sheets,
    newest: &mut IdMap<Tip>,
    tips: &IdMap<Tip>,
) -> Result<Vec<Warm>> {
    let mut insert = connection.prepare_cached(sql::SUBMISSION_INSERT)?;
    let mut update = connection.prepare_cached(sql::SUBMISSION_UPDATE)?;
    let mut stored = Rows::new(connection)?;
    let rows = &sheets.changes.rows;
    let mut hot = Vec::with_capacity(rows.len());
    for (no, RowChange { before, after }) in rows.iter().enumerate() {
        let last_seq = newest.remove(&after.id).map(|tip| tip.seq);
        let text = sheets.row(no);
        let last_seq = if let Some(before) = before {
            let values = (blob(&after.id), signed(before.row_version), last_seq.map(signed), text);
            if update.execute(values)? == 0 {
                return Err(Fault::Conflict(format!(
                    "submission {} was written since it was taken",
                    after.id
                )));
            }
            last_seq.or_else(|| tips.get(&after.id).map(|tip| tip.seq))
        } else {
            let last_seq = match last_seq {
                Some(seq) => seq,
                None => stored.tip(after.id)?.seq,
            };
            insert.execute((blob(&after.id), signed(last_seq), text))?;
            Some(last_seq)
        };
        let version = before.as_ref().map_or(0, |before| before.row_version) + 1;
        if let Some(last_seq) = last_seq
            && after.row_version == version
            && text.len() <= TEXT_MAX
        {
            hot.push(Warm { row: after.clone(), last_seq });
        }
    }
    Ok(hot)
}

/// Links events that came without a change of their row.
pub(super) fn link(connection: &Connection, newest: &IdMap<Tip>) -> Result<()> {
    let mut set = connection.prepare_cached(sql::SUBMISSION_SET_LAST_SEQ)?;
    let mut set_tip = connection.prepare_cached(sql::TIP_SET)?;
    for (id, tip) in newest {
        if set.execute((blob(id), signed(tip.seq)))? == 0 {
            set_tip.execute((blob(id), signed(tip.seq), signed(tip.revision)))?;
        }
    }
    Ok(())
}
