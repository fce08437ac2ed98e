use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::copying::{bar, private_copy, private_folder, sync};
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, say};
use crate::store_place::Place;

/// Copy everything a server keeps, while it runs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost backup --data /var/lib/milepost /mnt/backups/2026-11-16
  milepost backup --config /etc/milepost/milepost.toml /mnt/backups/2026-11-16

Run it on the server's machine, as its user. The copy is of one moment, and nobody waits for it. It has every submission,
token and secret in it, and the key that signs the audit log: keep it as you keep the data. What the signer remembers
(log.guard) is left out, because it must not go back in time.

Where the data and the key are is read from the settings of `serve`, too: the environment, and the file of --config.

A PostgreSQL store is backed up with PostgreSQL's own tools.")]
pub(crate) struct Backup {
    /// The server's file of settings (TOML)
    #[arg(long, env = "MILEPOST_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The folder to make; it must not be there, or be empty
    #[arg(value_name = "FOLDER")]
    target: PathBuf,

    /// The folder that holds the server's data
    #[arg(
        long,
        env = "MILEPOST_DATA",
        hide_env_values = true,
        default_value = "milepost-data",
        value_name = "DIR"
    )]
    data: PathBuf,

    /// The server's store, where it is named by an address
    #[arg(
        long,
        env = "MILEPOST_STORE",
        hide_env_values = true,
        conflicts_with = "data",
        value_name = "STORE"
    )]
    store: Option<String>,

    /// The file with the log's keys, where it is not in the data folder
    #[arg(long, value_name = "FILE", conflicts_with = "without_key")]
    audit_key: Option<PathBuf>,

    /// Leave out the key that signs the audit log
    #[arg(long)]
    without_key: bool,
}

impl Backup {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let data = self.data()?;
        let at = engine::clock::wall();
        private_folder(&self.target)?;
        let database = self.target.join("milepost.db");
        let bar = bar("pages");
        let copied = store_sqlite::backup::copy(&data, &database, &mut |progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        });
        bar.finish_and_clear();
        copied.map_err(|error| Stop::new(Exit::Negative, format!("the backup failed: {error}")))?;
        let look = store_sqlite::backup::look(&database, false)
            .map_err(|error| Stop::new(Exit::Negative, format!("the copy is no good: {error}")))?;
        let key = self.copy_key(&data)?;
        sync(&self.target)?;
        if let Err(error) = store_sqlite::backup::note(&data, at) {
            say!("the copy is complete, but {} cannot be told so: {error}", data.display());
        }
        let bytes = std::fs::metadata(&database)?.len();
        match format {
            Format::Json => output::print_json(&json!({
                "folder": self.target, "bytes": bytes, "submissions": look.submissions,
                "first": look.first, "last": look.last, "with_key": key,
            }))?,
            Format::Table => output::print(&format!(
                "{} has {} submissions and all up to position {}, {bytes} bytes\n",
                self.target.display(),
                look.submissions,
                look.last
            ))?,
        }
        if !key {
            say!("the key of the audit log is not in it: without that key a restored store is another log");
        }
        Ok(Exit::Fine)
    }

    fn data(&self) -> Result<PathBuf, Stop> {
        match self.store.as_deref().map(Place::read).transpose()? {
            None => Ok(self.data.clone()),
            Some(Place::Folder(folder)) => Ok(folder),
            Some(Place::Postgres(_)) => Err(Stop::new(
                Exit::Refused,
                "a PostgreSQL store is backed up with PostgreSQL's own tools: pg_dump, or a base backup with its log",
            )),
        }
    }

    fn copy_key(&self, data: &Path) -> anyhow::Result<bool> {
        if self.without_key {
            return Ok(false);
        }
        let key = self.audit_key.clone().unwrap_or_else(|| data.join("log.key"));
        if self.audit_key.is_none() && !key.exists() {
            return Ok(false);
        }
        private_copy(&key, &self.target.join("log.key"))?;
        Ok(true)
    }
}
