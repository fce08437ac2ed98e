use std::path::PathBuf;

use clap::Args;
use model::Pipeline;
use model::pipeline::{Problems, Source, load};
use model::view::file_problems;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{self, Format};
use crate::source;

/// Check pipeline files: every problem, with its line
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost check skill-review.toml
  milepost check -o json pipelines/*.toml

Exits with 1 if a file has problems.")]
pub(crate) struct Check {
    /// The pipeline files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Check {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let mut report = String::new();
        let mut list = Vec::new();
        let mut exit = Exit::Fine;
        for path in &self.files {
            let source = source::read(path)?;
            match load(&source) {
                Ok(pipeline) => {
                    report.push_str(&good(&source, &pipeline));
                    list.push(good_json(&source, &pipeline));
                }
                Err(problems) => {
                    exit = Exit::Negative;
                    report.push_str(&problems.render(&source));
                    list.push(bad_json(&source, &problems));
                }
            }
        }
        match format {
            Format::Table => output::print(&report)?,
            Format::Json => output::print_json(&list)?,
        }
        Ok(exit)
    }
}

fn good(source: &Source, pipeline: &Pipeline) -> String {
    let Pipeline { name, version, states, .. } = pipeline;
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "{}: fine: {name}, version {version}, {}, {}{}\n",
        source.file,
        count(states.len(), "state"),
        count(pipeline.distinct_moves().len(), "move"),
        dead_letters(pipeline)
    )
}

/// The states that can end as dead letters, and of what.
fn dead_letters(pipeline: &Pipeline) -> String {
    let each = pipeline.dead_letters().into_iter().map(|(state, causes)| {
        let causes: Vec<&str> = causes.iter().map(|cause| cause.as_str()).collect();
        format!("{} ({})", state.name, causes.join(", "))
    });
    match each.collect::<Vec<_>>() {
        none if none.is_empty() => ", no dead letters".to_owned(),
        some => format!("\n  dead letters: {}", some.join(", ")),
    }
}

fn good_json(source: &Source, pipeline: &Pipeline) -> Value {
    let dead: std::collections::BTreeMap<&str, Vec<&str>> = pipeline
        .dead_letters()
        .into_iter()
        .map(|(state, causes)| (&*state.name, causes.iter().map(|cause| cause.as_str()).collect()))
        .collect();
    json!({
        "file": source.file,
        "name": *pipeline.name,
        "version": pipeline.version,
        "states": pipeline.states.len(),
        "moves": pipeline.distinct_moves().len(),
        "dead_letters": dead,
        "problems": [],
    })
}

fn bad_json(source: &Source, problems: &Problems) -> Value {
    json!({ "file": source.file, "problems": file_problems(problems, source) })
}
