use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use model::pipeline::{Source, load};

use crate::exit::{Exit, Stop};
use crate::output::say;

/// Write a first pipeline file, to change
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  milepost new invoices && milepost check invoices.toml")]
pub(crate) struct New {
    /// Name of the pipeline: small letters, digits and hyphens
    name: String,

    /// The file to write; it must not be there [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

const START: &str = r##"# A pipeline: the states a submission can be in, and the moves between them.
# `milepost check FILE` finds what is wrong with it, `milepost draw FILE` shows it, `milepost apply FILE` brings it into force.
name = "NAME"
version = 1                        # raise it with every change
title = "NAME"
start = "RECEIVED"

# Unique while a submission is open: the same again is the same submission, another payload a conflict.
# key = "payload.id"
# on_duplicate = "return"

# Small words to filter, hold and limit by.
# labels = { owner = "payload.owner" }

[defaults]
lease = "30s"                      # a worker must say within this that it is alive
timeout = "5m"                     # one attempt, however lively
retry = { times = 3, delay = "30s", backoff = "exponential", max = "1h" }

# Leaves at once, by the first way whose guard holds.
[states.RECEIVED]
title = "Just arrived"
next = [
  { to = "REVIEW", when = "has(payload.urgent) && payload.urgent" },
  { to = "WORKING" },
]

# Waits for a worker of this task: milepost worker run --task NAME.work -- ./work.sh
[states.WORKING]
task = "NAME.work"
on.done = "DONE"
on.unsure = "REVIEW"

# Waits for a person.
[states.REVIEW]
review = "reviewer"
actions.approve = "DONE"
actions.reject = { to = "REJECTED", reason = true }

[states.DONE]
final = "success"

[states.REJECTED]
final = "failure"
"##;

impl New {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let path = self.file.clone().unwrap_or_else(|| format!("{}.toml", self.name).into());
        let text = START.replace("NAME", &self.name);
        let source = Source::new(path.display().to_string(), text.as_str());
        if let Err(problems) = load(&source) {
            let message = format!("`{}` cannot be a pipeline's name", self.name);
            return Err(Stop::usage(message).next(problems.render(&source).trim_end()).into());
        }
        let written = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Stop::usage(format!("cannot write {}: {error}", path.display())))?;
        say!("{} is written; check it with `milepost check {}`", path.display(), path.display());
        Ok(Exit::Fine)
    }
}
