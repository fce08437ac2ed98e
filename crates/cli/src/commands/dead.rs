use clap::{Args, Subcommand};
use model::Status;
use wire::api::SubmissionView;

use super::act;
use crate::bulk::{BulkArgs, Deed};
use crate::exit::Exit;
use crate::listing::{PageArgs, SelectArgs, say_if_more};
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};
use crate::which::Which;

/// Look after dead letters: submissions that stopped for good, until somebody redrives them
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  milepost dead
  milepost dead list --pipeline skill-review
  milepost dead redrive ID --reason 'the scanner is back'
  milepost dead redrive --pipeline skill-review --error scanner-down --dry-run"
)]
pub(crate) struct Dead {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Redrive(Redrive),
}

/// List them, newest first
#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    server: ServerArgs,
}

/// Set one going again where it stopped, or all that fit
#[derive(Debug, Args)]
struct Redrive {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID", required_unless_present = "pipeline", conflicts_with = "pipeline")]
    id: Option<Which>,

    /// The reason, for the record
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    bulk: BulkArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Dead {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            None => self.list.run(format),
            Some(Verb::List(list)) => list.run(format),
            Some(Verb::Redrive(redrive)) => redrive.run(format),
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let page = block_on(async { Ok(client.dead(&self.select.filter(), &self.page.page()).await?) })?;
        output::print_list(format, &page, (&page.submissions, "there are no dead letters"), table)?;
        say_if_more("dead ...", page.next, &self.server);
        Ok(Exit::Fine)
    }
}

fn table(submissions: &[SubmissionView]) -> String {
    let mut table = Table::new(["ID", "PIPELINE", "STATE", "KEY", "CODE", "ERROR"]);
    for submission in submissions {
        let error = submission.error.as_ref();
        table.row([
            submission.id.to_string(),
            submission.pipeline.to_string(),
            submission.state.to_string(),
            submission.key.as_deref().unwrap_or("-").to_owned(),
            error.map_or_else(String::new, |error| error.code.to_string()),
            error.map_or_else(String::new, |error| error.message.clone()),
        ]);
    }
    table.render()
}

impl Redrive {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let (Some(id), None) = (&self.id, &self.bulk.pipeline) else {
            let pipeline = self.bulk.pipeline.as_deref().unwrap_or_default();
            let deed = Deed { action: "redrive", reason: self.reason.as_deref(), ..Deed::default() };
            let dead = self.bulk.only(Status::Dead)?;
            return block_on(dead.run(pipeline, deed, &self.server, format));
        };
        let client = self.server.client()?;
        let submission =
            block_on(async { Ok(client.redrive(id.id(&client).await?, self.reason.as_deref()).await?) })?;
        act::print(&submission, format)?;
        Ok(Exit::Fine)
    }
}
