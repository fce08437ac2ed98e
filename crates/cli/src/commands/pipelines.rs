use clap::Args;
use model::Json;
use wire::api::{DefinitionView, PipelineView};

use crate::exit::Exit;
use crate::output::{self, Format, Table};
use crate::remote::{ServerArgs, block_on};

/// List the pipelines of a server: which version of each is in force, and which others submissions may follow
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost pipelines
  milepost pipelines skill-review

The revision of a version is one more with every change of its parameters.")]
pub(crate) struct Pipelines {
    /// Show every version of one pipeline
    #[arg(value_name = "PIPELINE")]
    name: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Pipelines {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        match &self.name {
            None => {
                let list = block_on(async { Ok(client.pipelines().await?) })?;
                match format {
                    Format::Json => output::print_json(&list)?,
                    Format::Table => output::print(&all(&list.pipelines))?,
                }
            }
            Some(name) => {
                let view = block_on(async { Ok(client.pipeline(name).await?) })?;
                match format {
                    Format::Json => output::print_json(&view)?,
                    Format::Table => output::print(&versions(&view))?,
                }
            }
        }
        Ok(Exit::Fine)
    }
}

fn all(views: &[PipelineView]) -> String {
    let mut table = Table::new(["PIPELINE", "VERSION", "REVISION", "VERSIONS", "TITLE"]);
    for view in views {
        table.row([
            view.name.to_string(),
            view.version.to_string(),
            view.revision.to_string(),
            view.versions.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
            view.title.clone(),
        ]);
    }
    table.render()
}

fn versions(view: &PipelineView) -> String {
    let mut table = Table::new(["VERSION", "REVISION", "DIGEST", "NOW", "PARAMETERS SET"]);
    for known in &view.definitions {
        let now = if known.version == view.in_force { "in force" } else { "-" };
        table.row([
            known.version.to_string(),
            known.revision.to_string(),
            known.digest.to_string(),
            now.to_owned(),
            params(known),
        ]);
    }
    for version in &view.retired {
        let none = || "-".to_owned();
        table.row([version.to_string(), none(), none(), "retired".to_owned(), none()]);
    }
    table.render()
}

fn params(known: &DefinitionView) -> String {
    let set = known.params.iter().map(|(name, value): (&String, &Json)| format!("{name}={}", value.as_str()));
    let set: Vec<String> = set.collect();
    if set.is_empty() { "-".to_owned() } else { set.join(" ") }
}
