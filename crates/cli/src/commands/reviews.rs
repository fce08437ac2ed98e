use clap::{Args, Subcommand};
use client::{ActOptions, ReviewFilter};
use model::{Millis, Role};
use wire::api::{HandOverBody, SubmissionView};

use super::act;
use crate::exit::Exit;
use crate::listing::say_if_more;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on, idempotency_key};
use crate::which::Which;

/// Look after what waits for people: list it, take it on, hand it over, write notes
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  milepost reviews
  milepost reviews --mine
  milepost reviews --unassigned --role reviewer
  milepost reviews claim ID --for 1h
  milepost reviews hand-over ID --to bob
  milepost reviews release ID
  milepost reviews note ID 'asked the author for the licence'

What is due first comes first. Until a claim ends, or its holder has decided, nobody else decides but admins."
)]
pub(crate) struct Reviews {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Claim(Claim),
    HandOver(HandOver),
    Release(Release),
    Note(Note),
}

/// List them, the first due first
#[derive(Debug, Args)]
struct List {
    /// Those you have taken on
    #[arg(long, conflicts_with = "unassigned")]
    mine: bool,

    /// Those nobody has taken on
    #[arg(long)]
    unassigned: bool,

    /// Of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// Those that this role is asked to review
    #[arg(long, value_name = "ROLE")]
    role: Option<Role>,

    /// Number to show at most, up to 1000
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those after this place: what the page before said
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Take one on, or keep it for longer
#[derive(Debug, Args)]
struct Claim {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    /// For so long, up to 7d; half an hour where nothing is said
    #[arg(long = "for", value_name = "SPAN")]
    span: Option<Millis>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Give one to somebody else
#[derive(Debug, Args)]
struct HandOver {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    /// The subject who reviews from now on
    #[arg(long, value_name = "SUBJECT")]
    to: String,

    /// For so long, up to 7d; half an hour where nothing is said
    #[arg(long = "for", value_name = "SPAN")]
    span: Option<Millis>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Let one go
#[derive(Debug, Args)]
struct Release {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    #[command(flatten)]
    server: ServerArgs,
}

/// Write down what others should know, in whatever state the submission is
#[derive(Debug, Args)]
struct Note {
    /// The submission: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(value_name = "ID")]
    id: Which,

    /// The note: up to 4,000 bytes
    #[arg(value_name = "TEXT")]
    text: String,

    #[command(flatten)]
    server: ServerArgs,
}

impl Reviews {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            None => self.list.run(format),
            Some(Verb::List(list)) => list.run(format),
            Some(verb) => {
                act::print(&block_on(changed(verb))?, format)?;
                Ok(Exit::Fine)
            }
        }
    }
}

async fn changed(verb: &Verb) -> anyhow::Result<SubmissionView> {
    let options = ActOptions { idempotency_key: Some(idempotency_key()), revision: None };
    Ok(match verb {
        Verb::List(_) => unreachable!("a list changes nothing"),
        Verb::Claim(Claim { id, span, server }) => {
            let client = server.client()?;
            client.claim_review(id.id(&client).await?, *span, &options).await?
        }
        Verb::HandOver(HandOver { id, to, span, server }) => {
            let body = HandOverBody { to: to.as_str().into(), span: *span };
            let client = server.client()?;
            client.hand_over_review(id.id(&client).await?, &body, &options).await?
        }
        Verb::Release(Release { id, server }) => {
            let client = server.client()?;
            client.release_review(id.id(&client).await?, &options).await?
        }
        Verb::Note(Note { id, text, server }) => {
            let client = server.client()?;
            client.note(id.id(&client).await?, text, &options).await?
        }
    })
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let whose = match (self.mine, self.unassigned) {
            (true, _) => Some("mine"),
            (_, true) => Some("unassigned"),
            _ => None,
        };
        let filter = ReviewFilter {
            pipeline: self.pipeline.clone(),
            role: self.role.map(|role| role.to_string()),
            whose: whose.map(str::to_owned),
            limit: Some(self.limit),
            after: self.after.clone(),
        };
        let client = self.server.client()?;
        let page = block_on(async { Ok(client.reviews(&filter).await?) })?;
        output::print_list(format, &page, (&page.submissions, "nothing waits for anybody"), table)?;
        say_if_more("reviews ...", page.next, &self.server);
        Ok(Exit::Fine)
    }
}

fn table(submissions: &[SubmissionView]) -> String {
    let mut table = Table::new(["ID", "PIPELINE", "STATE", "SINCE", "DUE", "REVIEWER", "ACTIONS"]);
    for submission in submissions {
        let due = submission.sla.iter().min_by_key(|sla| sla.due_at);
        let late = due.is_some_and(|sla| sla.late);
        let due = due.map_or_else(|| "-".to_owned(), |sla| sla.due_at.to_string());
        let held = submission.assigned.as_ref();
        table.row([
            submission.id.to_string(),
            submission.pipeline.to_string(),
            submission.state.to_string(),
            submission.entered_at.to_string(),
            if late { format!("{due}, late") } else { due },
            held.map_or_else(|| "-".to_owned(), |held| format!("{} until {}", held.to, held.until)),
            submission.actions.join(", "),
        ]);
    }
    table.render()
}
