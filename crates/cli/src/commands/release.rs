use clap::Args;

use super::holds::table;
use crate::exit::Exit;
use crate::output::{self, Format};
use crate::remote::{ServerArgs, block_on};

/// End a hold: what it stopped goes on
#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The hold's id, as `milepost holds` shows it
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    server: ServerArgs,
}

impl Release {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let hold = block_on(async { Ok(client.release(&self.id).await?) })?;
        match format {
            Format::Json => output::print_json(&hold)?,
            Format::Table => output::print(&table([&hold]))?,
        }
        Ok(Exit::Fine)
    }
}
