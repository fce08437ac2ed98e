//! The tables people write by hand: one with a status column, one of history, and one transaction for each move.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::pipelines::payload;
use crate::stopwatch::now;
use crate::workload::{Rate, take};

const SCHEMA: &str = "milepost_bench_naive";

const TABLES: &str = "
CREATE TABLE submission (
  id bigserial PRIMARY KEY, step int NOT NULL, leased boolean NOT NULL, payload text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX submission_ready ON submission (step, id) WHERE NOT leased;
CREATE TABLE history (
  id bigserial PRIMARY KEY, submission bigint NOT NULL, step int NOT NULL, at timestamptz NOT NULL DEFAULT now()
);
";

const SUBMIT: &str =
    "WITH made AS (INSERT INTO submission (step, leased, payload) VALUES (0, false, $1) RETURNING id)
INSERT INTO history (submission, step) SELECT id, 0 FROM made";

const CLAIM: &str = "UPDATE submission SET leased = true, changed_at = now() WHERE id = (
  SELECT id FROM submission WHERE step < $1 AND NOT leased ORDER BY step, id FOR UPDATE SKIP LOCKED LIMIT 1
) RETURNING id";

const FINISH: &str = "WITH moved AS (
  UPDATE submission SET leased = false, step = step + 1, changed_at = now() WHERE id = $1 RETURNING id, step
) INSERT INTO history (submission, step) SELECT id, step FROM moved";

/// Submits, then walks all of it; so many callers, each with its connection.
pub(crate) async fn run(url: &str, submissions: usize, steps: usize, callers: usize) -> Result<(Rate, Rate)> {
    drop_schema(url, SCHEMA).await?;
    let first = connect(url).await?;
    first.batch_execute(&format!("CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA}; {TABLES}")).await?;
    let mut crew = Vec::new();
    for _ in 0..callers {
        let client = connect(url).await?;
        client.batch_execute(&format!("SET search_path = {SCHEMA}")).await?;
        crew.push(Arc::new(client));
    }
    let submitted = together(&crew, submissions, |client, left| async move {
        let submit = client.prepare(SUBMIT).await?;
        while take(&left, 1).is_some() {
            client.execute(&submit, &[&payload()]).await?;
        }
        Ok(())
    })
    .await?;
    let steps_each = i32::try_from(steps)?;
    let walked = together(&crew, submissions * steps, move |client, left| async move {
        let (claim, finish) = (client.prepare(CLAIM).await?, client.prepare(FINISH).await?);
        while take(&left, 1).is_some() {
            // None: what is left is leased, and comes back for its next step.
            match client.query_opt(&claim, &[&steps_each]).await? {
                Some(row) => drop(client.execute(&finish, &[&row.get::<_, i64>(0)]).await?),
                None => drop(left.fetch_add(1, Ordering::Relaxed)),
            }
        }
        Ok(())
    })
    .await?;
    drop(crew);
    drop_schema(url, SCHEMA).await?;
    Ok((submitted, walked))
}

async fn together<F, R>(crew: &[Arc<Client>], count: usize, work: F) -> Result<Rate>
where
    F: Fn(Arc<Client>, Arc<AtomicUsize>) -> R,
    R: Future<Output = Result<()>> + Send + 'static,
{
    let left = Arc::new(AtomicUsize::new(count));
    let began = now();
    let mut running = JoinSet::new();
    for client in crew {
        running.spawn(work(client.clone(), left.clone()));
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(Rate { count, took: began.elapsed() })
}

pub(crate) async fn drop_schema(url: &str, schema: &str) -> Result<()> {
    let client = connect(url).await?;
    client.batch_execute("SET client_min_messages = warning").await?;
    Ok(client.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await?)
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
