//! Data goes to stdout, talk to stderr. Whoever reads may stop reading: that is no error.

mod json;

pub(crate) use ::system::{Table, plain};
pub(crate) use json::pretty;

use std::io::{self, Write as _};

use clap::ValueEnum;
use serde::Serialize;

use crate::exit::Stop;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
}

/// The values of `-o`: the formats of all commands, and the one of those that look for faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    #[default]
    Table,
    Json,
    /// A report for code hosts and editors.
    #[value(hide = true)]
    Sarif,
}

impl Output {
    /// Returns one of the formats that every command has.
    pub(crate) fn format(self) -> Result<Format, Stop> {
        match self {
            Output::Table => Ok(Format::Table),
            Output::Json => Ok(Format::Json),
            Output::Sarif => {
                Err(Stop::usage("this command prints no SARIF; ask for `-o table` or `-o json`"))
            }
        }
    }
}

/// Talk: one line on stderr. Unlike `eprintln!`, it does not panic when nobody listens.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
pub(crate) use say;

/// Data: written whole. A closed pipe (`| head`) is fine.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a list: all of it as JSON, its rows as a table, or, to people, the sentence `none` where there are no rows.
pub(crate) fn print_list<R>(
    format: Format,
    list: &impl Serialize,
    (rows, none): (&[R], &str),
    table: impl FnOnce(&[R]) -> String,
) -> anyhow::Result<()> {
    match format {
        Format::Json => print_json(list)?,
        Format::Table if rows.is_empty() => say!("{none}"),
        Format::Table => print(&table(rows))?,
    }
    Ok(())
}

pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    print(&format!("{}\n", pretty(&text)))?;
    Ok(())
}
