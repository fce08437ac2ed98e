use clap::Args;
use client::ActOptions;
use model::Status;
use wire::api::ActBody;

use super::act;
use crate::bulk::{BulkArgs, Deed};
use crate::exit::Exit;
use crate::output::Format;
use crate::remote::{ServerArgs, block_on, idempotency_key};
use crate::which::Which;

/// Let a submission that failed go on, or all that fit, by their action `resume`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost resume ID
  milepost resume ID --to DOWNLOADING --reason 'the mirror is back'
  milepost resume --pipeline ingest-job --status failed --error disk-full --dry-run
  milepost resume --pipeline ingest-job --label owner=northwind --reason 'there is room again' --yes

Without --to it goes on in the state it failed in. A dead letter is redriven instead: `milepost dead redrive ID`. With
--pipeline both are done, to all that failed and then to all that are dead (--status picks one of them), each as an operation of
the server: `milepost operations` shows them. With -o json both are a list.")]
pub(crate) struct Resume {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID", required_unless_present = "pipeline", conflicts_with = "pipeline")]
    id: Option<Which>,

    /// The state to go on in, one of those the action lets you pick
    #[arg(long, value_name = "STATE")]
    to: Option<String>,

    /// The reason, for the record
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    bulk: BulkArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Resume {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let (Some(id), None) = (&self.id, &self.bulk.pipeline) else {
            let (reason, to) = (self.reason.as_deref(), self.to.as_deref());
            let deed = Deed { action: "resume", reason, to, data: None };
            let statuses = self.bulk.among(&[Status::Failed, Status::Dead])?;
            return block_on(self.bulk.run_each(&statuses, deed, &self.server, format));
        };
        let body =
            ActBody { reason: self.reason.clone(), data: None, to: self.to.as_deref().map(Into::into) };
        let client = self.server.client()?;
        let options = ActOptions { idempotency_key: Some(idempotency_key()), revision: None };
        let submission =
            block_on(async { Ok(client.act(id.id(&client).await?, "resume", &body, &options).await?) })?;
        act::print(&submission, format)?;
        Ok(Exit::Fine)
    }
}
