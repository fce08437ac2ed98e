use clap::Args;
use client::Client;
use model::SubmissionId;
use model::submission::{Approval, Children, Investigation};
use serde::Serialize;
use wire::api::{AttemptEnd, EventView, LaneView, SubmissionView};

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on, say_actions};
use crate::which::Which;

/// Show a submission and everything that happened to it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost show 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57
  milepost show skill-review/northwind/clock
  milepost show 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57 -o json")]
pub(crate) struct Show {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    #[command(flatten)]
    server: ServerArgs,
}

/// The server's answers to both questions.
#[derive(Debug, Serialize)]
struct Shown {
    submission: SubmissionView,
    events: Vec<EventView>,
}

impl Show {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let shown = block_on(async {
            let submission = client.submission(self.id.id(&client).await?).await?;
            let events = events(&client, submission.id).await?;
            Ok(Shown { submission, events })
        })?;
        match format {
            Format::Json => output::print_json(&shown)?,
            Format::Table => {
                let text = format!(
                    "{}\n{}{}{}",
                    about(&shown.submission),
                    timeline(&shown.events),
                    attempts(&shown.submission),
                    told(&shown.events)
                );
                output::print(&text)?;
                say_actions(&shown.submission, &self.server);
            }
        }
        Ok(Exit::Fine)
    }
}

async fn events(client: &Client, id: SubmissionId) -> Result<Vec<EventView>, client::Error> {
    let mut events = Vec::new();
    let mut after = 0;
    loop {
        let page = client.events(id, after).await?;
        events.extend(page.events);
        match page.next {
            Some(next) => after = next,
            None => return Ok(events),
        }
    }
}

/// Lists the submission's fields, without those that say nothing.
fn about(submission: &SubmissionView) -> String {
    let mut table = Table::bare();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.row([name.to_owned(), value]);
        }
    };
    let labels: Vec<String> =
        submission.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let lease = submission.lease.as_ref();
    let lease = lease.map(|lease| format!("{} by {} until {}", lease.task, lease.worker, lease.expires_at));
    add("id", Some(submission.id.to_string()));
    add("pipeline", Some(format!("{}, version {}", submission.pipeline, submission.version)));
    add("state", Some(submission.state.to_string()));
    add("status", Some(submission.status.as_str().to_owned()));
    add("error", submission.error.as_ref().map(|error| format!("{} ({})", error.message, error.code)));
    add("key", submission.key.as_deref().map(str::to_owned));
    add("labels", Some(labels.join(" ")).filter(|text| !text.is_empty()));
    add(
        "priority",
        Some(submission.priority).filter(|priority| *priority != 0).map(|priority| priority.to_string()),
    );
    add("parent", submission.parent.map(|id| id.to_string()));
    add(
        "attempt",
        Some(submission.attempt).filter(|attempt| *attempt > 1).map(|attempt| attempt.to_string()),
    );
    add("lane", submission.lane.as_ref().map(lane));
    add("children", Some(submission.children).filter(|children| children.total > 0).map(children));
    add("lease", lease);
    let progress = submission.lease.as_ref().and_then(|lease| lease.progress.as_ref());
    add("progress", progress.map(|progress| format!("{progress} (at {})", progress.at)));
    for hold in &submission.holds {
        add("held by", Some(format!("{}: {}", hold.owner.name, hold.reason)));
    }
    for approval in &submission.approvals {
        let Approval { action, to, by } = approval;
        add("approved by", Some(format!("{by}: {action} to {to}")));
    }
    add("reviewer", submission.assigned.as_ref().map(|held| format!("{} until {}", held.to, held.until)));
    add("notes", Some(submission.notes).filter(|notes| *notes > 0).map(|notes| notes.to_string()));
    for sla in &submission.sla {
        let late = if sla.late { ", late" } else { "" };
        add("due", Some(format!("{} at {}{late}", sla.name, sla.due_at)));
    }
    add("wakes at", submission.wake_at.map(|at| at.to_string()));
    add("created", Some(submission.created_at.to_string()));
    add("entered", Some(submission.entered_at.to_string()));
    add("finished", submission.finished_at.map(|at| at.to_string()));
    add("investigation", submission.investigation.as_ref().map(investigation));
    add("payload", submission.payload.as_ref().map(|json| json.canonical()));
    for (state, output) in submission.outputs.iter().flatten() {
        add("output", Some(format!("{state} {}", output.canonical())));
    }
    add("result", submission.result.as_ref().map(|json| json.canonical()));
    table.render()
}

fn investigation(investigation: &Investigation) -> String {
    match investigation {
        Investigation::Open => "open: nobody has acknowledged it".to_owned(),
        Investigation::Acknowledged { by, at, note } => {
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            format!("acknowledged by {by} at {at}{note}")
        }
    }
}

fn lane(lane: &LaneView) -> String {
    let stand = match (lane.holds, lane.waits) {
        (true, _) => ", which it holds",
        (false, true) => ", in line",
        (false, false) => "",
    };
    format!("{}{stand}", lane.key)
}

fn children(children: Children) -> String {
    let Children { total, open, succeeded, failed, cancelled } = children;
    format!("{total}: {open} open, {succeeded} succeeded, {failed} failed, {cancelled} cancelled")
}

fn timeline(events: &[EventView]) -> String {
    let mut table = Table::new(["AT", "EVENT", "FROM", "TO", "TRIGGER", "BY", "ERROR", "METADATA"]);
    for event in events {
        let (kind, name) = (event.actor.kind.as_str(), &*event.actor.name);
        table.row([
            event.at.to_string(),
            event.kind.as_str().to_owned(),
            event.from.as_deref().unwrap_or("-").to_owned(),
            event.to.to_string(),
            event.trigger.to_string(),
            if kind == name { kind.to_owned() } else { format!("{kind} {name}") },
            what_went_wrong(event).unwrap_or_default(),
            event.metadata.as_ref().map(|json| json.canonical()).unwrap_or_default(),
        ]);
    }
    table.render()
}

/// Returns the error of an event as people read it, or the worker that vanished.
pub(super) fn what_went_wrong(event: &EventView) -> Option<String> {
    let error = event.error.as_ref().map(|error| format!("{} ({})", error.message, error.code));
    error.or_else(|| event.worker.as_ref().map(|worker| format!("the worker {worker} stopped answering")))
}

/// The tries of workers that are kept; nothing where none has ended.
fn attempts(submission: &SubmissionView) -> String {
    if submission.attempts.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["STATE", "TRY", "WORKER", "STARTED", "TOOK", "END", "ERROR"]);
    for attempt in &submission.attempts {
        let error = attempt.error.as_ref();
        table.row([
            attempt.state.to_string(),
            attempt.attempt.to_string(),
            attempt.worker.to_string(),
            attempt.started_at.to_string(),
            super::rough(attempt.ended_at.since(attempt.started_at)),
            match attempt.end {
                AttemptEnd::Finished => attempt.trigger.to_string(),
                end => end.as_str().to_owned(),
            },
            error.map_or_else(String::new, |error| format!("{} ({})", error.message, error.code)),
        ]);
    }
    let left_out = match submission.attempts_left_out {
        0 => String::new(),
        count => format!("{count} tries between the first two and the last eight are not kept\n"),
    };
    format!("\n{}{left_out}", table.render())
}

/// Renders whom the moves told and whom they could not tell; nothing where they tell nobody.
fn told(events: &[EventView]) -> String {
    let mut table = Table::new(["TOLD", "BY", "OF", "DELIVERIES", "PROBLEM"]);
    let mut any = false;
    for event in events {
        for told in &event.notified {
            any = true;
            let ids: Vec<String> = told.deliveries.iter().map(ToString::to_string).collect();
            table.row([
                told.name.to_string(),
                told.channel.as_str().to_owned(),
                event.to.to_string(),
                if ids.is_empty() { "-".to_owned() } else { ids.join(" ") },
                told.problem.clone().unwrap_or_default(),
            ]);
        }
    }
    if any { format!("\n{}", table.render()) } else { String::new() }
}
