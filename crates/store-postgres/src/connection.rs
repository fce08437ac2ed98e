//! Connections and how they are set up.

use std::net::IpAddr;
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use store::Error;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::address;
use crate::error::{Fault, Result};
use crate::machines::{Machines, Socket};
use crate::query::Client;
use crate::sql;
use crate::tls::Tls;

/// The database's address, the schema in it, and the number and patience of connections.
#[derive(Clone)]
pub struct Settings {
    /// The address, as `postgres://user:password@host:5432/database?sslmode=require`.
    pub url: String,
    /// The schema that has the tables: several stores fit one database.
    pub schema: String,
    /// Connections for reading.
    pub readers: usize,
    /// Connections for transactions: one for each thread that commits.
    pub writers: usize,
    /// The time a part of a call may take before its connection is given up. Longer than the database's own limit for
    /// a statement: this limit is for a database that does not answer at all.
    pub patience: Duration,
}

impl Settings {
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        let (schema, patience) = ("milepost".to_owned(), Duration::from_secs(35));
        Settings { url: url.into(), schema, readers: 4, writers: 4, patience }
    }

    #[must_use]
    pub fn schema(self, schema: impl Into<String>) -> Self {
        Settings { schema: schema.into(), ..self }
    }
}

/// The address may have a password in it: never printed.
impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// A lost network is noticed within so much, whatever the system's own patience.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn config(settings: &Settings) -> Result<Config, Error> {
    let mut config = address::config(&settings.url)?;
    if config.get_application_name().is_none() {
        config.application_name("milepost");
    }
    if config.get_connect_timeout().is_none() {
        // Where there are several machines, one that says nothing must not use up the time for all of them.
        let machines = config.get_hosts().len().clamp(1, 5);
        config.connect_timeout(PATIENCE / u32::try_from(machines).expect("a handful"));
    }
    config.keepalives_idle(PATIENCE).tcp_user_timeout(PATIENCE);
    if config.get_ssl_mode() == SslMode::Prefer {
        // Whoever does not say is not asked to trust a network with a password: only this machine goes without TLS.
        let local = config.get_hosts().iter().all(is_local);
        config.ssl_mode(if local { SslMode::Disable } else { SslMode::Require });
    }
    Ok(config)
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

/// Quotes a schema's name, as `search_path` takes it.
pub(crate) fn quoted(schema: &str) -> String {
    format!("\"{}\"", schema.replace('"', "\"\""))
}

/// A pool whose connections have prepared these queries before anybody gets them: only then do statements go out in
/// the order they are asked for.
pub(crate) fn pool(
    settings: &Settings,
    size: usize,
    queries: &'static [&'static str],
) -> Result<Pool, Error> {
    let config = config(settings)?;
    let machines = machines(&config)?;
    let how = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_connect(config, machines, how);
    let session = format!("{}SET search_path = {};", sql::SESSION, quoted(&settings.schema));
    let set_up = Hook::async_fn(move |client: &mut Client, _| {
        let session = session.clone();
        Box::pin(async move { set_up(client, &session, queries).await.map_err(HookError::Backend) })
    });
    // The last of several machines may be the one that answers.
    let timeouts = Timeouts { wait: Some(PATIENCE), create: Some(2 * PATIENCE), recycle: Some(PATIENCE) };
    Pool::builder(manager)
        .max_size(size.max(1))
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .post_create(set_up)
        .build()
        .map_err(|error| Error::unavailable(format!("connections cannot be set up: {error}")))
}

/// A connection outside the pools, and what has to be polled for it to live.
pub(crate) async fn alone(settings: &Settings) -> Result<(tokio_postgres::Client, Socket)> {
    let unusable = |error: Error| match error {
        Error::Unavailable { message, .. } => Fault::Unavailable(message),
        other => Fault::Unavailable(other.to_string()),
    };
    Ok(machines(&config(settings).map_err(unusable)?).map_err(unusable)?.connect().await?)
}

fn machines(config: &Config) -> Result<Machines, Error> {
    let within = config.get_connect_timeout().copied().unwrap_or(PATIENCE);
    Ok(Machines::new(config, Tls::new()?, within))
}

async fn set_up(client: &Client, session: &str, queries: &[&str]) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(session).await?;
    let prepared = queries.iter().map(|query| client.prepare_cached(query));
    futures_util::future::try_join_all(prepared).await?;
    Ok(())
}

pub(crate) async fn connect(pool: &Pool) -> Result<Object> {
    match pool.get().await {
        Ok(connection) => Ok(connection),
        Err(PoolError::PostCreateHook(HookError::Backend(error))) => Err(Fault::Postgres(error)),
        Err(error) => Err(error.into()),
    }
}

/// The queries that a connection for reading or for transactions prepares.
pub(crate) const READS: &[&str] = sql::READS;
pub(crate) const WRITES: &[&str] = sql::WRITES;
