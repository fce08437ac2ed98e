//! The value of each setting, and who says so. What may be a secret is not shown.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use serde::Serialize;

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
            let values: Vec<_> = values.map(|value| value.to_string_lossy().into_owned()).collect();
            values.join(", ")
        });
        let entries = file.map(|file| if is_client { &file.client } else { &file.serve });
        let entry = entries.and_then(|entries| entries.get(name));
        let origin = origin(name, matches.value_source(id), entry.zip(file));
        let value = raw.map(|value| shown(&value)).or_else(|| promised(arg));
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

/// An address may have a password in it, before the host or among what follows the question mark.
pub(crate) fn shown(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}:***@{host}")
        }
        None => authority.to_owned(),
    };
    let path = match path.split_once('?') {
        Some((path, query)) => {
            let hide = |pair: &str| match pair.split_once('=') {
                Some((name, _)) if name.contains("pass") || name.contains("secret") => format!("{name}=***"),
                _ => pair.to_owned(),
            };
            format!("{path}?{}", query.split('&').map(hide).collect::<Vec<_>>().join("&"))
        }
        None => path.to_owned(),
    };
    format!("{scheme}://{authority}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (value, told) in [
            ("/var/lib/milepost", "/var/lib/milepost"),
            ("postgres://ada:hunter2@db:5432/app?schema=m", "postgres://ada:***@db:5432/app?schema=m"),
            ("postgres://db/app?user=ada&password=hunter2", "postgres://db/app?user=ada&password=***"),
            ("smtp://ada:hunt@er2@mail", "smtp://ada:***@mail"),
            ("https://milepost.example", "https://milepost.example"),
        ] {
            assert_eq!(shown(value), told);
        }
    }
}
