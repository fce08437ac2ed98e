use clap::Args;
use wire::api::HoldView;

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// List the holds in force
#[derive(Debug, Args)]
pub(crate) struct Holds {
    #[command(flatten)]
    server: ServerArgs,
}

impl Holds {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let list = block_on(async { Ok(client.holds().await?) })?;
        output::print_list(format, &list, (&list.holds, "nothing is held"), |rows| table(rows))?;
        Ok(Exit::Fine)
    }
}

/// Holds as people look at them.
pub(crate) fn table<'a>(holds: impl IntoIterator<Item = &'a HoldView>) -> String {
    let mut table = Table::new(["ID", "HOLDS", "BY", "SINCE", "UNTIL", "REASON"]);
    for hold in holds {
        table.row([
            hold.id.to_string(),
            held(hold),
            hold.owner.name.to_string(),
            hold.created_at.to_string(),
            hold.expires_at.map_or_else(|| "released".to_owned(), |at| at.to_string()),
            hold.reason.clone(),
        ]);
    }
    table.render()
}

fn held(hold: &HoldView) -> String {
    let pipeline = hold.pipeline.iter().map(|name| format!("pipeline={name}"));
    let labels = hold.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let lane = hold.lane.iter().map(|lane| format!("lane={lane}"));
    let submission = hold.submission.iter().map(|id| format!("submission={id}"));
    pipeline.chain(labels).chain(lane).chain(submission).collect::<Vec<_>>().join(" ")
}
