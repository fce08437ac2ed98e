use clap::Args;
use wire::api::{FiguresView, FlowView};

use super::rough;
use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// The minutes that the table adds up.
const MINUTES: usize = 60;

/// Show what flows, how long it stays, and what stops it, of all servers over the store
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost figures
  milepost figures -o json")]
pub(crate) struct Figures {
    #[command(flatten)]
    server: ServerArgs,
}

impl Figures {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let figures = block_on(async { Ok(client.figures().await?) })?;
        match format {
            Format::Json => output::print_json(&figures)?,
            Format::Table => output::print(&told(&figures))?,
        }
        Ok(Exit::Fine)
    }
}

fn told(figures: &FiguresView) -> String {
    let parts = [
        store(figures),
        flow(&figures.flow),
        dwells(figures),
        oldest(figures),
        dead(figures),
        limits(figures),
        unpolled(figures),
        unknown(figures),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing has happened yet\n".to_owned() } else { parts.join("\n") }
}

fn store(figures: &FiguresView) -> Option<String> {
    let store = figures.store.as_ref()?;
    let bytes = store.bytes.map(|bytes| format!("the store takes {bytes} bytes"));
    let checkpoint =
        store.checkpoint_ago.map(|ago| format!("the last checkpoint is from {} ago", rough(ago)));
    let backup = match store.backup_ago {
        Some(ago) => format!("the last backup is from {} ago", rough(ago)),
        None => "no backup of it is known".to_owned(),
    };
    let told: Vec<String> = [bytes, Some(backup), checkpoint].into_iter().flatten().collect();
    (!told.is_empty()).then(|| format!("{}\n", told.join("; ")))
}

fn flow(flow: &FlowView) -> Option<String> {
    let mut table = Table::new(["PIPELINE", "FROM", "TO", "LAST MINUTE", "LAST HOUR"]);
    for edge in &flow.edges {
        // The last is under way.
        let whole = &edge.minutes[..edge.minutes.len().saturating_sub(1)];
        let hour: u64 = edge.minutes.iter().rev().take(MINUTES).sum();
        table.row([
            edge.pipeline.to_string(),
            edge.from.as_deref().unwrap_or("-").to_owned(),
            edge.to.to_string(),
            whole.last().copied().unwrap_or(0).to_string(),
            hour.to_string(),
        ]);
    }
    (!flow.edges.is_empty()).then(|| table.render())
}

fn dwells(figures: &FiguresView) -> Option<String> {
    let mut table = Table::new(["PIPELINE", "STATE", "LEFT", "P50", "P95", "P99"]);
    for dwell in &figures.dwells {
        let percentiles = dwell.percentiles;
        table.row([
            dwell.pipeline.to_string(),
            dwell.state.to_string(),
            dwell.measured.to_string(),
            rough(percentiles.p50),
            rough(percentiles.p95),
            rough(percentiles.p99),
        ]);
    }
    (!figures.dwells.is_empty()).then(|| table.render())
}

fn oldest(figures: &FiguresView) -> Option<String> {
    let mut table = Table::new(["PIPELINE", "STATE", "OLDEST", "CREATED"]);
    for oldest in &figures.oldest {
        table.row([
            oldest.pipeline.to_string(),
            oldest.state.to_string(),
            oldest.submission.to_string(),
            oldest.created_at.to_string(),
        ]);
    }
    (!figures.oldest.is_empty()).then(|| table.render())
}

fn dead(figures: &FiguresView) -> Option<String> {
    let mut table = Table::new(["PIPELINE", "STATE", "DEAD", "FINGERPRINT", "CODE", "ERROR"]);
    for dead in &figures.dead {
        let code = if dead.code.is_empty() { "-" } else { &dead.code };
        table.row([
            dead.pipeline.to_string(),
            dead.state.to_string(),
            dead.count.to_string(),
            dead.fingerprint.to_string(),
            code.to_owned(),
            dead.message.to_string(),
        ]);
    }
    (!figures.dead.is_empty()).then(|| table.render())
}

fn limits(figures: &FiguresView) -> Option<String> {
    let mut table = Table::new(["PIPELINE", "LIMIT", "IN USE", "OF"]);
    for limit in &figures.limits {
        table.row([
            limit.pipeline.to_string(),
            format!("{}={}", limit.label, limit.value),
            limit.in_use.to_string(),
            limit.most.map_or_else(|| "-".to_owned(), |most| most.to_string()),
        ]);
    }
    (!figures.limits.is_empty()).then(|| table.render())
}

fn unpolled(figures: &FiguresView) -> Option<String> {
    let mut table = Table::new(["NOBODY ASKS FOR", "PIPELINE", "STATE", "OPEN", "LAST ASKED"]);
    for task in &figures.unpolled {
        table.row([
            task.task.to_string(),
            task.pipeline.to_string(),
            task.state.to_string(),
            task.open.to_string(),
            task.polled_ago.map_or_else(|| "-".to_owned(), |ago| format!("{} ago", rough(ago))),
        ]);
    }
    (!figures.unpolled.is_empty()).then(|| table.render())
}

fn unknown(figures: &FiguresView) -> Option<String> {
    let mut table = Table::new(["NO PIPELINE HAS", "ASKED FOR BY", "LAST"]);
    for task in &figures.unknown_tasks {
        table.row([task.task.to_string(), task.worker.to_string(), format!("{} ago", rough(task.asked_ago))]);
    }
    (!figures.unknown_tasks.is_empty()).then(|| table.render())
}
