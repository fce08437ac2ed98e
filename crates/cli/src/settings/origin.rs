//! The value of each setting, and who says so. What may be a secret is not shown.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use serde::Serialize;
use wire::address;

use super::file::{ConfigFile, Entry};
use super::{CLIENT, layers, serve_settings, settings, variable};

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) origin: String,
}

/// Every setting, with what the command line, the environment and the file have come to.
pub(crate) fn rows(matches: &ArgMatches, file: Option<&ConfigFile>) -> Vec<Row> {
    let mut rows = of_command(&serve_settings(), matches, file, false);
    let client = layers::asking(file);
    if let Ok(matches) = client.clone().try_get_matches_from([""; 0]) {
        rows.extend(of_command(&client, &matches, file, true));
    }
    let params = file.into_iter().flat_map(|file| {
        file.params.each().map(|(name, line, value)| Row {
            name,
            value: Some(value.canonical()),
            origin: format!("{}:{line}", file.path.display()),
        })
    });
    rows.extend(params);
    let public = file.into_iter().flat_map(|file| {
        file.public.each().map(|(name, line, value)| Row {
            name: name.clone(),
            value: Some(value.clone()),
            origin: format!("{}:{line}", file.path.display()),
        })
    });
    rows.extend(public);
    rows
}

fn of_command(
    command: &Command,
    matches: &ArgMatches,
    file: Option<&ConfigFile>,
    is_client: bool,
) -> Vec<Row> {
    let row = |(name, arg): (&str, &Arg)| {
        let id = arg.get_id().as_str();
        let raw = matches.get_raw(id).map(|values| {
            let values: Vec<_> = values.map(|value| address::shown(&value.to_string_lossy())).collect();
            values.join(", ")
        });
        let entries = file.map(|file| if is_client { &file.client } else { &file.serve });
        let entry = entries.and_then(|entries| entries.get(name));
        let origin = origin(name, matches.value_source(id), entry.zip(file));
        let value = raw.or_else(|| promised(arg));
        let name = if is_client { format!("{CLIENT}.{name}") } else { name.to_owned() };
        Row { name, value, origin }
    };
    settings(command).map(row).collect()
}

fn origin(name: &str, source: Option<ValueSource>, entry: Option<(&Entry, &ConfigFile)>) -> String {
    match (source, entry) {
        (Some(ValueSource::CommandLine), _) => format!("--{name}"),
        (Some(ValueSource::EnvVariable), _) => variable(name),
        (Some(_), Some((entry, file))) => format!("{}:{}", file.path.display(), entry.line),
        _ => "default".to_owned(),
    }
}

/// Returns the default that the help promises for a setting that is left out.
fn promised(arg: &Arg) -> Option<String> {
    let help = arg.get_help()?.to_string();
    let (_, promised) = help.split_once("[default: ")?;
    Some(format!("({})", promised.trim_end_matches(']')))
}
