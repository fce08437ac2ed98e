use clap::{Args, Subcommand};
use client::ResultFilter;
use model::SubmissionId;
use wire::operation::{Filter, Operation};

use crate::bulk::{self, Bulk};
use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on, program, read_id};

/// Look after operations: what is being done to many submissions at once
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  milepost operations
  milepost operations show ID --wait
  milepost operations results ID --code action-not-allowed
  milepost operations stop ID

`resume`, `act`, `dead redrive` with --pipeline and `migrate` start them. They go on when the server is started again,
and can be looked at for 30 days."
)]
pub(crate) struct Operations {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Show(Show),
    Results(Results),
    Stop(Stop),
}

/// List them, newest first
#[derive(Debug, Args)]
struct List {
    /// Number to show at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this one: the last of the page before
    #[arg(long, value_name = "ID", value_parser = read_id)]
    after: Option<SubmissionId>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Show one: what it does, to whom, and how far it is
#[derive(Debug, Args)]
struct Show {
    /// The operation's id
    #[arg(value_name = "ID", value_parser = read_operation)]
    id: SubmissionId,

    /// Wait until it has ended; exit with 1 unless everything was done
    #[arg(long)]
    wait: bool,

    #[command(flatten)]
    server: ServerArgs,
}

/// Show what came of each submission
#[derive(Debug, Args)]
struct Results {
    /// The operation's id
    #[arg(value_name = "ID", value_parser = read_operation)]
    id: SubmissionId,

    /// Those that were refused with this code
    #[arg(long)]
    code: Option<String>,

    /// Number to show at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this submission: the last of the page before
    #[arg(long, value_name = "ID", value_parser = read_id)]
    after: Option<SubmissionId>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Stop one that runs; what was done stays done
#[derive(Debug, Args)]
struct Stop {
    /// The operation's id
    #[arg(value_name = "ID", value_parser = read_operation)]
    id: SubmissionId,

    #[command(flatten)]
    server: ServerArgs,
}

fn read_operation(text: &str) -> Result<SubmissionId, String> {
    text.parse().map_err(|_| "an operation's id looks like 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57".to_owned())
}

impl Operations {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            None => self.list.run(format),
            Some(Verb::List(list)) => list.run(format),
            Some(Verb::Show(show)) => show.run(format),
            Some(Verb::Results(results)) => results.run(format),
            Some(Verb::Stop(stop)) => stop.run(format),
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let after = self.after.map(|id| id.to_string());
        let page = block_on(async { Ok(client.operations(Some(self.limit), after.as_deref()).await?) })?;
        output::print_list(format, &page, (&page.operations, "there are no operations"), |rows| {
            bulk::table(rows)
        })?;
        if let Some(next) = page.next {
            say!("there are more: `{} operations --after {next}{}`", program(), self.server.same_server());
        }
        Ok(Exit::Fine)
    }
}

impl Show {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let bulk = Bulk { client: self.server.client()?, server: &self.server };
        let id = self.id.to_string();
        let operation = block_on(async {
            if self.wait { bulk.watch(&id).await } else { Ok(bulk.client.operation(&id).await?) }
        })?;
        show(&operation, format)?;
        if operation.found > 0 && format == Format::Table {
            say!("what came of each: `{} operations results {id}{}`", program(), self.server.same_server());
        }
        Ok(if self.wait { bulk::exit([&operation]) } else { Exit::Fine })
    }
}

fn show(operation: &Operation, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::print_json(operation);
    }
    let mut table = Table::bare();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row([name.to_owned(), value]);
        }
    };
    add("id", Some(operation.id.to_string()));
    add("does", Some(bulk::does(operation)));
    add("to", Some(whom(&operation.filter)));
    add("reason", operation.reason.clone());
    add("by", Some(operation.by.name.to_string()));
    add("status", Some(bulk::status(operation).to_owned()));
    add("found", Some(operation.found.to_string()));
    add(if operation.dry_run { "would be done" } else { "done" }, Some(operation.done.to_string()));
    for (code, count) in &operation.refused {
        add("refused", Some(format!("{count} with {code}")));
    }
    add("started", Some(operation.started_at.to_string()));
    add("ended", operation.ended_at.map(|at| at.to_string()));
    Ok(output::print(&table.render())?)
}

/// A filter as its options.
fn whom(filter: &Filter) -> String {
    let mut words = vec![format!("pipeline={}", filter.pipeline)];
    let mut add =
        |name: &str, value: Option<String>| words.extend(value.map(|value| format!("{name}={value}")));
    add("version", filter.version.map(|version| version.to_string()));
    add("state", filter.state.as_ref().map(ToString::to_string));
    add("status", filter.status.map(|status| status.as_str().to_owned()));
    add("parent", filter.parent.map(|id| id.to_string()));
    add("lane", filter.lane.as_ref().map(ToString::to_string));
    add("error", filter.error.as_ref().map(ToString::to_string));
    add("fingerprint", filter.fingerprint.map(|wanted| wanted.to_string()));
    add("created_before", filter.created_before.map(|at| at.to_string()));
    add("created_after", filter.created_after.map(|at| at.to_string()));
    add("entered_before", filter.entered_before.map(|at| at.to_string()));
    add("worker", filter.worker.as_ref().map(ToString::to_string));
    words.extend(filter.labels.iter().map(|(name, value)| format!("{name}={value}")));
    words.join(" ")
}

impl Results {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let filter = ResultFilter { code: self.code.clone(), limit: Some(self.limit), after: self.after };
        let id = self.id.to_string();
        let page = block_on(async { Ok(client.operation_results(&id, &filter).await?) })?;
        match format {
            Format::Json => output::print_json(&page)?,
            Format::Table if page.results.is_empty() && page.next.is_none() => say!("there are no results"),
            Format::Table => output::print(&bulk::results(&page.results))?,
        }
        if let Some(next) = page.next {
            let code = self.code.as_ref().map_or_else(String::new, |code| format!(" --code {code}"));
            let server = self.server.same_server();
            say!("there are more: `{} operations results {id}{code} --after {next}{server}`", program());
        }
        Ok(Exit::Fine)
    }
}

impl Stop {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let id = self.id.to_string();
        let operation = block_on(async { Ok(client.stop_operation(&id).await?) })?;
        show(&operation, format)?;
        Ok(Exit::Fine)
    }
}
