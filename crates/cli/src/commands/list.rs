use clap::Args;
use wire::api::SubmissionView;

use crate::exit::Exit;
use crate::listing::{FilterArgs, PageArgs, say_if_more};
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on};

/// List submissions, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost list --pipeline skill-review --state NEEDS_REVIEW
  milepost list --status dead --error scanner-down
  milepost list --status open --in-state-for 2d
  milepost list --label owner=northwind --limit 10 -o json")]
pub(crate) struct List {
    #[command(flatten)]
    filter: FilterArgs,

    /// Print ids alone, one a line, for scripts
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl List {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let answer = block_on(async {
            Ok(client.submissions(&self.filter.filter(&client).await?, &self.page.page()).await?)
        })?;
        match format {
            _ if self.quiet => output::print(&ids(&answer.submissions))?,
            Format::Json => output::print_json(&answer)?,
            Format::Table if answer.submissions.is_empty() && answer.next.is_some() => {
                say!("there are none among those that were looked at so far");
            }
            Format::Table if answer.submissions.is_empty() => say!("there are no such submissions"),
            Format::Table => output::print(&table(&answer.submissions))?,
        }
        say_if_more("list ...", answer.next, &self.server);
        Ok(Exit::Fine)
    }
}

fn ids(submissions: &[SubmissionView]) -> String {
    submissions.iter().map(|submission| format!("{}\n", submission.id)).collect()
}

/// Submissions as people look at them.
pub(crate) fn table<'a>(submissions: impl IntoIterator<Item = &'a SubmissionView>) -> String {
    let mut table = Table::new(["ID", "PIPELINE", "STATE", "STATUS", "CREATED", "KEY"]);
    for submission in submissions {
        table.row([
            submission.id.to_string(),
            submission.pipeline.to_string(),
            submission.state.to_string(),
            submission.status.as_str().to_owned(),
            submission.created_at.to_string(),
            submission.key.as_deref().unwrap_or("-").to_owned(),
        ]);
    }
    table.render()
}

pub(crate) fn read_label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it like name=value".to_owned()),
    }
}
