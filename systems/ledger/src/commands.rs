//! `milepost ledger ..`: submit batches, find them, look at services, and run one round of the queuer over a file.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use client::Client;
use serde_json::Value;
use system::{Command, Exit, Failed, Shown, Stop, Table, plain};
use wire::Json;
use wire::api::{SubmitBody, SubmitMany};

use crate::lookup::{self, PIPELINE};
use crate::queue_file::{Answer, FILE_BYTES_MAX, answer};
use crate::services;

/// The most batches of one call.
const BATCHES_MAX: usize = 1_000;

/// Say which batches of a file one round would submit, in which order, and what the others wait for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost ledger queue batches.json
  milepost ledger queue batches.json -o json | jq -r '.queue[]'

The file is JSON: {\"now\", \"window_seconds\", \"batches\": [{\"batch_header\", \"service_id\", \"created_at\", \"submitted\",
\"batch_status\", \"last_submitted_at\"}]}. Times are seconds. A status is null or one of Unknown, Pending, Delayed, Valid,
Invalid and Committed. It asks no server, and changes nothing.")]
struct Queue {
    /// The batches; `-` reads them from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Submit batches: those of one service are sent in the order of this call's time, then of their headers
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost ledger submit batches.json

The file is JSON: a batch as the pipeline ledger-batch takes it, or a list of them: {\"service_id\", \"batch_header\",
\"serialized_batch\"}, with a \"nonce\" where the service is an account of Ethereum. All go in one call. It ends with 1 if
one of them was refused.")]
struct Submit {
    /// The batches; `-` reads them from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Find batches by header or data change, also those that have ended
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost ledger status dcid:4711

The newest come first, a hundred at most.")]
struct Status {
    /// The header of a batch, or a data change, which begins with `dcid:`
    #[arg(value_name = "HEADER")]
    name: String,
}

/// Show services with something to do, those in trouble first
#[derive(Debug, Args)]
struct Services {
    /// One service alone
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
}

pub(crate) fn all() -> Vec<Command> {
    vec![
        Command::asking("submit", |submit: Submit, client| async move { submitted(&submit, &client).await }),
        Command::asking("status", |status: Status, client| async move { status_of(&status, &client).await }),
        Command::asking("services", |services: Services, client| async move {
            under_way(services.service.as_deref(), &client).await
        }),
        Command::new("queue", |queue: Queue| async move { show(&queue) }),
    ]
}

async fn submitted(submit: &Submit, client: &Client) -> Result<Shown, Failed> {
    let bytes = read_shown(&submit.file)?;
    let shown = plain(&submit.file.display().to_string());
    Json::check_bytes(&bytes)
        .map_err(|error| Stop::usage(format!("{shown}: it is not strict JSON: {error}")))?;
    let payloads = lookup::payloads(serde_json::from_slice(&bytes)?);
    if payloads.is_empty() || payloads.len() > BATCHES_MAX {
        let message =
            format!("{shown}: it has {} batches; one call takes 1 to {BATCHES_MAX}", payloads.len());
        return Err(Stop::usage(message).into());
    }
    let headers: Vec<String> = payloads.iter().map(|payload| text(&payload["batch_header"])).collect();
    let one = |payload: Value| SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    let body = SubmitMany { submissions: payloads.into_iter().map(one).collect() };
    let answer = client.submit_many(PIPELINE, &body, None).await?;
    let mut table = Table::new(["BATCH", "SUBMISSION", "STATE"]);
    let mut is_refused = false;
    for (header, result) in headers.into_iter().zip(&answer.results) {
        match (&result.submission, &result.problem) {
            (Some(made), _) => table.row([header, made.id.to_string(), made.state.to_string()]),
            (None, problem) => {
                is_refused = true;
                let why = problem.as_ref().map(|problem| format!("{} ({})", problem.detail, problem.code));
                table.row([header, "refused".to_owned(), why.unwrap_or_default()]);
            }
        }
    }
    let exit = if is_refused { Exit::Negative } else { Exit::Fine };
    Ok(Shown::new(table.render(), &answer).exit(exit))
}

async fn status_of(status: &Status, client: &Client) -> Result<Shown, Failed> {
    let found = lookup::batches(client, &status.name, None).await?;
    let mut table = Table::new(["BATCH", "SERVICE", "STATE", "SINCE", "ERROR"]);
    for batch in &found.batches {
        table.row([
            batch.id.to_string(),
            batch.service_id.clone().unwrap_or_default(),
            batch.state.clone(),
            batch.entered_at.to_string(),
            batch.error.clone().unwrap_or_default(),
        ]);
    }
    let shown = Shown::new(table.render(), &found);
    match found.batches.is_empty() {
        true => Err(Stop::new(Exit::NotFound, format!("no batch has `{}`", plain(&status.name))).into()),
        false => Ok(shown),
    }
}

async fn under_way(service: Option<&str>, client: &Client) -> Result<Shown, Failed> {
    let found = services::services(client, service).await?;
    let mut table = Table::new(["SERVICE", "UNDER WAY", "STATE", "SINCE", "WAITING", "WHAT IS WRONG"]);
    for service in &found.services {
        let waiting = format!("{}{}", service.waiting, if service.more_waiting { "+" } else { "" });
        let held: Vec<String> = service.holds.iter().map(|hold| format!("held: {}", hold.reason)).collect();
        let Some(holder) = &service.holder else {
            let none = String::new;
            table.row([service.service_id.clone(), none(), none(), none(), waiting, held.join("; ")]);
            continue;
        };
        let state = match holder.status {
            wire::Status::Dead => format!("{}, dead", holder.state),
            _ if holder.overdue => format!("{}, late", holder.state),
            _ => holder.state.clone(),
        };
        let wrong: Vec<String> = held.into_iter().chain(holder.error.clone()).collect();
        table.row([
            service.service_id.clone(),
            holder.id.to_string(),
            state,
            holder.entered_at.to_string(),
            waiting,
            wrong.join("; "),
        ]);
    }
    Ok(Shown::new(table.render(), &found))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn show(queue: &Queue) -> Result<Shown, Failed> {
    let bytes = read_shown(&queue.file)?;
    let shown = plain(&queue.file.display().to_string());
    let answer = answer(&bytes).map_err(|error| Stop::usage(format!("{shown}: {error}")))?;
    Ok(Shown::new(table(&answer), &answer))
}

fn read_shown(file: &Path) -> Result<Vec<u8>, Stop> {
    read(file)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", plain(&file.display().to_string()))))
}

/// Reads a file, and no more of it than shows that it is too large.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    match file == Path::new("-") {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut bytes)?,
        false => File::open(file)?.take(limit).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

fn table(answer: &Answer) -> String {
    let mut table = Table::new(["BATCH", "ROUND", "WHY"]);
    for (no, header) in answer.queue.iter().enumerate() {
        table.row([header.clone(), format!("now, {}", no + 1), String::new()]);
    }
    for later in &answer.later {
        table.row([later.batch_header.clone(), "later".to_owned(), later.why.clone()]);
    }
    for header in &answer.never {
        table.row([header.clone(), "never".to_owned(), "under way or decided".to_owned()]);
    }
    table.render()
}
