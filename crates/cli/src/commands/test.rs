use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{self, Format};
use crate::report;
use crate::scenario;

/// Run the scenarios of pipeline files, with a clock that passes as they say
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost test report.toml             the scenarios in scenarios/report.toml beside it
  milepost test scenarios/*.toml        scenario files themselves
  milepost test --coverage report.toml  and which moves no scenario walks

Exits with 1 if a scenario fails, with 2 if a file cannot be read or has mistakes.")]
pub(crate) struct Test {
    /// Scenario files, or pipeline files with scenarios in scenarios/ beside them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// List the declared moves that no scenario walks
    #[arg(long)]
    coverage: bool,
}

impl Test {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let mut text = String::new();
        let mut list = Vec::new();
        let mut exit = Exit::Fine;
        for path in &self.files {
            // A file that cannot be used does not keep the others from being run.
            match scenario::read(path) {
                Err(error) => exit = report::report(&error),
                Ok(suite) => {
                    let run = scenario::run(&suite);
                    if !run.is_fine() && exit == Exit::Fine {
                        exit = Exit::Negative;
                    }
                    text.push_str(&run.render(self.coverage));
                    list.push(run.json());
                }
            }
        }
        match format {
            Format::Table => output::print(&text)?,
            Format::Json => output::print_json(&summary(&list, exit))?,
        }
        Ok(exit)
    }
}

fn summary(files: &[Value], exit: Exit) -> Value {
    json!({ "ok": exit == Exit::Fine, "files": files })
}
