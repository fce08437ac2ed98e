use std::path::PathBuf;

use clap::Args;
use client::ApplyOptions;
use model::Json;
use model::json::Value;
use wire::api::{ApplyAnswer, ApplyBody};

use crate::exit::{Exit, Stop};
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on};
use crate::source;

/// Bring a pipeline file into force on a server, and say what that changes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost apply skill-review.toml
  milepost apply skill-review.toml --param approve_min=90
  milepost apply skill-review.toml --param approve_min=null
  milepost apply skill-review.toml --dry-run
  milepost apply old/skill-review.toml --rollback

Schemas and templates that the file names are sent along. Applying what is in force already changes nothing; a changed
file needs a higher `version`, and submissions stay with the version they were made under: `milepost migrate` moves them.
A changed parameter needs none: it is a new revision of the version and decides from then on for all that follow it. Those
that are not named stay as they were set before; null sets one back to its default.")]
pub(crate) struct Apply {
    /// The pipeline file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Set a parameter of the pipeline in place of its default; the value is JSON, or else text
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = source::param)]
    params: Vec<(String, Value)>,

    /// Go back to an older version than the one in force: new submissions get it from now on
    #[arg(long)]
    rollback: bool,

    /// Only check it and say what it would change
    #[arg(long)]
    dry_run: bool,

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
        let answer = block_on(async {
            let options = ApplyOptions { dry_run: self.dry_run, rollback: self.rollback };
            Ok(client.apply_with(&pipeline.name, &body, options).await?)
        })?;
        match format {
            Format::Json => output::print_json(&answer)?,
            Format::Table => {
                let mut table = Table::new(["PIPELINE", "VERSION", "REVISION", "DIGEST"]);
                table.row([
                    answer.name.to_string(),
                    answer.version.to_string(),
                    answer.revision.to_string(),
                    answer.digest.to_string(),
                ]);
                output::print(&format!("{}{}", table.render(), differences(&answer)))?;
            }
        }
        say!("{}", summary(&answer));
        Ok(Exit::Fine)
    }
}

/// One line each, as people read them.
fn differences(answer: &ApplyAnswer) -> String {
    let lines: String = answer.diff.iter().map(|difference| format!("{difference}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn summary(answer: &ApplyAnswer) -> String {
    let what = match (answer.changed, answer.dry_run) {
        (false, _) => return "it is in force already; nothing has changed".to_owned(),
        (true, true) => "it can be applied; nothing was",
        (true, false) if answer.rolled_back => "rolled back",
        (true, false) => "applied",
    };
    let against = match answer.compared_to {
        None => ", the first version of it".to_owned(),
        Some(before) => format!("; {} differences from version {before}", answer.diff.len()),
    };
    match answer.lost_states.as_slice() {
        [] => format!("{what}{against}"),
        lost => format!("{what}{against}; to migrate, say with --map where those in {} go", lost.join(", ")),
    }
}
