use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::doctor::{self, Verdict};
use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};
use crate::store_place::Place;

/// Look at a server, its data and its surroundings, and say what to do about what is not fine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost doctor                                    the server on this machine
  milepost doctor --data /var/lib/milepost           its data folder, too
  milepost doctor --data /var/lib/milepost --offline --thorough
  milepost doctor --server https://milepost.example -o json

Exits with 1 if something is wrong; a warning alone is no reason.")]
pub(crate) struct Doctor {
    /// The data folder to look at, from its own machine and as the server's user
    #[arg(long, env = "MILEPOST_DATA", hide_env_values = true, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The store to look at, where it is named by an address
    #[arg(
        long,
        env = "MILEPOST_STORE",
        hide_env_values = true,
        conflicts_with = "data",
        value_name = "STORE"
    )]
    store: Option<String>,

    /// The certificate to look at (PEM)
    #[arg(long, env = "MILEPOST_TLS_CERT", hide_env_values = true, value_name = "FILE")]
    tls_cert: Option<PathBuf>,

    /// The file with the log's keys to look at, where it is not in the data folder
    #[arg(long, env = "MILEPOST_AUDIT_KEY", hide_env_values = true, value_name = "FILE")]
    audit_key: Option<PathBuf>,

    /// Ask no server
    #[arg(long)]
    offline: bool,

    /// Compare every index of the database with its table, too: takes longer
    #[arg(long)]
    thorough: bool,

    #[command(flatten)]
    server: ServerArgs,
}

impl Doctor {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let mut checks = Vec::new();
        let store = self.store.as_deref().filter(|store| !store.is_empty());
        match (&self.data, store.map(Place::read).transpose()?) {
            (Some(folder), _) => checks.extend(doctor::folder(folder, self.thorough)),
            (None, Some(Place::Folder(folder))) => checks.extend(doctor::folder(&folder, self.thorough)),
            (None, Some(Place::Postgres(settings))) => checks.extend(doctor::postgres(&settings)),
            (None, None) => {}
        }
        checks.extend(self.audit_key.as_deref().map(doctor::audit_key));
        checks.extend(self.tls_cert.as_deref().map(doctor::certificate));
        if !self.offline {
            let client = self.server.client()?;
            checks.extend(block_on(async { Ok(doctor::server(&client).await) })?);
        }
        let wrong = checks.iter().any(|check| check.verdict == Verdict::Wrong);
        if format == Format::Json {
            output::print_json(&json!({ "ok": !wrong, "checks": checks }))?;
        } else {
            let mut table = Table::new(["CHECK", "VERDICT", "FOUND"]);
            for check in checks {
                table.row([check.check.to_owned(), check.verdict.as_str().to_owned(), check.found]);
                if let Some(next) = check.next {
                    table.row([String::new(), String::new(), format!("-> {next}")]);
                }
            }
            output::print(&table.render())?;
        }
        Ok(if wrong { Exit::Negative } else { Exit::Fine })
    }
}
