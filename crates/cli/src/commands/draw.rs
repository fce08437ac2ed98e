use std::path::PathBuf;

use clap::Args;
use model::pipeline::{Checks, draw};
use serde_json::json;

use crate::exit::{Exit, Stop};
use crate::output::{self, Format};
use crate::source;

/// Draw a pipeline file as a Mermaid diagram
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost draw pipelines/skill-review.toml > skill-review.mmd")]
pub(crate) struct Draw {
    /// The pipeline file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Draw {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let source = source::read(&self.file)?;
        // A machine can be drawn before everything in it can be run.
        let loaded = Checks { unsupported: true }.load(&source);
        let pipeline =
            loaded.map_err(|problems| Stop::new(Exit::Negative, problems.render(&source).trim_end()))?;
        let diagram = draw::mermaid(&pipeline);
        match format {
            Format::Table => output::print(&diagram)?,
            Format::Json => output::print_json(&json!({ "name": *pipeline.name, "mermaid": diagram }))?,
        }
        Ok(Exit::Fine)
    }
}
