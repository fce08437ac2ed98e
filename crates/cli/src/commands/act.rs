use clap::Args;
use client::{ActOptions, Client, Rest};
use model::event::Kind;
use wire::api::{ActBody, SubmissionView};

use super::list::table;
use crate::bulk::{BulkArgs, Deed};
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, plain, say};
use crate::remote::{ServerArgs, WaitArgs, block_on, document, idempotency_key, rested};
use crate::which::Which;

/// Make a move that people make, for one submission or all that fit: approve, reject, escalate, ...
#[derive(Debug, Args)]
#[command(
    override_usage = "milepost act [OPTIONS] <ID> <ACTION>\n       milepost act [OPTIONS] --pipeline <NAME> <ACTION>",
    after_help = "\
Examples:
  milepost act ID escalate
  milepost act ID reject --reason 'asks for more rights than it needs'
  milepost act ID approve --data '{\"intent\":true}' --wait
  milepost act --pipeline skill-review --state NEEDS_REVIEW --label owner=northwind reject --reason 'asked by owner' --yes

`milepost show ID` says which actions there are. Where an action has a task, the move is made when the task is done:
--wait waits for it. With --pipeline the action is done to all that fit, as an operation of the server."
)]
pub(crate) struct Act {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID", required = true)]
    first: String,

    /// The action, as the pipeline names it
    #[arg(value_name = "ACTION")]
    second: Option<String>,

    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,

    /// Data that the action asks for, as JSON
    #[arg(long, value_name = "JSON")]
    data: Option<String>,

    /// The state to go to, where the action lets you pick
    #[arg(long, value_name = "STATE")]
    to: Option<String>,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    bulk: BulkArgs,

    #[command(flatten)]
    server: ServerArgs,
}

impl Act {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let data = document(self.data.as_deref(), None)?;
        let (id, action) = match (&self.bulk.pipeline, &self.second) {
            (None, Some(action)) => (Which::from(&*self.first), action),
            (Some(pipeline), None) if !self.wait.wait => {
                let (reason, to) = (self.reason.as_deref(), self.to.as_deref());
                let deed = Deed { action: &self.first, reason, to, data };
                return block_on(self.bulk.run(pipeline, deed, &self.server, format));
            }
            (Some(_), None) => return Err(Stop::usage("--wait is for one submission").into()),
            (Some(_), Some(_)) => return Err(Stop::usage("give an id or --pipeline, not both").into()),
            (None, None) => {
                let stop = Stop::usage("say which submission and what to do: `milepost act ID ACTION`");
                return Err(stop.next("`milepost show ID` says which actions there are").into());
            }
        };
        let body = ActBody { reason: self.reason.clone(), data, to: self.to.as_deref().map(Into::into) };
        block_on(self.act(&id, action, &body, format))
    }

    async fn act(&self, which: &Which, action: &str, body: &ActBody, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let id = which.id(&client).await?;
        let options = ActOptions { idempotency_key: Some(idempotency_key()), revision: None };
        let submission = client.act(id, action, body, &options).await?;
        if !self.wait.wait {
            print(&submission, format)?;
            let last = client.events(id, submission.revision.saturating_sub(1)).await?;
            match last.events.first().map(|event| event.kind) {
                Some(Kind::Requested) => {
                    say!("granted; the move is made when its task is done (--wait waits for it)");
                }
                // Also where this one had agreed before: then the last event is that.
                Some(Kind::Approved) => say_who_agreed(&client, &submission, action).await?,
                _ => {}
            }
            return Ok(Exit::Fine);
        }
        let waited = self.wait.wait(&client, id).await?;
        print(&waited.submission, format)?;
        if waited.rest == Rest::Person && waited.submission.approvals.iter().any(|yes| &*yes.action == action)
        {
            say_who_agreed(&client, &waited.submission, action).await?;
        }
        Ok(rested(&waited, &self.server))
    }
}

/// Says how many have agreed to an action that needs several, and how many are missing.
async fn say_who_agreed(client: &Client, submission: &SubmissionView, action: &str) -> anyhow::Result<()> {
    let agreed: Vec<&str> =
        submission.approvals.iter().filter(|yes| &*yes.action == action).map(|yes| &*yes.by).collect();
    let why = client.why(submission.id).await?;
    let actions = why.reasons.iter().filter_map(|reason| reason.details.get("actions")?.as_array()).flatten();
    let needed = actions.filter(|one| one["name"] == action).find_map(|one| one["approvals"].as_u64());
    let (count, names) = (agreed.len(), plain(&agreed.join(", ")));
    match needed.and_then(|needed| Some((needed, usize::try_from(needed).ok()?.checked_sub(count)?))) {
        Some((needed, 1)) => say!("{count} of {needed} have agreed ({names}); one more is needed"),
        Some((needed, missing)) => {
            say!("{count} of {needed} have agreed ({names}); {missing} more are needed");
        }
        None => say!("{count} have agreed ({names}); more are needed"),
    }
    Ok(())
}

pub(crate) fn print(submission: &SubmissionView, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::print_json(submission),
        Format::Table => Ok(output::print(&table([submission]))?),
    }
}
