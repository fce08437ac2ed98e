//! The project's own commands, run as `cargo xtask <verb>`. At most eight verbs, one file each.

mod bench;
mod needs;
mod postgres;
mod soak;
mod tally;
mod test;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The project's own commands")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Install what is missing, build, run every test and print the totals
    Test {
        /// Arguments for the test binaries, for example a part of a test's name
        #[arg(last = true)]
        filter: Vec<String>,
    },
    /// Measure an optimised build on this machine: a table, and figures in target/bench.json
    Bench {
        /// Arguments for `milepost bench`, for example --only W3
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run the simulation on seeds nobody has seen, over memory, SQLite and PostgreSQL in turn
    Soak {
        /// Time that all of it takes, after the build; each store has a third
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
        minutes: u64,
    },
    /// Check the rules of the repository that no compiler checks
    Tidy,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let root = workspace_root()?;
    match arguments.verb {
        Verb::Test { filter } => Ok(test::run(&root, &filter)),
        Verb::Bench { arguments } => bench::run(&root, &arguments),
        Verb::Soak { minutes } => soak::run(&root, minutes),
        Verb::Tidy => tidy::run(&root),
    }
}

fn workspace_root() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").context("start this through `cargo xtask`")?;
    let root = PathBuf::from(manifest).parent().map(PathBuf::from);
    root.context("xtask must be a folder of the workspace")
}
