//! The sources of settings: a file, weaker than the environment, which is weaker than flags.
//!
//! There is one list of settings: the flags of `serve`, and of the commands that ask a server. A flag `--keep-events` is
//! `keep-events` in the file and `MILEPOST_KEEP_EVENTS` in the environment, because all three are made from it here,
//! before the command line is read. A new flag needs nothing else. Parameters of pipelines, and
//! which pipelines are public, are set in the file alone.

mod doc;
mod file;
mod layers;
mod origin;
mod params;
mod public;
mod queue;
mod system;

pub(crate) use file::{ConfigFile, Fault};
pub(crate) use layers::{Given, layered, serving};
pub(crate) use origin::rows;
pub(crate) use params::Params;
pub(crate) use public::Public;

use std::path::PathBuf;

use clap::{Arg, Args as _, Command};

use crate::commands::Serve;
use crate::exit::Stop;
use crate::remote::ServerArgs;

/// The variable that names the file.
pub(crate) const VARIABLE: &str = "MILEPOST_CONFIG";
/// The table of the file for commands that ask a server.
pub(crate) const CLIENT: &str = "client";
/// Options that are no settings: where the others are, how to get help, and a token, which stands in a file of its own.
const NO_SETTINGS: [&str; 4] = ["config", "help", "version", "token"];

/// Returns the settings of a server.
pub(crate) fn serve_settings() -> Command {
    Serve::augment_args(Command::new("serve").no_binary_name(true))
}

/// Returns the settings of commands that ask a server.
pub(crate) fn client_settings() -> Command {
    ServerArgs::augment_args(Command::new(CLIENT).no_binary_name(true))
}

/// The arguments of a command that are settings, with their names.
pub(crate) fn settings(command: &Command) -> impl Iterator<Item = (&str, &Arg)> {
    let named = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg)));
    named.filter(|(name, _)| is_setting(name))
}

fn is_setting(name: &str) -> bool {
    !NO_SETTINGS.contains(&name)
}

/// The environment's name of a setting.
pub(crate) fn variable(name: &str) -> String {
    format!("MILEPOST_{}", name.replace('-', "_").to_uppercase())
}

/// The file that this command line or the environment names, read.
pub(crate) fn file(given: &Given) -> Result<Option<ConfigFile>, Stop> {
    if given.has("help") || given.has("version") || given.begins_with(&["config", "check"]) {
        return Ok(None);
    }
    let of_environment = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let Some(path) = given.value_of("config").or_else(of_environment).map(PathBuf::from) else {
        return Ok(None);
    };
    let read = ConfigFile::read(&path)?;
    if let Some(fault) = read.faults.first() {
        let stop = Stop::usage(fault.told(&path));
        let next = format!("see all that is wrong with `milepost config check {}`", path.display());
        return Err(stop.next(next));
    }
    Ok(Some(read))
}
