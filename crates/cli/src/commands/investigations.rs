use clap::{Args, Subcommand};
use client::{ActOptions, Client, Filter};
use model::InvestigationStatus;
use wire::api::{SubmissionPage, SubmissionView};

use super::act;
use crate::bulk::{BulkArgs, Deed};
use crate::exit::Exit;
use crate::listing::{PageArgs, SelectArgs, say_if_more};
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};
use crate::which::Which;

/// Look after ends that somebody should look into, until somebody acknowledges them
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  milepost investigations
  milepost investigations list --pipeline site-list
  milepost investigations list --acknowledged
  milepost investigations acknowledge ID --note 'the member\'s DNS was down'
  milepost investigations acknowledge --pipeline site-list --state VALIDATION_MISMATCH --dry-run"
)]
pub(crate) struct Investigations {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Acknowledge(Acknowledge),
}

/// List them, newest first
#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    select: SelectArgs,

    /// Those that were acknowledged, instead of those that were not
    #[arg(long)]
    acknowledged: bool,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    server: ServerArgs,
}

/// Say that one was looked into, or all that fit
#[derive(Debug, Args)]
struct Acknowledge {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID", required_unless_present = "pipeline", conflicts_with = "pipeline")]
    id: Option<Which>,

    /// Result of the investigation, for the record
    #[arg(long)]
    note: Option<String>,

    #[command(flatten)]
    bulk: BulkArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Investigations {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            None => self.list.run(format),
            Some(Verb::List(list)) => list.run(format),
            Some(Verb::Acknowledge(acknowledge)) => acknowledge.run(format),
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let page = block_on(self.submissions(&client))?;
        output::print_list(format, &page, (&page.submissions, "there is nothing to look into"), table)?;
        say_if_more("investigations ...", page.next, &self.server);
        Ok(Exit::Fine)
    }

    async fn submissions(&self, client: &Client) -> anyhow::Result<SubmissionPage> {
        let investigation = Some(InvestigationStatus::Acknowledged);
        let filter = Filter { investigation, ..self.select.filter() };
        let page = self.page.page();
        Ok(match self.acknowledged {
            true => client.submissions(&filter, &page).await?,
            false => client.investigations(&filter, &page).await?,
        })
    }
}

fn table(submissions: &[SubmissionView]) -> String {
    use model::Investigation::Acknowledged;
    let mut table = Table::new(["ID", "PIPELINE", "STATE", "KEY", "ENDED", "ERROR", "ACKNOWLEDGED"]);
    for submission in submissions {
        let error = submission.error.as_ref();
        let acknowledged = match &submission.investigation {
            Some(Acknowledged { by, note: Some(note), .. }) => format!("{by}: {note}"),
            Some(Acknowledged { by, note: None, .. }) => by.to_string(),
            _ => "-".to_owned(),
        };
        table.row([
            submission.id.to_string(),
            submission.pipeline.to_string(),
            submission.state.to_string(),
            submission.key.as_deref().unwrap_or("-").to_owned(),
            submission.finished_at.map_or_else(String::new, |at| at.to_string()),
            error.map_or_else(String::new, |error| error.message.clone()),
            acknowledged,
        ]);
    }
    table.render()
}

impl Acknowledge {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let (Some(id), None) = (&self.id, &self.bulk.pipeline) else {
            let pipeline = self.bulk.pipeline.as_deref().unwrap_or_default();
            let deed = Deed { action: "acknowledge", reason: self.note.as_deref(), ..Deed::default() };
            let open = self.bulk.investigated(InvestigationStatus::Open);
            return block_on(open.run(pipeline, deed, &self.server, format));
        };
        let client = self.server.client()?;
        let options = ActOptions::default();
        let acknowledged = async {
            let id = id.id(&client).await?;
            Ok(client.acknowledge(id, self.note.as_deref(), &options).await?)
        };
        act::print(&block_on(acknowledged)?, format)?;
        Ok(Exit::Fine)
    }
}
