//! Partitions of the event table: by batch number, so that they fill one after the other.

use tokio_postgres::Client;

use crate::error::Result;
use crate::schema::MAKING;

/// Batches in a partition.
const BATCHES: i64 = 1 << 20;
/// How many partitions are made ahead of the one that fills.
const AHEAD: i64 = 2;

/// Whether a commit of this number should see to it that the next partitions are there.
pub(crate) fn is_due(batch: i64) -> bool {
    batch % (BATCHES / 4) == 0
}

/// Makes what is missing. Attaching a table that was made apart does not lock out those who read or write events.
pub(crate) async fn provide(client: &Client) -> Result<()> {
    let newest = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM batch_no";
    let newest: i64 = client.query_one(newest, &[]).await?.try_get(0)?;
    let filling = newest / BATCHES;
    for no in filling..=filling + AHEAD {
        let exists = "SELECT to_regclass($1) IS NOT NULL";
        let table = format!("event_{no}");
        if !client.query_one(exists, &[&table]).await?.try_get::<_, bool>(0)? {
            let (from, to) = (no * BATCHES, (no + 1) * BATCHES);
            let make = format!(
                "CREATE TABLE {table} (LIKE event INCLUDING ALL);
                 ALTER TABLE event ATTACH PARTITION {table} FOR VALUES FROM ({from}) TO ({to})"
            );
            client.batch_execute(&make).await?;
        }
    }
    Ok(())
}

/// The same while servers run: one of them does it.
pub(crate) async fn provide_safely(client: &Client) -> Result<()> {
    client.batch_execute("BEGIN").await?;
    let lock = "SELECT pg_try_advisory_xact_lock($1, hashtext(current_schema()))";
    let locked: bool = client.query_one(lock, &[&MAKING]).await?.try_get(0)?;
    let provided = if locked { provide(client).await } else { Ok(()) };
    client.batch_execute(if provided.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    provided
}
