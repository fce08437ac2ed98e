//! Data goes to stdout, talk to stderr. Whoever reads may stop reading: that is no error.

mod json;

pub(crate) use ::system::{Table, plain};
pub(crate) use json::pretty;

use std::io::{self, Write as _};

use clap::ValueEnum;
use serde::Serialize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
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

pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    print(&format!("{}\n", pretty(&text)))?;
    Ok(())
}
