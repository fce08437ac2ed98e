use std::path::PathBuf;

use clap::Args;
use model::Json;
use model::api::ApplyBody;
use model::json::Value;

use crate::exit::{Exit, Stop};
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on};
use crate::source;

/// Bring a pipeline file into force on a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost apply pipelines/skill-review.toml
  milepost apply pipelines/skill-review.toml --param approve_min=90

Schemas and templates that the file names are sent along. Applying what is in force already changes nothing; a changed
file needs a higher `version`, and submissions stay with the version they were made under.")]
pub(crate) struct Apply {
    /// The pipeline file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Set a parameter of the pipeline in place of its default; the value is JSON, or else text
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = source::param)]
    params: Vec<(String, Value)>,

    #[command(flatten)]
    server: ServerArgs,
}

impl Apply {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let mut source = source::read(&self.file)?;
        source.params = self.params.iter().cloned().collect();
        let pipeline = model::pipeline::load(&source)
            .map_err(|problems| Stop::new(Exit::Refused, problems.render(&source).trim_end()))?;
        let params = Some(Json::from_value(&source.params)).filter(|_| !self.params.is_empty());
        let body = ApplyBody { toml: source.toml, files: source.files, params };
        let client = self.server.client()?;
        let answer = block_on(async { Ok(client.apply(&pipeline.name, &body).await?) })?;
        match format {
            Format::Json => output::print_json(&answer)?,
            Format::Table => {
                let mut table = Table::new(["PIPELINE", "VERSION", "DIGEST"]);
                table.row([answer.name.to_string(), answer.version.to_string(), answer.digest.to_string()]);
                output::print(&table.render())?;
            }
        }
        say!("{}", if answer.changed { "applied" } else { "it was in force already; nothing has changed" });
        Ok(Exit::Fine)
    }
}
