use std::io::{self, Write as _};

use clap::Args;
use client::Page;
use wire::export::Format;

use crate::exit::Exit;
use crate::listing::FilterArgs;
use crate::remote::{ServerArgs, block_on};

/// The submissions that are asked for at a time.
const PAGE: usize = 500;

/// Print all submissions that fit, as JSON lines or CSV
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost export --pipeline skill-review --status dead > dead.jsonl
  milepost export --created-after 2026-11-01T00:00:00Z --format csv > november.csv

Newest first, without their documents, printed as they are read: there may be millions. In CSV, text that a spreadsheet would
take for a formula begins with an apostrophe.")]
pub(crate) struct Export {
    #[command(flatten)]
    filter: FilterArgs,

    /// jsonl or csv
    #[arg(long, default_value = "jsonl")]
    format: Format,

    #[command(flatten)]
    server: ServerArgs,
}

impl Export {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        block_on(async {
            let filter = self.filter.filter(&client).await?;
            let mut page = Page { limit: Some(PAGE), after: None };
            let mut lines = self.format.head().to_owned();
            loop {
                let answer = client.submissions(&filter, &page).await?;
                answer.submissions.iter().for_each(|submission| self.format.add(submission, &mut lines));
                if !print(&lines)? || answer.next.is_none() {
                    return Ok(Exit::Fine);
                }
                lines.clear();
                page.after = answer.next;
            }
        })
    }
}

/// Prints lines. False: nobody reads any more.
fn print(lines: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(lines.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}
