//! The layers: the command line as it is declared, with the environment and the file put beneath it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap::Command;

use super::file::{ConfigFile, Entry};
use super::{client_settings, is_setting, serve_settings, settings, variable};

/// The words on the command line, before they are understood.
#[derive(Debug)]
pub(crate) struct Given {
    words: Vec<OsString>,
}

impl Given {
    pub(crate) fn new(words: impl IntoIterator<Item = OsString>) -> Given {
        // What follows is another program's.
        Given { words: words.into_iter().skip(1).take_while(|word| word != "--").collect() }
    }

    /// Flags alone, without a program before them.
    pub(crate) fn flags(words: &[OsString]) -> Given {
        Given { words: words.to_vec() }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.each().any(|(flag, _)| flag == name)
    }

    pub(crate) fn begins_with(&self, commands: &[&str]) -> bool {
        self.words.len() >= commands.len()
            && self.words.iter().zip(commands).all(|(word, wanted)| word == wanted)
    }

    pub(crate) fn value_of(&self, name: &str) -> Option<OsString> {
        self.each().find(|(flag, _)| *flag == name).and_then(|(_, value)| value)
    }

    /// Flags by their names, with what may be their values.
    fn each(&self) -> impl Iterator<Item = (&str, Option<OsString>)> {
        self.words.iter().enumerate().filter_map(|(place, word)| {
            let flag = word.to_str()?.strip_prefix("--")?;
            Some(match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.into())),
                None => (flag, self.words.get(place + 1).cloned()),
            })
        })
    }
}

/// The command line with its layers.
pub(crate) fn layered(given: &Given, file: Option<&ConfigFile>) -> Command {
    let none = ConfigFile::default();
    let file = file.unwrap_or(&none);
    let layers = Layers { given, file };
    let command = crate::command().mut_subcommands(|command| layers.asking(command));
    // A backup is of what a server with the same settings keeps.
    ["serve", "backup"]
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |command| layers.serving(command)))
}

/// Returns the command `serve`, with its layers.
pub(crate) fn serving(given: &Given, file: Option<&ConfigFile>) -> Command {
    let none = ConfigFile::default();
    Layers { given, file: file.unwrap_or(&none) }.serving(serve_settings())
}

/// The settings of commands that ask a server, with their layers.
pub(crate) fn asking(file: Option<&ConfigFile>) -> Command {
    let none = ConfigFile::default();
    let given = Given { words: Vec::new() };
    Layers { given: &given, file: file.unwrap_or(&none) }.beneath(client_settings(), &client_names(), false)
}

struct Layers<'a> {
    given: &'a Given,
    file: &'a ConfigFile,
}

fn client_names() -> BTreeSet<String> {
    settings(&client_settings()).map(|(name, _)| name.to_owned()).collect()
}

impl Layers<'_> {
    fn serving(&self, command: Command) -> Command {
        let names = settings(&serve_settings()).map(|(name, _)| name.to_owned()).collect();
        self.beneath(command, &names, true)
    }

    /// Commands that ask a server are those that have its settings.
    fn asking(&self, command: Command) -> Command {
        let names = client_names();
        let command = command.mut_subcommands(|command| self.asking(command));
        let has = |name: &String| command.get_arguments().any(|arg| arg.get_long() == Some(name));
        if names.iter().all(has) { self.beneath(command, &names, false) } else { command }
    }

    fn beneath(&self, command: Command, names: &BTreeSet<String>, serves: bool) -> Command {
        let entries = if serves { &self.file.serve } else { &self.file.client };
        let rivals = rivals(&command);
        let of_environment =
            |name: &str| std::env::var_os(variable(name)).is_some_and(|value| !value.is_empty());
        command.mut_args(|arg| {
            let Some(name) = arg.get_long().filter(|name| names.contains(*name) && is_setting(name)) else {
                return arg;
            };
            let name = name.to_owned();
            let rivals = rivals.get(&name).map_or(&[][..], Vec::as_slice);
            // What is said at a stronger place leaves nothing of what it excludes at a weaker one.
            if rivals.iter().any(|rival| self.given.has(rival)) {
                return arg.env(None::<&str>);
            }
            let is_empty = std::env::var_os(variable(&name)).is_some_and(|value| value.is_empty());
            let arg = match is_empty {
                true => arg.env(None::<&str>),
                false => arg.env(variable(&name)).hide_env_values(true),
            };
            let entry = entries.get(&name).filter(|_| !rivals.iter().any(|rival| of_environment(rival)));
            match entry {
                Some(Entry { values, .. }) => arg.default_values(values.clone()).hide_default_value(true),
                None => arg,
            }
        })
    }
}

/// Lists the settings that exclude each other, both ways.
fn rivals(command: &Command) -> BTreeMap<String, Vec<String>> {
    let mut rivals: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, arg) in settings(command) {
        for rival in command.get_arg_conflicts_with(arg).iter().filter_map(|rival| rival.get_long()) {
            rivals.entry(name.to_owned()).or_default().push(rival.to_owned());
            rivals.entry(rival.to_owned()).or_default().push(name.to_owned());
        }
    }
    rivals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> Given {
        Given::new(words.iter().map(OsString::from))
    }

    #[test]
    fn flags_are_seen_up_to_another_programs() {
        let given = given(&["milepost", "worker", "run", "--config", "a.toml", "--x=1", "--", "--y"]);
        assert_eq!(given.value_of("config"), Some("a.toml".into()));
        assert_eq!(given.value_of("x"), Some("1".into()));
        assert!(given.begins_with(&["worker", "run"]) && !given.has("y"));
    }

    #[test]
    fn every_setting_has_its_variable() {
        let command = layered(&given(&["milepost"]), None);
        let serve = command.find_subcommand("serve").expect("there is one");
        for (name, arg) in settings(serve) {
            let known = arg.get_env().map(|name| name.to_string_lossy().into_owned());
            assert_eq!(known, Some(variable(name)));
        }
        command.debug_assert();
    }
}
