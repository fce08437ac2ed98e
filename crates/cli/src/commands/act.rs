use clap::Args;
use client::ActOptions;
use model::SubmissionId;
use model::api::{ActBody, SubmissionView};
use model::event::Kind;

use super::list::table;
use crate::exit::Exit;
use crate::output::{self, Format, say};
use crate::remote::{ServerArgs, WaitArgs, block_on, document, idempotency_key, read_id, rested};

/// Make a move that people make: approve, reject, escalate, ...
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost act ID escalate
  milepost act ID reject --reason 'asks for more rights than it needs'
  milepost act ID approve --data '{\"intent\":true}' --wait

`milepost show ID` says which actions there are. Where an action has a task, the move is made when the task is done:
--wait waits for it.")]
pub(crate) struct Act {
    /// The submission's id
    #[arg(value_name = "ID", value_parser = read_id)]
    id: SubmissionId,

    /// The action, as the pipeline names it
    #[arg(value_name = "ACTION")]
    action: String,

    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,

    /// What the action asks for, as JSON
    #[arg(long, value_name = "JSON")]
    data: Option<String>,

    /// The state to go to, where the action lets you pick
    #[arg(long, value_name = "STATE")]
    to: Option<String>,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Act {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let body = ActBody {
            reason: self.reason.clone(),
            data: document(self.data.as_deref(), None)?,
            to: self.to.as_deref().map(Into::into),
        };
        block_on(self.act(&body, format))
    }

    async fn act(&self, body: &ActBody, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let options = ActOptions { idempotency_key: Some(idempotency_key()), revision: None };
        let submission = client.act(self.id, &self.action, body, &options).await?;
        if !self.wait.wait {
            print(&submission, format)?;
            let last = client.events(self.id, submission.revision.saturating_sub(1)).await?;
            if last.events.first().is_some_and(|event| event.kind == Kind::Requested) {
                say!("granted; the move is made when its task is done (--wait waits for it)");
            }
            return Ok(Exit::Fine);
        }
        let waited = self.wait.wait(&client, self.id).await?;
        print(&waited.submission, format)?;
        Ok(rested(&waited, &self.server))
    }
}

pub(crate) fn print(submission: &SubmissionView, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::print_json(submission),
        Format::Table => Ok(output::print(&table([submission]))?),
    }
}
