//! Settings for signing and publishing a server's audit log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use audit::witness::{Policy, Post};
use clap::Args;
use engine::LogOptions;
use engine::log::Witnesses;
use model::Millis;
use tokio::runtime::Handle;

use crate::exit::Stop;
use crate::store_place::{Place, close_file};

/// A witness that takes longer is asked again later.
const WITNESS_WITHIN: Duration = Duration::from_secs(3);
/// More than a cosignature needs.
const ANSWER_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Name of the audit log, for everybody and for ever [default: one made up at the first start]
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,

    /// The file with the log's keys; made if it is missing [default: log.key in the data folder; needed with PostgreSQL]
    #[arg(long, value_name = "FILE")]
    audit_key: Option<PathBuf>,

    /// File in which the signer remembers what it signed last: best on another disk than the data [default: beside the key]
    #[arg(long, value_name = "FILE")]
    audit_guard: Option<PathBuf>,

    /// Time between two checkpoints that are signed and published
    #[arg(long, default_value = "1s", value_name = "SPAN")]
    checkpoint_every: Millis,

    /// Ask the witnesses in this policy file for their cosignatures
    #[arg(long, value_name = "FILE")]
    witness_policy: Option<PathBuf>,
}

impl Audit {
    /// None: the log is not published, because servers over one database would each sign it with a key of their own.
    pub(crate) fn log_options(&self, place: &Place) -> Result<Option<LogOptions>, Stop> {
        if self.checkpoint_every.is_zero() {
            return Err(Stop::usage("--checkpoint-every 0s would do nothing else; 100ms is often"));
        }
        let key = match (&self.audit_key, place) {
            (Some(key), _) => {
                close_file(key)?;
                key.clone()
            }
            (None, Place::Folder(data)) => data.join("log.key"),
            (None, Place::Postgres(_)) => {
                tracing::warn!(
                    "the audit log is not published: give all servers one key with --audit-key FILE"
                );
                return Ok(None);
            }
        };
        let beside = || key.with_file_name("log.guard");
        Ok(Some(LogOptions {
            guard: self.audit_guard.clone().unwrap_or_else(beside),
            key,
            origin: self.origin.clone(),
            every: self.checkpoint_every.into(),
            witnesses: self.witness_policy.as_deref().map(witnesses).transpose()?,
        }))
    }
}

fn witnesses(path: &Path) -> Result<Witnesses, Stop> {
    let text = std::fs::read(path)
        .map_err(|error| Stop::usage(format!("cannot read the policy {}: {error}", path.display())))?;
    let policy = Policy::parse(&text).map_err(|error| Stop::usage(format!("{}: {error}", path.display())))?;
    // The first to ask installs it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(WITNESS_WITHIN).build();
    let client = client.map_err(|error| Stop::usage(format!("witnesses cannot be asked: {error}")))?;
    Ok(Witnesses::new(policy, Arc::new(Http { client, runtime: Handle::current() })))
}

/// Asks over HTTP, from a thread that may wait.
struct Http {
    client: reqwest::Client,
    runtime: Handle,
}

impl Post for Http {
    fn post(&self, url: &str, body: &str) -> Result<(u16, Vec<u8>), String> {
        let url = format!("{}/add-checkpoint", url.trim_end_matches('/'));
        let asked = self.client.post(url).body(body.to_owned());
        self.runtime.block_on(async {
            let mut response = asked.send().await.map_err(|error| error.without_url().to_string())?;
            let status = response.status().as_u16();
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| error.without_url().to_string())? {
                bytes.extend_from_slice(&chunk);
                if bytes.len() > ANSWER_BYTES_MAX {
                    return Err("its answer is too long".to_owned());
                }
            }
            Ok((status, bytes))
        })
    }
}
