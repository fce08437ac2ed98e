//! `milepost`: the one binary.

mod audit;
mod audit_log;
mod base_url;
mod bulk;
mod commands;
mod copying;
mod demo;
mod doctor;
mod exit;
mod first_token;
mod folder;
mod limits;
mod listen;
mod listing;
mod local_server;
mod logging;
mod open_files;
#[cfg(feature = "otel")]
mod otel;
mod output;
mod program;
mod remote;
mod report;
mod scenario;
mod sending;
mod settings;
mod signals;
mod source;
mod store_place;
mod systemd;
mod systems;
mod which;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use commands::Command;
use exit::Exit;
use output::Output;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Walks submissions through declared pipelines: every move checked, durable and on record.
#[derive(Debug, Parser)]
#[command(name = "milepost", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    /// Format of what is printed: a table for people, or JSON as the server sent it
    #[arg(short = 'o', long = "output", value_enum, global = true, default_value_t, value_name = "FORMAT")]
    output: Output,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  milepost demo                                   see it work, without any setup
  milepost serve --pipelines pipelines            run a server
  milepost submit skill-review skill.json --wait  submit, and wait for the end
  milepost list --status dead                     what got stuck
  milepost act ID escalate                        make a move that people make
  milepost verify evidence.json --key @log.vkey   check a history without believing the server
  milepost worker run --task report.send -- ./send.sh       let a program do the work
  milepost resume --pipeline ingest-job --error disk-full   let all go on that failed with this

Exit codes: 0 fine, 1 a negative outcome, 2 wrong usage, 3 not found, 4 refused, 5 no right, 6 server unreachable.
Environment: MILEPOST_SERVER, MILEPOST_TOKEN, MILEPOST_TOKEN_FILE, MILEPOST_CA for commands that ask a server; a variable for
every setting of `serve`, such as MILEPOST_STORE; MILEPOST_CONFIG names a file of settings; MILEPOST_LOG filters the logs.";

fn main() -> ExitCode {
    let exit = run().unwrap_or_else(|error| report::report(&error));
    ExitCode::from(exit.code())
}

fn run() -> anyhow::Result<Exit> {
    let given = settings::Given::new(std::env::args_os());
    let file = settings::file(&given)?;
    let matches = settings::layered(&given, file.as_ref()).try_get_matches();
    let matches = matches.unwrap_or_else(|error| misused(&error));
    let output = matches.get_one::<Output>("output").copied().unwrap_or_default();
    if let Some(ended) = commands::of_systems::run(&matches, file.as_ref(), output) {
        return ended;
    }
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| misused(&error));
    cli.command.run(file.as_ref(), cli.output.format()?)
}

/// Returns all commands: the program's own, and those of the systems that it carries.
fn command() -> clap::Command {
    commands::of_systems::add(Cli::command(), &systems::all())
}

/// Ends with what is wrong with the command line. It repeats words of it, and an address among them may have a password in
/// it, which does not belong into a log.
fn misused(error: &clap::Error) -> ! {
    let (told, mut cleared) = (error.to_string(), error.to_string());
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    for word in words.filter(|word| word.contains('@') || word.contains('?')) {
        let value =
            word.strip_prefix("--").and_then(|flag| flag.split_once('=')).map_or(&*word, |(_, value)| value);
        cleared = cleared.replace(value, &wire::address::shown(value));
    }
    if cleared == told {
        error.exit();
    }
    output::say!("{}", cleared.trim_end());
    std::process::exit(error.exit_code());
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
