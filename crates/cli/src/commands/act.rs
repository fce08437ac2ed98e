use clap::Args;
use client::{ActOptions, Client, Rest};
use model::event::Kind;
use wire::api::{ActBody, FormView, SubmissionView};

use super::list::table;
use crate::bulk::{BulkArgs, Deed};
use crate::exit::{Exit, Stop};
use crate::output::{self, Format, Table, plain, say};
use crate::remote::{ServerArgs, WaitArgs, block_on, document, idempotency_key, rested};
use crate::which::Which;

/// Make a move that people make, for one submission or all that fit: approve, reject, escalate, ...
#[derive(Debug, Args)]
#[command(
    override_usage = "milepost act [OPTIONS] <ID> [ACTION]\n       milepost act [OPTIONS] --pipeline <NAME> <ACTION>",
    after_help = "\
Examples:
  milepost act ID
  milepost act ID escalate
  milepost act ID reject --reason 'asks for more rights than it needs'
  milepost act ID approve --data '{\"intent\":true}' --wait
  milepost act --pipeline skill-review --state NEEDS_REVIEW --label owner=northwind reject --reason 'asked by owner' --yes

Without an action, it lists those there are, what each asks for, and why you may not take the others. Where an action has
a task, the move is made when the task is done: --wait waits for it. With --pipeline the action is done to all that fit, as an operation of the server."
)]
pub(crate) struct Act {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID", required = true)]
    first: String,

    /// The action, as the pipeline names it; without one, all are listed
    #[arg(value_name = "ACTION")]
    second: Option<String>,

    /// The reason, for the record
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
                let which = Which::from(&*self.first);
                return block_on(list(&self.server.client()?, &which, format));
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
    let answer = client.actions(submission.id).await?;
    let asked = answer.actions.iter().filter(|view| &*view.name == action);
    for form in asked.flat_map(|view| &view.forms) {
        let begun = form.to.iter().filter(|target| !target.agreed.is_empty());
        begun.filter_map(|target| form.agreement(target)).for_each(|sentence| say!("{}", plain(&sentence)));
    }
    Ok(())
}

/// Lists what the caller may do, and why not the rest.
async fn list(client: &Client, which: &Which, format: Format) -> anyhow::Result<Exit> {
    let answer = client.actions(which.id(client).await?).await?;
    if format == Format::Json {
        output::print_json(&answer)?;
        return Ok(Exit::Fine);
    }
    let mut table = Table::new(["ACTION", "OPEN", "TO", "ASKS FOR"]);
    for action in &answer.actions {
        let open = if action.legal { "yes" } else { "no" }.to_owned();
        let name = action.name.to_string();
        match (&action.refusal, action.forms.as_slice()) {
            (Some(refusal), _) => table.row([name, open, String::new(), refusal.detail.clone()]),
            (None, forms) => forms.iter().for_each(|form| {
                let to: Vec<&str> = form.to.iter().map(|target| &*target.state).collect();
                table.row([name.clone(), open.clone(), to.join(" or "), asked(form)]);
            }),
        }
    }
    output::print(&format!("{}, {}\n{}", answer.state, answer.status.as_str(), table.render()))?;
    Ok(Exit::Fine)
}

/// Says in a line what a form asks for.
fn asked(form: &FormView) -> String {
    let mut parts = Vec::new();
    parts.extend(form.when.as_ref().map(|when| format!("data with {when}")));
    parts.extend(form.reason.then(|| "--reason".to_owned()));
    parts.extend(form.data.as_ref().map(|_| "--data".to_owned()));
    parts.extend((form.to.len() > 1).then(|| match &form.pick {
        Some(pick) => format!("--to, else {pick}"),
        None => "--to".to_owned(),
    }));
    parts.extend(form.task.as_ref().map(|task| format!("task {task} runs first")));
    parts.extend(form.to.iter().filter_map(|target| form.agreement(target)));
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}

pub(crate) fn print(submission: &SubmissionView, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::print_json(submission),
        Format::Table => Ok(output::print(&table([submission]))?),
    }
}
