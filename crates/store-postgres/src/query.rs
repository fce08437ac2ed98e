//! Statements on a connection, all of them prepared.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::Result;

pub(crate) type Client = ClientWrapper;
pub(crate) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(crate) async fn rows(client: &Client, query: &str, parameters: Parameters<'_>) -> Result<Vec<Row>> {
    let statement = client.prepare_cached(query).await?;
    Ok(client.query(&statement, parameters).await?)
}

/// Runs a statement and returns the number of rows written.
pub(crate) async fn execute(client: &Client, query: &str, parameters: Parameters<'_>) -> Result<u64> {
    let statement = client.prepare_cached(query).await?;
    Ok(client.execute(&statement, parameters).await?)
}
