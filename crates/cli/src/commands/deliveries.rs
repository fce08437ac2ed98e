use clap::{Args, Subcommand, ValueEnum};
use client::DeliveryFilter;
use model::Status;
use wire::api::DeliveryView;

use crate::exit::Exit;
use crate::listing::{PageArgs, say_if_more};
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};
use crate::which::Which;

/// Look after notifications: mails and webhooks, on their way or not
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  milepost deliveries
  milepost deliveries list --status dead
  milepost deliveries list --submission ID
  milepost deliveries replay ID --reason 'they lost it'"
)]
pub(crate) struct Deliveries {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Replay(Replay),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Channel {
    Mail,
    Webhook,
}

/// List them, newest first
#[derive(Debug, Args)]
struct List {
    /// About this submission
    #[arg(long, value_name = "ID")]
    submission: Option<Which>,

    /// Sent this way
    #[arg(long)]
    channel: Option<Channel>,

    /// Of this status: open, dead, succeeded, failed or cancelled
    #[arg(long)]
    status: Option<Status>,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    server: ServerArgs,
}

/// Send one again: a dead one goes on, one that has ended is made anew
#[derive(Debug, Args)]
struct Replay {
    /// The delivery's id, or the beginning of it
    #[arg(value_name = "ID")]
    id: Which,

    /// The reason, for the record
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Deliveries {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            None => self.list.run(format),
            Some(Verb::List(list)) => list.run(format),
            Some(Verb::Replay(replay)) => replay.run(format),
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let channel = self.channel.map(|channel| match channel {
            Channel::Mail => "mail".to_owned(),
            Channel::Webhook => "webhook".to_owned(),
        });
        let page = block_on(async {
            let submission = Which::maybe(self.submission.as_ref(), &client).await?;
            let filter = DeliveryFilter { submission, channel, status: self.status };
            Ok(client.deliveries(&filter, &self.page.page()).await?)
        })?;
        output::print_list(format, &page, (&page.deliveries, "there are no deliveries"), table)?;
        say_if_more("deliveries list ...", page.next, &self.server);
        Ok(Exit::Fine)
    }
}

fn table(deliveries: &[DeliveryView]) -> String {
    let mut table = Table::new(["ID", "NAME", "TO", "STATE", "STATUS", "TRIES", "ERROR", "NEXT TRY"]);
    for delivery in deliveries {
        let error = delivery.error.as_ref();
        table.row([
            delivery.id.to_string(),
            delivery.name.as_deref().unwrap_or("-").to_owned(),
            delivery.to.clone().unwrap_or_else(|| "-".to_owned()),
            delivery.state.to_string(),
            delivery.status.as_str().to_owned(),
            delivery.attempt.to_string(),
            error.map_or_else(|| "-".to_owned(), |error| error.code.to_string()),
            delivery.next_try_at.map_or_else(|| "-".to_owned(), |at| at.to_string()),
        ]);
    }
    table.render()
}

impl Replay {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let sent =
            block_on(async { Ok(client.replay(self.id.id(&client).await?, self.reason.as_deref()).await?) })?;
        let DeliveryView { id, state, .. } = &sent;
        match format {
            Format::Json => output::print_json(&sent)?,
            Format::Table => output::print(&format!("{id} {state}\n"))?,
        }
        Ok(Exit::Fine)
    }
}
