//! Letting go: of rows, of documents, of the past.

use std::collections::HashSet;

use model::Event;
use rusqlite::{Connection, OptionalExtension};
use store::{Changes, RETIRED_MAX};

use crate::codec::{blob, signed, unsigned};
use crate::error::{Fault, Result};
use crate::reading::{self, Bounds};
use crate::rows::Rows;
use crate::sql;

/// Removes rows and notes where their events end. Events of this commit are linked to that place afterwards.
pub(super) fn forget_rows(connection: &Connection, changes: &Changes) -> Result<()> {
    if changes.forgotten.is_empty() {
        return Ok(());
    }
    let written: HashSet<_> = changes.rows.iter().map(|change| change.after.id).collect();
    let mut delete = connection.prepare_cached(sql::SUBMISSION_DELETE)?;
    let mut link = connection.prepare_cached(sql::EVENT_LINK)?;
    let mut set_tip = connection.prepare_cached(sql::TIP_SET)?;
    for row in &changes.forgotten {
        let id = row.id;
        if written.contains(&id) {
            return Err(Fault::Conflict(format!("submission {id} is in the changes twice")));
        }
        let last_seq = delete.query_row((blob(&id), signed(row.row_version)), |row| unsigned(row, 0));
        let Some(last_seq) = last_seq.optional()? else {
            return Err(Fault::Conflict(format!("submission {id} was written since it was taken")));
        };
        if last_seq > 0 {
            // The event knows best, unless it is retired.
            let revision = link.query_row([signed(last_seq)], |link| unsigned(link, 1)).optional()?;
            set_tip.execute((blob(&id), signed(last_seq), signed(revision.unwrap_or(row.revision))))?;
        }
    }
    Ok(())
}

/// Erased is not only out of reach: what the documents were is overwritten in the file. Nothing else that is deleted
/// pays for that.
pub(super) fn erase_documents(connection: &Connection, changes: &Changes) -> Result<()> {
    if changes.erased.is_empty() && changes.forgotten.is_empty() {
        return Ok(());
    }
    let mut erase = connection.prepare_cached(sql::DOCUMENT_ERASE)?;
    connection.pragma_update(None, "secure_delete", true)?;
    for id in changes.erased.iter().chain(changes.forgotten.iter().map(|row| &row.id)) {
        erase.execute([blob(id)])?;
    }
    connection.pragma_update(None, "secure_delete", false)?;
    Ok(())
}

/// Erases, with the documents, what their digests in the events before this commit were salted with: a digest alone
/// says nothing.
pub(super) fn erase_salts(connection: &Connection, changes: &Changes) -> Result<()> {
    if changes.erased.is_empty() && changes.forgotten.is_empty() {
        return Ok(());
    }
    let mut rows = Rows::new(connection)?;
    let mut link = connection.prepare_cached(sql::EVENT_LINK)?;
    let mut detail = connection.prepare_cached(sql::EVENT_DETAIL)?;
    let mut set = connection.prepare_cached(sql::EVENT_SET_DETAIL)?;
    connection.pragma_update(None, "secure_delete", true)?;
    for id in changes.erased.iter().chain(changes.forgotten.iter().map(|row| &row.id)) {
        let mut seq = rows.tip(*id)?.seq;
        while let Some(prev) = link.query_row([signed(seq)], |row| unsigned(row, 0)).optional()? {
            let kept: Option<Vec<u8>> = detail.query_row([signed(seq)], |row| row.get(0)).optional()?;
            let stripped = kept.map(|kept| Event::without_salts(&kept)).transpose();
            let stripped =
                stripped.map_err(|error| Fault::corrupt(format!("event {seq} cannot be read: {error}")))?;
            if let Some(stripped) = stripped.flatten() {
                set.execute((signed(seq), stripped))?;
            }
            seq = prev;
        }
    }
    connection.pragma_update(None, "secure_delete", false)?;
    Ok(())
}

pub(super) fn retire_events(connection: &Connection, before: u64) -> Result<()> {
    let Bounds { retired, last } = reading::bounds(connection)?;
    let through = before.saturating_sub(1).min(retired + RETIRED_MAX).min(last);
    if through > retired {
        connection.prepare_cached(sql::EVENT_RETIRE)?.execute([signed(through)])?;
        connection.prepare_cached(sql::META_SET)?.execute(("retired", signed(through)))?;
    }
    Ok(())
}
