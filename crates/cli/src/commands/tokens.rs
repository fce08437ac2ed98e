use clap::{Args, Subcommand};
use model::{Millis, Role, Time};
use wire::api::{TokenBody, TokenGiven, TokenView};

use super::read_label;
use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on};

/// Make, list, revoke and rotate the tokens that say who may ask this server for what
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  milepost tokens create root --role admin
  milepost tokens create scanner --role worker --pipeline skill-review
  milepost tokens create northwind --role submitter --label owner=northwind --expires-at 2027-01-01T00:00:00Z
  milepost tokens list
  milepost tokens rotate ID --grace 1d
  milepost tokens revoke ID

The first token must be an admin's. From then on every request needs one: --token or MILEPOST_TOKEN.
A token is shown once, when it is made; only its hash is kept."
)]
pub(crate) struct Tokens {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Create(Create),
    List(List),
    Revoke(Revoke),
    Rotate(Rotate),
}

/// Make a token and print it: the one time it can be seen
#[derive(Debug, Args)]
struct Create {
    /// Whose it is: the name on everything done with it
    subject: String,

    /// Role of the token: viewer, submitter, worker, reviewer or admin
    #[arg(long)]
    role: Role,

    /// Only for this pipeline; may be given several times
    #[arg(long = "pipeline", value_name = "NAME")]
    pipelines: Vec<String>,

    /// Only for submissions with this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,

    /// The time at which it ends, such as 2027-01-01T00:00:00Z; without it, never
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Time>,

    #[command(flatten)]
    server: ServerArgs,
}

/// List all tokens, without what they are
#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    server: ServerArgs,
}

/// End a token at once
#[derive(Debug, Args)]
struct Revoke {
    /// The token's id, from `tokens list`
    id: String,

    #[command(flatten)]
    server: ServerArgs,
}

/// Make a new token with the same rights, and let the old one end
#[derive(Debug, Args)]
struct Rotate {
    /// The old token's id, from `tokens list`
    id: String,

    /// Time that the old one stays good, up to 30d [default: 1h]
    #[arg(long, value_name = "SPAN")]
    grace: Option<Millis>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Tokens {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            Verb::Create(create) => create.run(format),
            Verb::List(list) => list.run(format),
            Verb::Revoke(revoke) => revoke.run(format),
            Verb::Rotate(rotate) => rotate.run(format),
        }
    }
}

impl Create {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let body = TokenBody {
            subject: self.subject.clone(),
            role: self.role,
            pipelines: Some(self.pipelines.clone()).filter(|list| !list.is_empty()),
            labels: self.labels.iter().cloned().collect(),
            expires_at: self.expires_at,
        };
        let client = self.server.client()?;
        let given = block_on(async { Ok(client.create_token(&body).await?) })?;
        show(&given, format)
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let list = block_on(async { Ok(client.tokens().await?) })?;
        output::print_list(
            format,
            &list,
            (&list.tokens, "there is no token: everybody on the server's machine may do everything"),
            table,
        )?;
        Ok(Exit::Fine)
    }
}

impl Revoke {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let revoked = block_on(async { Ok(client.revoke_token(&self.id).await?) })?;
        match format {
            Format::Json => output::print_json(&revoked)?,
            Format::Table => say!("the token of {} is revoked", output::plain(&revoked.subject)),
        }
        Ok(Exit::Fine)
    }
}

impl Rotate {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let given = block_on(async { Ok(client.rotate_token(&self.id, self.grace).await?) })?;
        show(&given, format)
    }
}

/// The token alone on stdout, so that it can go where it belongs without being seen.
fn show(given: &TokenGiven, format: Format) -> anyhow::Result<Exit> {
    match format {
        Format::Json => output::print_json(given)?,
        Format::Table => output::print(&format!("{}\n", given.token.0))?,
    }
    say!("keep it now: it is not shown again; its id is {}", given.about.id);
    Ok(Exit::Fine)
}

fn table(tokens: &[TokenView]) -> String {
    let mut table = Table::new(["ID", "SUBJECT", "ROLE", "FOR", "CREATED", "LAST USED", "ENDS"]);
    let or = |time: Option<Time>, none: &str| time.map_or_else(|| none.to_owned(), |at| at.to_string());
    for token in tokens {
        table.row([
            token.id.to_string(),
            token.subject.to_string(),
            token.role.to_string(),
            scope(token),
            token.created_at.to_string(),
            or(token.last_used_at, "never"),
            or(token.expires_at, "never"),
        ]);
    }
    table.render()
}

fn scope(token: &TokenView) -> String {
    let pipelines = token.pipelines.iter().flatten().map(|name| format!("pipeline={name}"));
    let labels = token.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let scope: Vec<String> = pipelines.chain(labels).collect();
    if scope.is_empty() { "everything".to_owned() } else { scope.join(" ") }
}
