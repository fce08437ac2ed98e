//! The schema in the file: made if missing, and checked for whether this release can work with it.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use store::{Entries, Error, LateEntry};

use crate::codec;
use crate::connection;
use crate::error::{Fault, Result};
use crate::past_keys;
use crate::rows::Rows;
use crate::sql;

/// "Mile": tells a store from other applications' databases.
const APPLICATION: i64 = 0x4d69_6c65;

/// The schema this release writes.
const VERSION: i64 = 3;
/// The oldest release, by its `VERSION`, that can work with what this one writes.
const MIN_COMPATIBLE: i64 = 1;

/// The name of the entry that is there while another store is moved into this one. The entry's value says which.
pub(crate) const MIGRATING: &str = "migrating";

/// The name of the entry that is there once what waits for people is listed.
const REVIEWS_LISTED: &str = "reviews_listed";

/// Makes the file a store, or checks that it is one this release understands.
pub(crate) fn migrate(writer: &mut Connection) -> Result<(), Error> {
    // Looked at before anything is set: a file of somebody else's stays as it is.
    let new = is_empty(writer).map_err(Fault::before_commit)?;
    if !new {
        check(writer)?;
    }
    connection::set_up_writer(writer).map_err(Fault::while_syncing)?;
    if new {
        create(writer).map_err(Fault::while_syncing)?;
    }
    expand(writer).map_err(Fault::while_syncing)
}

/// Adds what came later, and changes nothing else: an older release goes on as if the new were not there.
fn expand(writer: &mut Connection) -> Result<()> {
    writer.execute_batch(sql::SCHEMA_INBOX)?;
    writer.execute_batch(sql::SCHEMA_PAST_KEY)?;
    list_reviews(writer)?;
    if meta(writer, "version")? < VERSION {
        past_keys::fill(writer, VERSION)?;
    }
    Ok(())
}

/// Lists what waits for people, in a store of a release that kept no such lists. Once, whatever is open.
fn list_reviews(connection: &mut Connection) -> Result<()> {
    if connection
        .query_row(sql::META_VALUE, [REVIEWS_LISTED], |row| row.get::<_, i64>(0))
        .optional()?
        .is_some()
    {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut rows = Rows::new(&transaction)?;
        let mut insert = transaction.prepare(sql::LATE_INSERT)?;
        let mut open = transaction.prepare("SELECT id FROM place WHERE status = 'open'")?;
        let mut open = open.query([])?;
        while let Some(found) = open.next()? {
            let row = rows.indexed(codec::id(found, 0)?)?.row;
            for LateEntry { pipeline, at } in Entries::of(&row).reviews {
                insert.execute((&*pipeline, at.millis(), codec::blob(&row.id)))?;
            }
        }
    }
    transaction.execute(sql::META_INSERT, (REVIEWS_LISTED, 1))?;
    transaction.commit()?;
    Ok(())
}

fn is_empty(connection: &Connection) -> Result<bool> {
    let anything = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)";
    Ok(!connection.query_row(anything, [], |row| row.get::<_, bool>(0))?)
}

pub(crate) fn check(connection: &Connection) -> Result<(), Error> {
    let application: i64 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(|error| Fault::from(error).before_commit())?;
    if application != APPLICATION {
        return Err(Error::corrupt(
            "the data folder's database belongs to another application; choose another folder",
        ));
    }
    let min_compatible = meta(connection, "min_compatible").map_err(Fault::before_commit)?;
    if min_compatible > VERSION {
        return Err(Error::unavailable(format!(
            "the data folder was written by a newer release, which needs at least schema {min_compatible} and this \
             one has {VERSION}; start that release again or a later one"
        )));
    }
    Ok(())
}

pub(crate) fn meta(connection: &Connection, name: &str) -> Result<i64> {
    let value = connection.query_row(sql::META_VALUE, [name], |row| row.get(0)).optional()?;
    value.ok_or_else(|| Fault::corrupt(format!("the database does not say its {name}; restore a backup")))
}

fn create(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.execute_batch(sql::SCHEMA)?;
    transaction.execute(sql::META_INSERT, ("version", VERSION))?;
    transaction.execute(sql::META_INSERT, ("min_compatible", MIN_COMPATIBLE))?;
    // The last position whose event was retired.
    transaction.execute(sql::META_INSERT, ("retired", 0))?;
    transaction.commit()?;
    Ok(())
}

/// Refuses a store that another one was not moved into to the end.
pub(crate) fn check_moved(connection: &Connection) -> Result<(), Error> {
    let moving = connection.query_row(sql::META_VALUE, [MIGRATING], |row| row.get::<_, i64>(0)).optional();
    match moving.map_err(|error| Fault::from(error).before_commit())? {
        None => Ok(()),
        Some(_) => Err(Error::unavailable(
            "another store is being moved into this one; run `milepost migrate-store` again to the end",
        )),
    }
}

pub(crate) fn end_move(connection: &Connection) -> Result<()> {
    connection.execute("DELETE FROM meta WHERE name = ?1", [MIGRATING])?;
    Ok(())
}
