use clap::{Args, Subcommand};
use client::{Client, CursorFilter};
use wire::api::{CursorList, CursorView};

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// Look at cursors, the positions that readers of the feed keep, and delete them
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  milepost cursors list
  milepost cursors delete mailer
  milepost cursors delete mailer --subject ada     another's, with a token for everything

A cursor belongs to the subject of the token that moved it. A reader whose cursor is deleted begins anew."
)]
pub(crate) struct Cursors {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Delete(Delete),
}

/// List your cursors; with an admin's token for everything, those of all subjects
#[derive(Debug, Args)]
struct List {
    /// Only those of this subject
    #[arg(long)]
    subject: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Delete a cursor: its reader begins anew
#[derive(Debug, Args)]
struct Delete {
    /// The cursor's name, from `cursors list`
    name: String,

    /// The subject whose cursor it is; left out: your own
    #[arg(long)]
    subject: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Cursors {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            Verb::List(list) => list.run(format),
            Verb::Delete(delete) => delete.run(format),
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let list = block_on(all(&client, self.subject.clone()))?;
        output::print_list(format, &list, (&list.cursors, "there is no cursor yet"), |rows| table(rows))?;
        Ok(Exit::Fine)
    }
}

/// Every page as one.
async fn all(client: &Client, subject: Option<String>) -> anyhow::Result<CursorList> {
    let mut page = CursorFilter { subject, limit: Some(1_000), after: None };
    let mut cursors = Vec::new();
    loop {
        let found = client.cursors(&page).await?;
        cursors.extend(found.cursors);
        page.after = found.next;
        if page.after.is_none() {
            return Ok(CursorList { cursors, next: None });
        }
    }
}

impl Delete {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let subject = self.subject.as_deref();
        let gone = block_on(async { Ok(client.delete_cursor(&self.name, subject).await?) })?;
        match format {
            Format::Json => output::print_json(&gone)?,
            Format::Table => output::print(&table([&gone]))?,
        }
        Ok(Exit::Fine)
    }
}

fn table<'a>(cursors: impl IntoIterator<Item = &'a CursorView>) -> String {
    let mut table = Table::new(["NAME", "SUBJECT", "POSITION", "MOVED"]);
    for cursor in cursors {
        table.row([
            cursor.name.to_string(),
            cursor.subject.as_deref().unwrap_or_default().to_owned(),
            cursor.position.to_string(),
            cursor.moved_at.to_string(),
        ]);
    }
    table.render()
}
