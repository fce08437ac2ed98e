use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fetch::{Fetch, Policy};
use model::Millis;
use system::Desk;
use worker::Worker;

use super::worker::own_name;
use crate::exit::Exit;
use crate::logging::{self, LogFormat};
use crate::remote::{ServerArgs, block_on};
use crate::settings::ConfigFile;
use crate::signals::Signals;
use crate::systems;

/// Do the tasks of a system, and follow the feed for it, away from the server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost work skills --server https://milepost.example --token-file skills.token

The system's settings are the table [system.NAME] of the file that --config or MILEPOST_CONFIG names. The token needs the
rights of what the system does: an admin's, for the system's pipelines.
SIGTERM and Ctrl-C end it in good order: nothing more is taken, and what was begun is finished.")]
pub(crate) struct Work {
    /// The system
    #[arg(value_name = "NAME")]
    system: String,

    /// A file of settings (TOML), for its table of the system
    #[arg(long, env = "MILEPOST_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Number of tasks at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    max: u16,

    /// The name that leases and events show; the machine's and the process's number unless given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// A folder for what can be made again
    #[arg(long, value_name = "DIR", default_value = "milepost-data")]
    data: PathBuf,

    /// Time that running tasks have to end when the worker is asked to stop
    #[arg(long, value_name = "SPAN", default_value = "30s")]
    grace: Millis,

    /// Format of the logs: for people, or one JSON object a line
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,

    #[command(flatten)]
    server: ServerArgs,
}

impl Work {
    pub(crate) fn run(&self, file: Option<&ConfigFile>) -> anyhow::Result<Exit> {
        logging::start(self.log_format, "info")?;
        block_on(self.work(file))?;
        Ok(Exit::Fine)
    }

    async fn work(&self, file: Option<&ConfigFile>) -> anyhow::Result<()> {
        let system = systems::find(&self.system, file)?;
        let signals = Signals::listen()?;
        let stop = async {
            signals.asked_to_stop().await;
            tracing::info!("stopping: nothing more is taken");
        };
        let desk = Desk {
            client: self.server.client()?,
            fetch: Fetch::new(Policy::default()),
            folder: systems::folder(&self.data.join("systems"), system.name())?,
        };
        let name = self.name.clone().unwrap_or_else(own_name);
        let worker = Worker::new(desk.client.clone(), name)
            .concurrency(usize::from(self.max))
            .grace(Duration::from(self.grace));
        system::run(&*system, &desk, worker, stop).await?;
        Ok(())
    }
}
