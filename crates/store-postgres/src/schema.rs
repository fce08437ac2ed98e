//! The schema in the database: made if missing, and checked for whether this release can work with it.

use deadpool_postgres::Pool;
use model::Status;
use store::{Entries, Error};
use tokio_postgres::Client;

use crate::codec::{self, limit, text};
use crate::connection::{self, Settings, quoted};
use crate::error::{Fault, Result};
use crate::gate;
use crate::partition;
use crate::past_keys;
use crate::query::rows;
use crate::sql;
use crate::writer::Loan;

/// The schema this release writes.
const VERSION: i64 = 3;
/// The oldest release, by its `VERSION`, that can work with what this one writes. Servers of both run side by side while
/// a fleet is updated: what an older one needs goes only once no such server can be left.
const MIN_COMPATIBLE: i64 = 1;

/// Held while tables are made, so that servers that start together make them once. The only advisory lock there is.
pub(crate) const MAKING: i32 = 0x4d69_6c65;

/// The name of the entry that is there while another store is moved into this one. The entry's value says which.
pub(crate) const MIGRATING: &str = "migrating";

/// Makes the tables, or checks that they are those this release understands.
pub(crate) async fn migrate(settings: &Settings) -> Result<(), Error> {
    migrate_faulty(settings).await.map_err(Fault::before_commit)
}

async fn migrate_faulty(settings: &Settings) -> Result<()> {
    let (client, connection) = connection::alone(settings).await?;
    drop(tokio::spawn(connection));
    client
        .batch_execute(
            "SET statement_timeout = '120s'; SET lock_timeout = '60s'; SET client_min_messages = warning",
        )
        .await?;
    let encoding: String = client.query_one("SHOW server_encoding", &[]).await?.try_get(0)?;
    if encoding != "UTF8" {
        return Err(Fault::Unavailable(format!(
            "the database keeps text as {encoding}; make one with ENCODING 'UTF8'"
        )));
    }
    client.batch_execute("BEGIN").await?;
    client.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", &[&MAKING, &settings.schema]).await?;
    let schema = quoted(&settings.schema);
    if is_there(&client, &settings.schema).await? {
        client.batch_execute(&format!("SET LOCAL search_path = {schema}")).await?;
        check(&client).await?;
        expand(&client, &schema).await?;
        list_reviews(&client).await?;
    } else {
        create(&client, &settings.schema).await?;
    }
    partition::provide(&client).await?;
    client.batch_execute("COMMIT").await?;
    client.batch_execute(&format!("SET search_path = {schema}")).await?;
    if meta(&client, "version").await? < VERSION {
        // Servers that start together do it once, and wait as long as it takes. The lock goes with the connection.
        client.batch_execute("SET lock_timeout = 0; SET statement_timeout = 0").await?;
        client.query("SELECT pg_advisory_lock($1, hashtext($2))", &[&MAKING, &settings.schema]).await?;
        if meta(&client, "version").await? < VERSION {
            past_keys::fill(&client, VERSION).await?;
        }
    }
    Ok(())
}

/// Removes everything in the schema.
pub(crate) async fn remove(settings: &Settings) -> Result<(), Error> {
    let removing = async {
        let (client, connection) = connection::alone(settings).await?;
        drop(tokio::spawn(connection));
        let schema = quoted(&settings.schema);
        let remove = format!("SET client_min_messages = warning; DROP SCHEMA IF EXISTS {schema} CASCADE");
        client.batch_execute(&remove).await?;
        Ok(())
    };
    removing.await.map_err(Fault::before_commit)
}

async fn is_there(client: &Client, schema: &str) -> Result<bool> {
    let tables = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1)";
    Ok(client.query_one(tables, &[&schema]).await?.try_get(0)?)
}

async fn check(client: &Client) -> Result<()> {
    let ours = "SELECT to_regclass('meta') IS NOT NULL AND to_regclass('submission') IS NOT NULL";
    if !client.query_one(ours, &[]).await?.try_get::<_, bool>(0)? {
        return Err(Fault::corrupt("the schema belongs to another application; choose another schema"));
    }
    let min_compatible = meta(client, "min_compatible").await?;
    if min_compatible > VERSION {
        return Err(Fault::Unavailable(format!(
            "the database was written by a newer release, which needs at least schema {min_compatible} and this one \
             has {VERSION}; start that release again or a later one"
        )));
    }
    Ok(())
}

async fn meta(client: &Client, name: &str) -> Result<i64> {
    let found = client.query_opt(sql::META_VALUE, &[&name]).await?;
    let value = found
        .ok_or_else(|| Fault::corrupt(format!("the database does not say its {name}; restore a backup")))?;
    Ok(value.try_get(0)?)
}

async fn create(client: &Client, schema: &str) -> Result<()> {
    // Whoever may not make schemas is given one; making it "if it does not exist" would be refused all the same.
    let known = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
    let known: bool = client.query_one(known, &[&schema]).await?.try_get(0)?;
    let schema = quoted(schema);
    if !known {
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    client.batch_execute(&format!("SET LOCAL search_path = {schema}")).await?;
    client.batch_execute(sql::SCHEMA).await?;
    client.batch_execute(sql::SCHEMA_SEQUENCE).await?;
    expand(client, &schema).await?;
    let gates = "INSERT INTO gate (no) SELECT generate_series($1::int, $2::int)";
    client.execute(gates, &[&gate::SEQUENCER, &(gate::LINES + gate::ENTRIES - 1)]).await?;
    // The last position whose event was retired is one of them.
    let entries =
        [("version", VERSION), ("min_compatible", MIN_COMPATIBLE), ("retired", 0), (REVIEWS_LISTED, 1)];
    for (name, value) in entries {
        client.execute(sql::META_INSERT, &[&name, &value]).await?;
    }
    Ok(())
}

/// The name of the entry that is there once what waits for people is listed.
const REVIEWS_LISTED: &str = "reviews_listed";

/// Lists what waits for people, in a store of a release that kept no such lists. Once, place by place and page by page.
async fn list_reviews(client: &Client) -> Result<()> {
    const PAGE: usize = 1_000;
    if client.query_opt(sql::META_VALUE, &[&REVIEWS_LISTED]).await?.is_some() {
        return Ok(());
    }
    for place in client.query(sql::COUNTER_ALL, &[]).await? {
        let (pipeline, state): (&str, &str) = (place.try_get(0)?, place.try_get(1)?);
        if place.try_get::<_, &str>(2)? != Status::Open.as_str() {
            continue;
        }
        let mut after = uuid::Uuid::nil();
        loop {
            let page = client.query(sql::PLACE_ROWS, &[&pipeline, &state, &after, &limit(PAGE)]).await?;
            let Some(last) = page.last() else { break };
            after = last.try_get(0)?;
            let (mut lists, mut times, mut ids) = (Vec::new(), Vec::new(), Vec::new());
            for found in &page {
                let row = codec::found(found, 0)?.row;
                for entry in Entries::of(&row).reviews {
                    lists.push(text(&entry.pipeline).into_owned());
                    times.push(entry.at.millis());
                    ids.push(row.id.0);
                }
            }
            client.execute(sql::LATE_INSERT, &[&lists, &times, &ids]).await?;
        }
    }
    client.execute(sql::META_INSERT, &[&REVIEWS_LISTED, &1_i64]).await?;
    Ok(())
}

/// Adds what came later, and changes nothing else: a server of an older release goes on as if the new were not there.
async fn expand(client: &Client, schema: &str) -> Result<()> {
    if !has(client, "inbox").await? {
        // Functions keep the path they are made under, with the session's own tables last.
        client.batch_execute(&format!("SET LOCAL search_path = {schema}, pg_temp")).await?;
        client.batch_execute(&sql::SCHEMA_INBOX.replace("SCHEMA_NAME", schema)).await?;
        client.batch_execute(&format!("SET LOCAL search_path = {schema}")).await?;
    }
    if !has(client, "past_key").await? {
        client.batch_execute(sql::SCHEMA_PAST_KEY).await?;
    }
    if !has(client, "backup").await? {
        client.batch_execute(sql::SCHEMA_BACKUP).await?;
    }
    if !has(client, "dead_kind").await? {
        client.batch_execute(sql::SCHEMA_DEAD_KIND).await?;
    }
    Ok(())
}

async fn has(client: &Client, table: &str) -> Result<bool> {
    Ok(client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&table]).await?.try_get(0)?)
}

pub(crate) async fn is_moving(pool: &Pool) -> Result<bool> {
    let loan = Loan::of(pool).await?;
    let found = rows(loan.client(), sql::META_VALUE, &[&MIGRATING]).await?;
    loan.give_back();
    Ok(!found.is_empty())
}
