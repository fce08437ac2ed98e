//! The file: one key a setting, spelled like its flag.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::system::System;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use toml::de::{DeTable, DeValue};

use super::params::{PARAMS, Params};
use super::public::{PUBLIC, Public};
use super::queue::{self, QUEUE, Queues};
use super::system::{self, SYSTEM};
use super::{CLIENT, client_settings, serve_settings, settings};
use crate::exit::Stop;
use crate::folder::Folder;

/// More than every setting with a comment of its own needs.
const BYTES_MAX: u64 = 256 << 10;

#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    /// By the name of the flag.
    pub(crate) serve: BTreeMap<String, Entry>,
    pub(crate) client: BTreeMap<String, Entry>,
    pub(crate) params: Params,
    pub(crate) public: Public,
    /// The names of the systems that it turns on.
    pub(crate) systems: Vec<&'static str>,
    /// The queues that it declares, and who they are pushed to.
    pub(crate) queues: Queues,
    /// All of it, for the systems that read their own tables.
    text: String,
    pub(crate) faults: Vec<Fault>,
}

/// The file's words about one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) line: usize,
    /// As they would be written behind the flag; `true` or `false` of a flag that takes no value.
    pub(crate) values: Vec<String>,
}

/// Something wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn told(&self, path: &Path) -> String {
        format!("{}:{}: {}", path.display(), self.line, self.message)
    }
}

impl ConfigFile {
    /// Reads a file; what is wrong within it is in `faults`, by line.
    pub(crate) fn read(path: &Path) -> Result<ConfigFile, Stop> {
        let failed = |reason: String| Stop::usage(format!("cannot read {}: {reason}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
        if size > BYTES_MAX {
            return Err(failed(format!("it is larger than {BYTES_MAX} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let mut file = ConfigFile::parse(&text);
        file.path = path.to_owned();
        Ok(file)
    }

    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> ConfigFile {
        let mut file = ConfigFile { text: text.to_owned(), ..ConfigFile::default() };
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, &span));
                file.faults.push(Fault { line, message: format!("this is no TOML: {}", error.message()) });
                return file;
            }
        };
        let (serve, client) = (serve_settings(), client_settings());
        for (key, value) in &table {
            let reader = Reader { text, known: &serve, section: "" };
            match value.get_ref() {
                DeValue::Table(table) if key.get_ref() == CLIENT => {
                    let reader = Reader { text, known: &client, section: "client." };
                    for (key, value) in table {
                        let read = reader.entry(key.get_ref(), &key.span(), value.get_ref());
                        keep(&mut file.client, &mut file.faults, key.get_ref(), read);
                    }
                }
                value if key.get_ref() == SYSTEM => {
                    let (systems, faults) = system::read(text, value, &key.span());
                    file.systems = systems.iter().map(|system| system.name()).collect();
                    file.faults.extend(faults);
                }
                value if key.get_ref() == QUEUE => {
                    let (queues, faults) = queue::read(text, value, &key.span());
                    file.queues = queues;
                    file.faults.extend(faults);
                }
                value if key.get_ref() == PUBLIC => {
                    let (public, faults) = Public::read(text, value, &key.span());
                    file.public = public;
                    file.faults.extend(faults);
                }
                value if key.get_ref() == PARAMS => {
                    let (params, faults) = Params::read(text, value, &key.span());
                    file.params = params;
                    file.faults.extend(faults);
                }
                value => {
                    let read = reader.entry(key.get_ref(), &key.span(), value);
                    keep(&mut file.serve, &mut file.faults, key.get_ref(), read);
                }
            }
        }
        file.check_rivals(&serve);
        file.faults.sort_by_key(|fault| fault.line);
        file
    }

    /// Counts the settings of the file.
    pub(crate) fn count(&self) -> usize {
        let (serve, client) = (self.serve.len(), self.client.len());
        let tables =
            self.params.count() + self.public.count() + self.systems.len() + self.queues.queues.len();
        serve + client + tables
    }

    /// Returns the systems that the file turns on, with the settings they have in it.
    pub(crate) fn systems(&self) -> Result<Vec<Arc<dyn System>>, Stop> {
        let table = DeTable::parse(&self.text);
        let table = table.map_err(|error| Stop::usage(error.message().to_owned()))?.into_inner();
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == SYSTEM) else {
            return Ok(Vec::new());
        };
        let (systems, faults) = system::read(&self.text, value.get_ref(), &key.span());
        match faults.first() {
            Some(fault) => Err(Stop::usage(fault.told(&self.path))),
            None => Ok(systems),
        }
    }

    /// Looks for the pipelines, parameters and states that are named, in the folder that is named.
    pub(crate) fn check_params(&mut self) -> anyhow::Result<()> {
        if (self.params.is_empty() && self.public.is_empty()) || !self.faults.is_empty() {
            return Ok(());
        }
        let named = self.serve.get("pipelines").and_then(|entry| entry.values.first());
        if named.is_some() || !self.systems.is_empty() {
            let mut folder =
                named.map(|folder| Folder::read(Path::new(folder))).transpose()?.unwrap_or_default();
            let systems = self.systems()?;
            folder.add(systems.iter().map(|system| &**system))?;
            self.faults = folder.faults(&self.params, &self.public);
            return Ok(());
        }
        self.faults.extend(self.params.each().next().map(|(name, line, _)| {
            let message = format!("`{name}` is set for a pipeline of `pipelines`, and no folder is named");
            Fault { line, message }
        }));
        Ok(())
    }

    /// Settings that exclude each other must not both be here.
    fn check_rivals(&mut self, command: &Command) {
        for (name, arg) in settings(command) {
            let Some(entry) = self.serve.get(name) else { continue };
            for rival in command.get_arg_conflicts_with(arg).iter().filter_map(|rival| rival.get_long()) {
                if self.serve.contains_key(rival) {
                    let message = format!("`{name}` and `{rival}` exclude each other; keep one");
                    self.faults.push(Fault { line: entry.line, message });
                }
            }
        }
    }
}

fn keep(
    entries: &mut BTreeMap<String, Entry>,
    faults: &mut Vec<Fault>,
    name: &str,
    read: Result<Entry, Fault>,
) {
    match read {
        Ok(entry) => drop(entries.insert(name.to_owned(), entry)),
        Err(fault) => faults.push(fault),
    }
}

struct Reader<'a> {
    text: &'a str,
    known: &'a Command,
    section: &'static str,
}

impl Reader<'_> {
    fn entry(&self, name: &str, span: &Range<usize>, value: &DeValue<'_>) -> Result<Entry, Fault> {
        let line = line_of(self.text, span);
        let fault = |message: String| Fault { line, message };
        let Some((_, arg)) = settings(self.known).find(|(known, _)| *known == name) else {
            return Err(fault(self.unknown(name)));
        };
        let wrong = |wanted: &str| fault(format!("`{}{name}` takes {wanted}", self.section));
        if !arg.get_action().takes_values() {
            let DeValue::Boolean(on) = value else { return Err(wrong("true or false")) };
            return Ok(Entry { line, values: vec![on.to_string()] });
        }
        let many = matches!(arg.get_action(), ArgAction::Append);
        let values = match value {
            DeValue::Array(values) if many => {
                values.iter().map(|value| scalar(value.get_ref())).collect::<Option<Vec<_>>>()
            }
            value => scalar(value).map(|value| vec![value]),
        };
        let wanted =
            if many { "a text, a whole number, or a list of them" } else { "a text or a whole number" };
        let values = values.ok_or_else(|| wrong(wanted))?;
        values.iter().try_for_each(|value| self.check(arg, value)).map_err(fault)?;
        Ok(Entry { line, values })
    }

    fn unknown(&self, name: &str) -> String {
        let shown: String = name.chars().take(60).collect();
        let message = format!("there is no setting `{}{shown}`", self.section);
        if name == "token" {
            return format!("{message}; name the file that holds the token with `client.token-file`");
        }
        let names = settings(self.known).map(|(known, _)| known);
        match model::expr::nearest(&shown, names) {
            Some(near) => format!("{message}; did you mean `{}{near}`?", self.section),
            None => format!("{message}; `milepost config show` lists all there are"),
        }
    }

    /// Checks that the flag would take the value, by asking the flag.
    fn check(&self, arg: &Arg, value: &str) -> Result<(), String> {
        let name = arg.get_long().unwrap_or_default();
        let tried = self.known.clone().try_get_matches_from([format!("--{name}={value}")]);
        match tried {
            Err(error) if matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) => {
                let told = error.to_string();
                let first = told.lines().next().unwrap_or_default();
                let first = first.strip_prefix("error: ").unwrap_or(first);
                let first = first.replace(&format!("'--{name}"), &format!("'{name}"));
                let legal = told.split_once("[possible values: ").and_then(|(_, rest)| rest.split_once(']'));
                Err(legal.map_or(first.clone(), |(legal, _)| format!("{first}; one of {legal}")))
            }
            // What else may be missing beside it is no matter of this value.
            _ => Ok(()),
        }
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
        }
        _ => None,
    }
}

pub(super) fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(usize, String)> {
        ConfigFile::parse(text).faults.into_iter().map(|fault| (fault.line, fault.message)).collect()
    }

    #[test]
    fn settings_are_read_with_their_lines() {
        let file = ConfigFile::parse(
            "# a comment\nlisten = \"0.0.0.0:80\"\nconnections = 1_000\n\n[client]\nserver = \"https://m.example\"\n",
        );
        assert_eq!(file.faults, []);
        let entry = |line, value: &str| Entry { line, values: vec![value.to_owned()] };
        assert_eq!(file.serve["listen"], entry(2, "0.0.0.0:80"));
        assert_eq!(file.serve["connections"], entry(3, "1000"));
        assert_eq!(file.client["server"], entry(6, "https://m.example"));
    }

    #[test]
    fn every_fault_is_named_with_its_line() {
        let found = faults(
            "lisen = \"0.0.0.0:80\"\nkeep-events = \"never\"\nconnections = true\n\n[client]\ntoken = \"mp_x\"\nsevrer = \"x\"\n",
        );
        let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 6, 7], "{found:?}");
        assert!(found[0].1.contains("did you mean `listen`?"), "{found:?}");
        assert!(found[1].1.contains("'never' for 'keep-events"), "{found:?}");
        assert!(found[2].1.contains("a text or a whole number"), "{found:?}");
        assert!(found[3].1.contains("client.token-file"), "{found:?}");
        assert!(!found[3].1.contains("mp_x"), "{found:?}");
        assert!(found[4].1.contains("did you mean `client.server`?"), "{found:?}");
    }

    #[test]
    fn systems_that_there_are_not_are_named_with_their_line() {
        let found = faults("listen = \"0.0.0.0:80\"\n\n[system.no-such]\nkey = 1\n");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3], "{found:?}");
        assert!(found[0].1.contains("there is no system `no-such`"), "{found:?}");
        for (text, wanted) in
            [("system = 1\n", "[system.NAME]"), ("[system]\nno-such = 1\n", "[system.no-such]")]
        {
            assert!(faults(text)[0].1.contains(wanted), "{:?}", faults(text));
        }
    }

    #[test]
    fn what_is_no_toml_and_what_excludes_each_other_is_told() {
        assert_eq!(faults("a = 1\nb = = 2\n")[0].0, 2);
        let both = faults("data = \"a\"\nstore = \"sqlite:b\"\n");
        assert!(both.iter().any(|(_, message)| message.contains("exclude each other")), "{both:?}");
    }
}
