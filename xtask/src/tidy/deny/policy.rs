//! Reads the little of `deny.toml` that is held to here: settings of one line, and lists with an entry a line.

use super::super::manifest::entries;
use super::super::{File, Problem, Tree};

const PATH: &str = "deny.toml";

/// The policy that says what may be depended on.
pub(super) struct Policy<'a> {
    pub(super) file: &'a File,
}

/// One line of a list of crates.
pub(super) struct Listed<'a> {
    pub(super) line: usize,
    /// With the version where one is named: `name@1.0.0`.
    pub(super) name: &'a str,
    pub(super) reason: &'a str,
}

/// Returns the policy and the lock file it is about.
pub(super) fn and_lock(tree: &Tree) -> Option<(Policy<'_>, &File)> {
    Some((policy(tree)?, tree.file("Cargo.lock")?))
}

pub(super) fn policy(tree: &Tree) -> Option<Policy<'_>> {
    tree.file(PATH).map(|file| Policy { file })
}

/// Says so where there is no policy.
pub(super) fn missing(tree: &Tree) -> Vec<Problem> {
    let message = "missing: it says which licences, sources and duplicates are allowed".to_owned();
    match tree.file(PATH) {
        Some(_) => Vec::new(),
        None => vec![Problem { path: PATH.to_owned(), line: 0, message }],
    }
}

impl<'a> Policy<'a> {
    /// Finds which of these settings (table and key) are not `"deny"`.
    pub(super) fn must_deny(&self, settings: &[(&str, &str)]) -> Vec<Problem> {
        let entries = entries(&self.file.text);
        let wrong = settings.iter().filter_map(|(table, key)| {
            let entry = entries.iter().find(|entry| (entry.table, entry.key) == (*table, *key));
            let is_denied = entry.is_some_and(|entry| entry.value == "\"deny\"");
            let line = entry.map_or(0, |entry| entry.line);
            (!is_denied).then(|| self.file.problem(line, format!("`{key}` of [{table}] must be \"deny\"")))
        });
        wrong.collect()
    }

    /// Returns the texts of a list.
    pub(super) fn texts(&self, table: &str, key: &str) -> Vec<&'a str> {
        self.list(table, key).into_iter().filter_map(|(_, line)| quoted(line)).collect()
    }

    /// Returns the crates of a list.
    pub(super) fn crates(&self, table: &str, key: &str) -> Vec<Listed<'a>> {
        let listed = self.list(table, key).into_iter().filter_map(|(line, text)| {
            let name = field(text, "crate")?;
            Some(Listed { line, name, reason: field(text, "reason").unwrap_or_default() })
        });
        listed.collect()
    }

    /// Returns the lines between `key = [` and `]`, without comments.
    fn list(&self, table: &str, key: &str) -> Vec<(usize, &'a str)> {
        let (header, opening) = (format!("[{table}]"), format!("{key} = ["));
        let lines = self.file.text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let within = lines.skip_while(|(_, line)| *line != header).skip(1);
        let within = within.take_while(|(_, line)| !line.starts_with('['));
        let list = within.skip_while(|(_, line)| *line != opening).skip(1);
        list.take_while(|(_, line)| *line != "]").filter(|(_, line)| !line.starts_with('#')).collect()
    }
}

fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = line.split_once(&format!("{key} = "))?;
    quoted(after)
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.split('"').next()
}
