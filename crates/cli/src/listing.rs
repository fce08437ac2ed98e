//! Lists of submissions, a page at a time: arguments that several commands share.

use std::fmt::Display;

use clap::Args;
use client::{Filter, Page};
use model::SubmissionId;

use crate::commands::read_label;
use crate::output::say;
use crate::remote::{ServerArgs, program, read_id};

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
