use clap::{Args, Subcommand};
use client::{Client, Filter, Page};
use model::api::SubmissionPage;
use model::{Status, SubmissionId};

use super::act;
use super::list::read_label;
use crate::bulk::{BulkArgs, Deed};
use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on, program, read_id};

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
    what: Option<What>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum What {
    List(List),
    Redrive(Redrive),
}

/// List them, newest first
#[derive(Debug, Args)]
struct List {
    /// Of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// In this state
    #[arg(long, value_name = "NAME")]
    state: Option<String>,

    /// With this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,

    /// How many at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this one: the last of the page before
    #[arg(long, value_name = "ID", value_parser = read_id)]
    after: Option<SubmissionId>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Set one going again where it stopped, or all that fit
#[derive(Debug, Args)]
struct Redrive {
    /// The submission's id
    #[arg(value_name = "ID", value_parser = read_id, required_unless_present = "pipeline", conflicts_with = "pipeline")]
    id: Option<SubmissionId>,

    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    bulk: BulkArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Dead {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.what {
            None => self.list.run(format),
            Some(What::List(list)) => list.run(format),
            Some(What::Redrive(redrive)) => redrive.run(format),
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let page = block_on(self.page(&client))?;
        match format {
            Format::Json => output::print_json(&page)?,
            Format::Table if page.submissions.is_empty() => say!("there are no dead letters"),
            Format::Table => output::print(&table(&page))?,
        }
        if let Some(next) = page.next {
            say!("there are more: `{} dead ... --after {next}{}`", program(), self.server.same_server());
        }
        Ok(Exit::Fine)
    }

    async fn page(&self, client: &Client) -> anyhow::Result<SubmissionPage> {
        let filter = Filter {
            pipeline: self.pipeline.clone(),
            state: self.state.clone(),
            labels: self.labels.iter().cloned().collect(),
            ..Filter::default()
        };
        Ok(client.dead(&filter, &Page { limit: Some(self.limit), after: self.after }).await?)
    }
}

fn table(page: &SubmissionPage) -> String {
    let mut table = Table::new(["ID", "PIPELINE", "STATE", "KEY", "CODE", "ERROR"]);
    for submission in &page.submissions {
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
        let (Some(id), None) = (self.id, &self.bulk.pipeline) else {
            let pipeline = self.bulk.pipeline.as_deref().unwrap_or_default();
            let deed = Deed { action: "redrive", reason: self.reason.as_deref(), ..Deed::default() };
            let dead = self.bulk.only(Status::Dead)?;
            return block_on(dead.run(pipeline, deed, &self.server, format));
        };
        let client = self.server.client()?;
        let submission = block_on(async { Ok(client.redrive(id, self.reason.as_deref()).await?) })?;
        act::print(&submission, format)?;
        Ok(Exit::Fine)
    }
}
