use clap::Args;
use client::{Filter, Page};
use model::api::SubmissionView;
use model::{InvestigationStatus, Status, SubmissionId, Time};

use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on, program, read_id};

/// List submissions, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost list --pipeline skill-review --state NEEDS_REVIEW
  milepost list --status dead
  milepost list --label owner=northwind --limit 10 -o json")]
pub(crate) struct List {
    /// Of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// In this state
    #[arg(long, value_name = "NAME")]
    state: Option<String>,

    /// open, dead, succeeded, failed or cancelled
    #[arg(long)]
    status: Option<Status>,

    /// That ended where somebody should look into it: open or acknowledged
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

    /// With this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,

    /// Created before this time, such as 2026-02-15T18:00:00Z
    #[arg(long, value_name = "TIME")]
    created_before: Option<Time>,

    /// How many at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this one: the last of the page before
    #[arg(long, value_name = "ID", value_parser = read_id)]
    after: Option<SubmissionId>,

    #[command(flatten)]
    server: ServerArgs,
}

impl List {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let filter = Filter {
            pipeline: self.pipeline.clone(),
            state: self.state.clone(),
            status: self.status,
            investigation: self.investigation,
            key: self.key.clone(),
            parent: self.parent,
            lane: self.lane.clone(),
            labels: self.labels.iter().cloned().collect(),
            created_before: self.created_before,
        };
        let page = Page { limit: Some(self.limit), after: self.after };
        let client = self.server.client()?;
        let answer = block_on(async { Ok(client.submissions(&filter, &page).await?) })?;
        match format {
            Format::Json => output::print_json(&answer)?,
            Format::Table if answer.submissions.is_empty() => say!("there are no such submissions"),
            Format::Table => output::print(&table(&answer.submissions))?,
        }
        if let Some(next) = answer.next {
            say!("there are more: `{} list ... --after {next}{}`", program(), self.server.same_server());
        }
        Ok(Exit::Fine)
    }
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
