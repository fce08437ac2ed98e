//! `milepost ledger queue`: one round of the queuer over a file.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use system::{Command, Failed, Shown, Stop, Table, plain};

use crate::queue_file::{Answer, FILE_BYTES_MAX, answer};

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

pub(crate) fn all() -> Vec<Command> {
    vec![Command::new("queue", |queue: Queue| async move { show(&queue) })]
}

fn show(queue: &Queue) -> Result<Shown, Failed> {
    let shown = plain(&queue.file.display().to_string());
    let bytes = read(&queue.file).map_err(|error| Stop::usage(format!("cannot read {shown}: {error}")))?;
    let answer = answer(&bytes).map_err(|error| Stop::usage(format!("{shown}: {error}")))?;
    Ok(Shown::new(table(&answer), &answer))
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
