use clap::Args;
use wire::api::SubmissionView;

use crate::exit::Exit;
use crate::listing::say_if_more;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// List submissions that have missed a service level, the longest ago first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost overdue
  milepost overdue --pipeline skill-review -o json")]
pub(crate) struct Overdue {
    /// Of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// Number to show at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this place: what the page before said
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Overdue {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let page = block_on(async {
            Ok(client.overdue(self.pipeline.as_deref(), Some(self.limit), self.after.as_deref()).await?)
        })?;
        output::print_list(format, &page, (&page.submissions, "nothing is overdue"), table)?;
        say_if_more("overdue ...", page.next, &self.server);
        Ok(Exit::Fine)
    }
}

fn table(submissions: &[SubmissionView]) -> String {
    let mut table = Table::new(["ID", "PIPELINE", "STATE", "SERVICE LEVEL", "WAS DUE", "KEY"]);
    for submission in submissions {
        let first = submission.sla.iter().min_by_key(|sla| sla.due_at);
        table.row([
            submission.id.to_string(),
            submission.pipeline.to_string(),
            submission.state.to_string(),
            first.map_or_else(String::new, |sla| sla.name.to_string()),
            first.map_or_else(String::new, |sla| sla.due_at.to_string()),
            submission.key.as_deref().unwrap_or("-").to_owned(),
        ]);
    }
    table.render()
}
