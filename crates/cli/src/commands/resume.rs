use clap::Args;
use client::ActOptions;
use model::SubmissionId;
use model::api::ActBody;

use super::act;
use crate::exit::Exit;
use crate::output::Format;
use crate::remote::{ServerArgs, block_on, idempotency_key, read_id};

/// Let a submission that failed go on, by its action `resume`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost resume ID
  milepost resume ID --to DOWNLOADING --reason 'the mirror is back'

Without --to it goes on in the state it failed in. A dead letter is redriven instead: `milepost dead redrive ID`.")]
pub(crate) struct Resume {
    /// The submission's id
    #[arg(value_name = "ID", value_parser = read_id)]
    id: SubmissionId,

    /// The state to go on in, one of those the action lets you pick
    #[arg(long, value_name = "STATE")]
    to: Option<String>,

    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Resume {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let body =
            ActBody { reason: self.reason.clone(), data: None, to: self.to.as_deref().map(Into::into) };
        let client = self.server.client()?;
        let options = ActOptions { idempotency_key: Some(idempotency_key()), revision: None };
        let submission = block_on(async { Ok(client.act(self.id, "resume", &body, &options).await?) })?;
        act::print(&submission, format)?;
        Ok(Exit::Fine)
    }
}
