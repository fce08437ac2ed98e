//! Partitions of the event table: by batch number, so that they fill one after the other.

use tokio_postgres::Client;

use crate::error::Result;
use crate::schema::MAKING;

/// Batches in a partition.
const BATCHES: i64 = 1 << 20;
/// The number of partitions made ahead of the one that fills.
const AHEAD: i64 = 2;

/// Tells whether the commit of the batch with this number should make the next partitions.
pub(crate) fn is_due(batch: i64) -> bool {
    batch % (BATCHES / 4) == 0
}

/// Makes what is missing. Attaching a table that was made apart does not lock out those who read or write events.
pub(crate) async fn provide(client: &Client) -> Result<()> {
    let filling = newest(client).await? / BATCHES;
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
    alone(client, async { provide(client).await }).await
}

/// Drops partitions whose events are all retired.
///
/// Only those that lie a whole partition behind the one that fills: whoever has taken a number in one has long committed
/// or been cut off. Readers and writers are held up for a tenth of a second at most; what is not dropped now is dropped
/// when something is retired again.
pub(crate) async fn drop_emptied(client: &Client) -> Result<()> {
    let old = old(client).await?;
    if old.is_empty() {
        return Ok(());
    }
    alone(client, async {
        client.batch_execute("SET LOCAL lock_timeout = '100ms'").await?;
        for table in old {
            let any = format!("SELECT EXISTS (SELECT FROM {table})");
            if !client.query_one(&any, &[]).await?.try_get::<_, bool>(0)? {
                client.batch_execute(&format!("DROP TABLE {table}")).await?;
            }
        }
        Ok(())
    })
    .await
}

/// Partitions that nobody writes to any more.
async fn old(client: &Client) -> Result<Vec<String>> {
    let all = "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               WHERE i.inhparent = to_regclass('event')";
    let filling = newest(client).await? / BATCHES;
    let mut old = Vec::new();
    for row in client.query(all, &[]).await? {
        let table: String = row.try_get(0)?;
        let no = table.strip_prefix("event_").and_then(|no| no.parse::<i64>().ok());
        if no.is_some_and(|no| no + 2 <= filling) {
            old.push(table);
        }
    }
    Ok(old)
}

async fn newest(client: &Client) -> Result<i64> {
    let newest = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM batch_no";
    Ok(client.query_one(newest, &[]).await?.try_get(0)?)
}

/// Changes tables in a transaction, unless another server is about to.
async fn alone(client: &Client, change: impl Future<Output = Result<()>>) -> Result<()> {
    client.batch_execute("BEGIN").await?;
    let lock = "SELECT pg_try_advisory_xact_lock($1, hashtext(current_schema()))";
    let locked: bool = client.query_one(lock, &[&MAKING]).await?.try_get(0)?;
    let changed = if locked { change.await } else { Ok(()) };
    client.batch_execute(if changed.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    changed
}
