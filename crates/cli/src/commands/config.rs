use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, FromArgMatches as _, Subcommand};
use serde_json::json;

use super::serve::Serve;
use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::settings::{ConfigFile, Given, rows, serving};

/// Show what a server's settings come to, and check a file of them
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(Show),
    Check(Check),
}

/// Print every setting as `serve` would have it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost config show --config /etc/milepost/milepost.toml --origin
  MILEPOST_LISTEN=0.0.0.0:80 milepost config show --origin -- --keep-events 90d

Flags count more than the environment, the environment more than the file. Passwords are not shown.")]
struct Show {
    /// Say where each comes from: a flag, a variable, a line of the file, or the default
    #[arg(long)]
    origin: bool,

    /// The file of settings
    #[arg(long, env = "MILEPOST_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Flags that `serve` would be given
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<OsString>,
}

/// Check a file of settings, without using it
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if something is wrong with it, and names every line.")]
struct Check {
    file: PathBuf,
}

impl Config {
    pub(crate) fn run(&self, file: Option<&ConfigFile>, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            Verb::Show(show) => show.run(file, format),
            Verb::Check(check) => check.run(format),
        }
    }
}

impl Show {
    fn run(&self, file: Option<&ConfigFile>, format: Format) -> anyhow::Result<Exit> {
        let command = serving(&Given::flags(&self.flags), file);
        let matches = command.try_get_matches_from(&self.flags).unwrap_or_else(|error| error.exit());
        let rows = rows(&matches, file);
        if format == Format::Json {
            output::print_json(&json!({ "settings": rows }))?;
        } else {
            let mut table = Table::bare();
            for row in rows {
                let value = row.value.unwrap_or_else(|| "-".to_owned());
                match self.origin {
                    true => table.row([row.name, value, row.origin]),
                    false => table.row([row.name, value]),
                }
            }
            output::print(&table.render())?;
        }
        if let Some(file) = &self.config {
            say!("with the settings of {}", file.display());
        }
        Serve::from_arg_matches(&matches)?.check()?;
        Ok(Exit::Fine)
    }
}

impl Check {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let mut file = ConfigFile::read(&self.file)?;
        file.check_params()?;
        if format == Format::Json {
            let fault =
                |fault: &crate::settings::Fault| json!({ "line": fault.line, "message": fault.message });
            let faults: Vec<_> = file.faults.iter().map(fault).collect();
            output::print_json(&json!({ "ok": faults.is_empty(), "faults": faults }))?;
        } else {
            for fault in &file.faults {
                output::print(&format!("{}\n", fault.told(&self.file)))?;
            }
        }
        if !file.faults.is_empty() {
            return Ok(Exit::Negative);
        }
        say!("{} is fine: {} settings", self.file.display(), file.count());
        Ok(Exit::Fine)
    }
}
