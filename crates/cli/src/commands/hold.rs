use clap::Args;
use model::Time;
use wire::api::HoldBody;

use super::holds::table;
use super::list::read_label;
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, say};
use crate::remote::{ServerArgs, block_on, program};
use crate::which::Which;

/// Stop submissions where they are, until they are released
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost hold --pipeline ingest-job --reason 'the disk is full'
  milepost hold --label owner=northwind --reason 'asked by support' --expires-at 2026-12-01T00:00:00Z
  milepost hold --submission ID --reason 'looking at it'

All that is given must fit. A hold stops new work, waits and turns in a lane; what a worker has begun goes on.")]
pub(crate) struct Hold {
    /// Submissions of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// Submissions with this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,

    /// Submissions in this lane
    #[arg(long, value_name = "KEY")]
    lane: Option<String>,

    /// This submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(long, value_name = "ID")]
    submission: Option<Which>,

    /// The reason, for whoever finds them held
    #[arg(long)]
    reason: String,

    /// The time at which it ends by itself, such as 2026-02-15T18:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Time>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Hold {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let mut body = HoldBody {
            pipeline: self.pipeline.clone(),
            labels: self.labels.iter().cloned().collect(),
            lane: self.lane.clone(),
            submission: None,
            reason: self.reason.clone(),
            expires_at: self.expires_at,
        };
        let names_nothing = body.pipeline.is_none() && body.labels.is_empty() && body.lane.is_none();
        if names_nothing && self.submission.is_none() {
            let stop = Stop::usage("this hold names nothing and would stop everything");
            return Err(stop
                .next("name what to hold with --pipeline, --label, --lane or --submission")
                .into());
        }
        let client = self.server.client()?;
        let hold = block_on(async {
            body.submission = Which::maybe(self.submission.as_ref(), &client).await?;
            Ok(client.hold(&body).await?)
        })?;
        match format {
            Format::Json => output::print_json(&hold)?,
            Format::Table => output::print(&table([&hold]))?,
        }
        say!("release it with `{} release {}{}`", program(), hold.id, self.server.same_server());
        Ok(Exit::Fine)
    }
}
