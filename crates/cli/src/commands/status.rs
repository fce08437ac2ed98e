use clap::Args;
use wire::api::{DutyView, InvestigationCount, ServiceLevelView, StatsView, VerdictView};

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// Show how a server is doing: how much is where, and whether its own chores get done
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost status
  milepost status -o json

Exits with 1 if something is wrong: the store is away, or a chore is overdue.")]
pub(crate) struct Status {
    #[command(flatten)]
    server: ServerArgs,
}

impl Status {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let stats = block_on(async { Ok(client.stats().await?) })?;
        match format {
            Format::Json => output::print_json(&stats)?,
            Format::Table => output::print(&told(&client.server(), &stats))?,
        }
        let well = stats.condition == "running" && stats.duties.iter().all(|duty| !duty.overdue);
        Ok(if well { Exit::Fine } else { Exit::Negative })
    }
}

fn told(server: &str, stats: &StatsView) -> String {
    let last = stats.last_event.map_or(String::new(), |last| format!("; the last event is {last}"));
    let mut text = format!("{server} is {}{last}\n", stats.condition);
    if !stats.counts.is_empty() {
        let mut counts = Table::new(["PIPELINE", "STATE", "STATUS", "COUNT"]);
        for place in &stats.counts {
            counts.row([
                place.pipeline.to_string(),
                place.state.to_string(),
                place.status.as_str().to_owned(),
                place.count.to_string(),
            ]);
        }
        text.push_str(&format!("\n{}", counts.render()));
    }
    if !stats.investigations.is_empty() {
        let mut ends = Table::new(["PIPELINE", "STATE", "TO INVESTIGATE", "ACKNOWLEDGED"]);
        for end in &stats.investigations {
            let InvestigationCount { pipeline, state, open, acknowledged } = end;
            ends.row([pipeline.to_string(), state.to_string(), open.to_string(), acknowledged.to_string()]);
        }
        text.push_str(&format!("\n{}", ends.render()));
    }
    if let Some(levels) = levels(&stats.service_levels) {
        text.push_str(&format!("\n{levels}"));
    }
    let mut duties = Table::new(["DUTY", "LAST GOOD", "PASSES", "FAILURES", "NOW"]);
    for duty in &stats.duties {
        duties.row([
            duty.name.to_string(),
            duty.last_good_ago.map_or_else(|| "-".to_owned(), |ago| format!("{} ago", super::rough(ago))),
            duty.passes.to_string(),
            duty.failures.to_string(),
            now(duty),
        ]);
    }
    format!("{text}\n{}", duties.render())
}

/// A line for each window of each level in which something was measured.
fn levels(levels: &[ServiceLevelView]) -> Option<String> {
    let mut table =
        Table::new(["PIPELINE", "SERVICE LEVEL", "LAST", "MEASURED", "MEDIAN (TARGET)", "P95 (LIMIT)"]);
    let mut any = false;
    for level in levels {
        for window in level.windows.iter().filter(|window| window.measured > 0) {
            any = true;
            table.row([
                level.pipeline.to_string(),
                level.name.to_string(),
                window.window.clone(),
                window.measured.to_string(),
                verdict(window.target, level.target.as_deref()),
                verdict(window.p95, level.p95.as_deref()),
            ]);
        }
    }
    any.then(|| table.render())
}

fn verdict(verdict: Option<VerdictView>, declared: Option<&str>) -> String {
    let (Some(verdict), Some(declared)) = (verdict, declared) else { return "-".to_owned() };
    let met = if verdict.met { "met" } else { "missed" };
    format!("{} ({declared}: {met})", super::rough(verdict.figure))
}

fn now(duty: &DutyView) -> String {
    match (&duty.elsewhere, &duty.last_error, duty.overdue) {
        (Some(server), ..) => format!("done by {server}"),
        (None, Some(error), true) => format!("overdue: {error}"),
        (None, None, true) => "overdue".to_owned(),
        (None, Some(error), false) => error.clone(),
        (None, None, false) => "fine".to_owned(),
    }
}
