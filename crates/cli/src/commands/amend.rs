use clap::Args;
use client::ActOptions;

use super::act;
use crate::exit::{Exit, Stop};
use crate::output::Format;
use crate::remote::{DataArgs, ServerArgs, block_on, idempotency_key};
use crate::which::Which;

/// Change a submission's payload while it is under way
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost amend ID --data '{\"priority\":\"high\"}'
  milepost amend ID --data '{\"note\":null}'      takes the note away
  milepost amend ID patch.json

The document is a merge patch: members replace those of the payload, null removes them. The pipeline says which fields
may be amended, and by whom.")]
pub(crate) struct Amend {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    #[command(flatten)]
    patch: DataArgs,

    /// Only if this still is its revision
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u64>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Amend {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let patch = self.patch.read()?.ok_or_else(|| {
            Stop::usage("there is nothing to amend")
                .next("give the patch with --data JSON, as a FILE, or on stdin with `-`")
        })?;
        let client = self.server.client()?;
        let options = ActOptions { idempotency_key: Some(idempotency_key()), revision: self.revision };
        let submission =
            block_on(async { Ok(client.amend(self.id.id(&client).await?, &patch, &options).await?) })?;
        act::print(&submission, format)?;
        Ok(Exit::Fine)
    }
}
