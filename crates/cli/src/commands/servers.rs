use clap::Args;
use wire::api::ServerView;

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// List the servers that share a store: where they listen, when they were last seen, and what they do for the others
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost servers
  milepost servers -o json

A server that is gone without a word is listed for a minute; what it did for the others is taken over before that.")]
pub(crate) struct Servers {
    #[command(flatten)]
    server: ServerArgs,
}

impl Servers {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let list = block_on(async { Ok(client.servers().await?) })?;
        match format {
            Format::Json => output::print_json(&list)?,
            Format::Table => output::print(&table(&list.servers))?,
        }
        Ok(Exit::Fine)
    }
}

fn table(servers: &[ServerView]) -> String {
    let mut table = Table::new(["NAME", "ADDRESS", "VERSION", "STARTED", "LAST SEEN", "DUTIES"]);
    for server in servers {
        table.row([
            server.name.to_string(),
            server.address.clone(),
            server.version.clone(),
            server.started_at.to_string(),
            format!("{} ago", super::rough(server.seen_ago)),
            server.duties.iter().map(|duty| &**duty).collect::<Vec<_>>().join(" "),
        ]);
    }
    table.render()
}
