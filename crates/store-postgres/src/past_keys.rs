//! Data that releases of before did not keep: the keys of submissions that have ended, and the counts of dead
//! letters by their errors.

use std::collections::BTreeMap;

use model::Name;
use store::DeadKey;
use store::entries::Keyed;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::codec::text;
use crate::error::{Fault, Result};
use crate::sql;

/// The rows of a commit.
const CHUNK: i64 = 5_000;

/// Writes the entries of all rows, while other servers are at work. What one of them changes meanwhile stays found by its
/// key: a key is for life, and an entry that was written is left as it is.
pub(crate) async fn fill(client: &Client, version: i64) -> Result<()> {
    let mut after = Uuid::nil();
    let mut dead: BTreeMap<DeadKey, i64> = BTreeMap::new();
    loop {
        let rows = client.query(sql::SUBMISSION_AFTER, &[&after, &CHUNK]).await?;
        let Some(last) = rows.last() else { return count_dead(client, &dead, version).await };
        after = last.try_get(0)?;
        let (mut pipelines, mut keys, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            let keyed: Keyed = serde_json::from_str(row.try_get(1)?)
                .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
            keyed.dead().into_iter().for_each(|key| *dead.entry(key).or_default() += 1);
            if let Some(past) = keyed.past_key() {
                pipelines.push(text(&past.pipeline).into_owned());
                keys.push(text(&past.key).into_owned());
                ids.push(row.try_get::<_, Uuid>(0)?);
            }
        }
        client.execute(sql::PAST_KEY_INSERT, &[&pipelines, &keys, &ids]).await?;
    }
}

/// Writes the counts and the version of a store that has them, at once: no server that keeps such counts is at work before that.
async fn count_dead(client: &Client, dead: &BTreeMap<DeadKey, i64>, version: i64) -> Result<()> {
    let column = |part: fn(&DeadKey) -> &Name| -> Vec<String> {
        dead.keys().map(|key| text(part(key)).into_owned()).collect()
    };
    let (pipelines, states) = (column(|key| &key.pipeline), column(|key| &key.state));
    let (codes, patterns) = (column(|key| &key.code), column(|key| &key.pattern));
    let counts: Vec<i64> = dead.values().copied().collect();
    client.batch_execute("BEGIN; DELETE FROM dead_kind").await?;
    client.execute(sql::DEAD_ADD, &[&pipelines, &states, &codes, &patterns, &counts]).await?;
    client.execute("UPDATE meta SET value = $1 WHERE name = 'version' AND value < $1", &[&version]).await?;
    client.batch_execute("COMMIT").await?;
    Ok(())
}
