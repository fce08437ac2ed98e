use clap::Args;
use client::Filter;
use model::{InvestigationStatus, Status, SubmissionId, Time};
use wire::api::SubmissionView;

use crate::exit::Exit;
use crate::listing::{PageArgs, SelectArgs, say_if_more};
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on, read_id};

/// List submissions, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost list --pipeline skill-review --state NEEDS_REVIEW
  milepost list --status dead
  milepost list --label owner=northwind --limit 10 -o json")]
pub(crate) struct List {
    #[command(flatten)]
    select: SelectArgs,

    /// open, dead, succeeded, failed or cancelled
    #[arg(long)]
    status: Option<Status>,

    /// Only those that need an investigation: open or acknowledged
    #[arg(long, value_name = "STATUS")]
    investigation: Option<InvestigationStatus>,

    /// The one that holds this key
    #[arg(long)]
    key: Option<String>,

    /// Children of this submission
    #[arg(long, value_name = "ID", value_parser = read_id)]
    parent: Option<SubmissionId>,

    /// In this lane: the one that holds it and those in line
    #[arg(long, value_name = "KEY")]
    lane: Option<String>,

    /// Created before this time, such as 2026-02-15T18:00:00Z
    #[arg(long, value_name = "TIME")]
    created_before: Option<Time>,

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
        let filter = Filter {
            status: self.status,
            investigation: self.investigation,
            key: self.key.clone(),
            parent: self.parent,
            lane: self.lane.clone(),
            created_before: self.created_before,
            ..self.select.filter()
        };
        let client = self.server.client()?;
        let answer = block_on(async { Ok(client.submissions(&filter, &self.page.page()).await?) })?;
        match format {
            _ if self.quiet => output::print(&ids(&answer.submissions))?,
            Format::Json => output::print_json(&answer)?,
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
