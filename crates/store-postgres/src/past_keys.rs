//! The keys of submissions that ended under a release that kept none of them.

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
pub(crate) async fn fill(client: &Client) -> Result<()> {
    let mut after = Uuid::nil();
    loop {
        let rows = client.query(sql::SUBMISSION_AFTER, &[&after, &CHUNK]).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.try_get(0)?;
        let (mut pipelines, mut keys, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            let keyed: Keyed = serde_json::from_str(row.try_get(1)?)
                .map_err(|error| Fault::corrupt(format!("a submission's row cannot be read: {error}")))?;
            if let Some(past) = keyed.past_key() {
                pipelines.push(text(&past.pipeline).into_owned());
                keys.push(text(&past.key).into_owned());
                ids.push(row.try_get::<_, Uuid>(0)?);
            }
        }
        client.execute(sql::PAST_KEY_INSERT, &[&pipelines, &keys, &ids]).await?;
    }
}
