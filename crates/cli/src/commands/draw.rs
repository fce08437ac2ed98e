use std::path::PathBuf;

use clap::{Args, ValueEnum};
use model::pipeline::load;
use serde_json::json;

use crate::exit::{Exit, Stop};
use crate::output::{self, Format};
use crate::remote::{ServerArgs, block_on};
use crate::source;
use crate::which::Which;

/// Draw a pipeline file, or the way of a submission through its machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost draw skill-review.toml > skill-review.mmd
  milepost draw skill-review.toml --format svg > skill-review.svg
  milepost draw --submission 019a8c5e-7f1c-7d3a-9b1e-2f6c8d0e4a57 > way.svg

A file is drawn without a server. The way of a submission is drawn by the server, as SVG.")]
pub(crate) struct Draw {
    /// The pipeline file
    #[arg(value_name = "FILE", required_unless_present = "submission", conflicts_with = "submission")]
    file: Option<PathBuf>,

    /// The submission whose way to draw: its id or the beginning of it, its key, or PIPELINE/KEY
    #[arg(long, value_name = "ID")]
    submission: Option<Which>,

    /// As what to draw [default: mermaid for a file, svg for a submission]
    #[arg(long, value_enum)]
    format: Option<As>,

    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// Text that Mermaid draws
    Mermaid,
    /// A drawing that browsers show
    Svg,
}

impl Draw {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let (name, kind, drawing) = match (&self.submission, &self.file) {
            (Some(id), _) => (id.to_string(), "svg", self.way(id)?),
            (None, Some(file)) => self.machine(file)?,
            (None, None) => return Err(Stop::usage("give a pipeline file, or --submission").into()),
        };
        match format {
            Format::Table => output::print(&drawing)?,
            Format::Json => output::print_json(&json!({ "name": name, kind: drawing }))?,
        }
        Ok(Exit::Fine)
    }

    fn machine(&self, file: &std::path::Path) -> anyhow::Result<(String, &'static str, String)> {
        let source = source::read(file)?;
        let pipeline = load(&source)
            .map_err(|problems| Stop::new(Exit::Negative, problems.render(&source).trim_end()))?;
        let (kind, drawing) = match self.format.unwrap_or(As::Mermaid) {
            As::Mermaid => ("mermaid", draw::mermaid(&pipeline)),
            As::Svg => ("svg", draw::svg(&pipeline, None)),
        };
        Ok((pipeline.name.to_string(), kind, drawing))
    }

    fn way(&self, which: &Which) -> anyhow::Result<String> {
        if self.format == Some(As::Mermaid) {
            return Err(
                Stop::usage("the way of a submission is drawn as SVG only; leave out --format").into()
            );
        }
        let client = self.server.client()?;
        block_on(async { Ok(client.drawing(which.id(&client).await?).await?) })
    }
}
