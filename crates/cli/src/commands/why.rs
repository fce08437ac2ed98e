use clap::Args;

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};
use crate::which::Which;

/// Say why a submission is not moving
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost why 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57
  milepost why 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57 -o json")]
pub(crate) struct Why {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    #[command(flatten)]
    server: ServerArgs,
}

impl Why {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let answer = block_on(async { Ok(client.why(self.id.id(&client).await?).await?) })?;
        match format {
            Format::Json => output::print_json(&answer)?,
            Format::Table => {
                let mut table = Table::new(["REASON", "WHY"]);
                for reason in answer.reasons {
                    table.row([reason.code, reason.sentence]);
                }
                output::print(&format!("{}, {}\n{}", answer.state, answer.status.as_str(), table.render()))?;
            }
        }
        Ok(Exit::Fine)
    }
}
