//! Lists of submissions, a page at a time: arguments that several commands share.

use std::fmt::Display;

use clap::Args;
use client::{Client, Filter, Page};
use model::submission::Fingerprint;
use model::{InvestigationStatus, Millis, Status, SubmissionId, Time};

use crate::commands::read_label;
use crate::output::say;
use crate::remote::{ServerArgs, program, read_id};
use crate::which::Which;

/// The submissions a list is about.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// In this state
    #[arg(long, value_name = "NAME")]
    state: Option<String>,

    /// With this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,
}

impl SelectArgs {
    pub(crate) fn filter(&self) -> Filter {
        Filter {
            pipeline: self.pipeline.clone(),
            state: self.state.clone(),
            labels: self.labels.iter().cloned().collect(),
            ..Filter::default()
        }
    }
}

/// Everything that submissions are listed and exported by.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    select: SelectArgs,

    /// open, dead, succeeded, failed or cancelled
    #[arg(long)]
    status: Option<Status>,

    /// Only those that need an investigation: open or acknowledged
    #[arg(long, value_name = "STATUS")]
    investigation: Option<InvestigationStatus>,

    /// With this key: the one that holds it, those that wait for it and those that have ended
    #[arg(long)]
    key: Option<String>,

    /// Whose id begins like this
    #[arg(long, value_name = "BEGINNING")]
    id: Option<String>,

    /// Children of this submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(long, value_name = "ID")]
    parent: Option<Which>,

    /// In this lane: the one that holds it and those in line
    #[arg(long, value_name = "KEY")]
    lane: Option<String>,

    /// Created before this time, such as 2026-02-15T18:00:00Z
    #[arg(long, value_name = "TIME")]
    created_before: Option<Time>,

    /// Created at this time or later
    #[arg(long, value_name = "TIME")]
    created_after: Option<Time>,

    /// In their state for longer than this, such as 2d
    #[arg(long, value_name = "SPAN")]
    in_state_for: Option<Millis>,

    /// Whose last error has this code
    #[arg(long, value_name = "CODE")]
    error: Option<String>,

    /// Whose last error has this fingerprint, as `figures` shows it
    #[arg(long, value_name = "FINGERPRINT")]
    fingerprint: Option<Fingerprint>,

    /// That this worker has leased
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
}

impl FilterArgs {
    pub(crate) async fn filter(&self, client: &Client) -> anyhow::Result<Filter> {
        Ok(Filter {
            status: self.status,
            investigation: self.investigation,
            key: self.key.clone(),
            id: self.id.clone(),
            parent: Which::maybe(self.parent.as_ref(), client).await?,
            lane: self.lane.clone(),
            created_before: self.created_before,
            created_after: self.created_after,
            entered_before: self.in_state_for.map(|span| engine::clock::wall().minus(span)),
            error: self.error.clone(),
            fingerprint: self.fingerprint,
            worker: self.worker.clone(),
            ..self.select.filter()
        })
    }
}

/// The part of a list that is shown.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Number to show at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this one: the last of the page before
    #[arg(long, value_name = "ID", value_parser = read_id)]
    after: Option<SubmissionId>,
}

impl PageArgs {
    pub(crate) fn page(&self) -> Page {
        Page { limit: Some(self.limit), after: self.after }
    }
}

/// Says how the next page is asked for, where there is one.
pub(crate) fn say_if_more(command: &str, next: Option<impl Display>, server: &ServerArgs) {
    if let Some(next) = next {
        say!("there are more: `{} {command} --after {next}{}`", program(), server.same_server());
    }
}
