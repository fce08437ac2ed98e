use clap::Args;
use wire::api::{RetireAnswer, RetireBody};

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// Let go of versions of a pipeline that nothing follows
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost retire skill-review --unused --dry-run
  milepost retire skill-review --unused
  milepost retire skill-review --version 3

A version stays while a submission follows it, open or ended and not forgotten, while an operation migrates submissions
to it, and while it is in force or was before the one in force. Nothing can follow a retired version any more, nor go back
to it. Its definition stays in the store, where the audit log names it.")]
pub(crate) struct Retire {
    /// The pipeline
    #[arg(value_name = "PIPELINE")]
    pipeline: String,

    /// The version to retire
    #[arg(long, value_name = "VERSION", required_unless_present = "unused", conflicts_with = "unused")]
    version: Option<u32>,

    /// Retire every version that nothing needs
    #[arg(long)]
    unused: bool,

    /// Only say what would come of it
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    server: ServerArgs,
}

impl Retire {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let body = RetireBody { version: self.version, unused: self.unused, dry_run: self.dry_run };
        let answer = block_on(async { Ok(client.retire(&self.pipeline, body).await?) })?;
        match format {
            Format::Json => output::print_json(&answer)?,
            Format::Table => output::print(&table(&answer))?,
        }
        Ok(Exit::Fine)
    }
}

fn table(answer: &RetireAnswer) -> String {
    let mut table = Table::new(["VERSION", "NOW", "WHY"]);
    let retired = if answer.dry_run { "would be retired" } else { "retired" };
    for version in &answer.retired {
        table.row([version.to_string(), retired.to_owned(), "-".to_owned()]);
    }
    for kept in &answer.kept {
        table.row([kept.version.to_string(), "kept".to_owned(), kept.reason.clone()]);
    }
    table.render()
}
