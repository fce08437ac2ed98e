use clap::{Args, Subcommand};
use wire::api::{EndpointBody, EndpointGiven, EndpointView};

use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on};

/// Say where webhooks may be checked, and with what: endpoints and their secrets
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  milepost endpoints add https://hooks.example/reviews --name reviews
  milepost endpoints list
  milepost endpoints rotate ID      a new secret; the old one signs beside it
  milepost endpoints retire ID      only the new one from now on
  milepost endpoints enable ID      send again to one that answered 410
  milepost endpoints remove ID

Webhooks to addresses without an endpoint are signed with the secret of the one called `default`; `rotate default`
shows a new one. A secret is shown once, when it is made."
)]
pub(crate) struct Endpoints {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Add(Add),
    /// Make a new secret and print it; the old one signs beside it until the next rotation or `retire`
    Rotate(One),
    /// Let only the newest secret sign
    Retire(One),
    /// Send again to an endpoint that answered 410
    Enable(One),
    /// Forget an endpoint and its secrets
    Remove(One),
}

/// List all endpoints, without their secrets
#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    server: ServerArgs,
}

/// Make an endpoint for an address and print its secret: the one time it can be seen
#[derive(Debug, Args)]
struct Add {
    /// Address that the webhooks go to
    url: String,

    /// Name of the endpoint
    #[arg(long)]
    name: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct One {
    /// The endpoint's id, from `endpoints list`
    id: String,

    #[command(flatten)]
    server: ServerArgs,
}

impl Endpoints {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            Verb::List(list) => list.run(format),
            Verb::Add(add) => add.run(format),
            Verb::Rotate(one) => {
                let client = one.server.client()?;
                given(&block_on(async { Ok(client.rotate_endpoint(&one.id).await?) })?, format)
            }
            Verb::Retire(one) => {
                let client = one.server.client()?;
                let view = block_on(async { Ok(client.retire_endpoint(&one.id).await?) })?;
                told(&view, "signs with its newest secret only", format)
            }
            Verb::Enable(one) => {
                let client = one.server.client()?;
                let view = block_on(async { Ok(client.enable_endpoint(&one.id).await?) })?;
                told(&view, "is sent to again", format)
            }
            Verb::Remove(one) => {
                let client = one.server.client()?;
                let view = block_on(async { Ok(client.remove_endpoint(&one.id).await?) })?;
                told(&view, "is removed", format)
            }
        }
    }
}

impl List {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let list = block_on(async { Ok(client.endpoints().await?) })?;
        output::print_list(format, &list, (&list.endpoints, "there is no endpoint yet"), table)?;
        Ok(Exit::Fine)
    }
}

impl Add {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let body = EndpointBody { url: self.url.clone(), name: self.name.clone() };
        given(&block_on(async { Ok(client.create_endpoint(&body).await?) })?, format)
    }
}

/// The secret alone on stdout, so that it can go where it belongs without being seen.
fn given(given: &EndpointGiven, format: Format) -> anyhow::Result<Exit> {
    match format {
        Format::Json => output::print_json(given)?,
        Format::Table => output::print(&format!("{}\n", given.secret.0))?,
    }
    say!("keep it now: it is not shown again; the endpoint's id is {}", given.about.id);
    Ok(Exit::Fine)
}

fn told(view: &EndpointView, what: &str, format: Format) -> anyhow::Result<Exit> {
    match format {
        Format::Json => output::print_json(view)?,
        Format::Table => say!("{} {what}", output::plain(&called(view))),
    }
    Ok(Exit::Fine)
}

fn called(view: &EndpointView) -> String {
    let name = view.name.as_deref().or(view.url.as_deref());
    name.unwrap_or(&view.id).to_owned()
}

fn table(endpoints: &[EndpointView]) -> String {
    let mut table = Table::new(["ID", "NAME", "URL", "SECRETS", "CREATED", "ROTATED", "DISABLED"]);
    for endpoint in endpoints {
        let disabled = endpoint.disabled_at.map_or_else(String::new, |at| {
            format!("{at}: {}", endpoint.disabled_reason.as_deref().unwrap_or_default())
        });
        table.row([
            endpoint.id.to_string(),
            endpoint.name.as_deref().unwrap_or_default().to_owned(),
            endpoint.url.clone().unwrap_or_else(|| "(all others)".to_owned()),
            endpoint.secrets.to_string(),
            endpoint.created_at.to_string(),
            endpoint.rotated_at.map_or_else(|| "never".to_owned(), |at| at.to_string()),
            disabled,
        ]);
    }
    table.render()
}
