//! `cargo xtask tidy`: the rules of the repository that no compiler checks.
//!
//! A check is a pure function from the tree to problems. All of them run, so one call shows everything.

mod crates;
mod deny;
mod glossary;
mod links;
mod literals;
mod lock;
mod manifest;
mod names;
mod openings;
mod size;
mod whitespace;
mod words;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::needs;

type Check = fn(&Tree) -> Vec<Problem>;

const CHECKS: &[(&str, Check)] = &[
    ("size", size::rust_files_are_small),
    ("size", size::architecture_is_short),
    ("words", words::none_is_forbidden),
    ("whitespace", whitespace::is_plain),
    ("arrows", crates::arrows_point_down),
    ("manifests", crates::manifests_follow_the_workspace),
    ("crates", crates::have_sources),
    ("links", links::lead_somewhere),
    ("names", names::code_that_pages_name_exists),
    ("openings", openings::doc_comments_name_the_thing),
    ("glossary", glossary::words_are_defined_once),
    ("glossary", glossary::phrases_are_not_used),
    ("lock", lock::is_committed),
    ("sources", deny::sources_are_known),
    ("bans", deny::bans_are_kept),
    ("yanked", deny::yanked_are_not_locked),
    ("licences", deny::licences_are_allowed),
];

struct Tree {
    files: Vec<File>,
    /// The packages that the build on this machine depends on.
    packages: Vec<deny::Package>,
    /// The releases of the lock file that were yanked.
    yanked: Vec<deny::Release>,
}

struct File {
    /// Relative to the root of the workspace, with forward slashes.
    path: String,
    /// Empty for files that are not text.
    text: String,
}

struct Problem {
    path: String,
    /// Counted from 1; 0 speaks of the whole file.
    line: usize,
    message: String,
}

pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    needs::provide(needs::NEEDS)?;
    let tree = Tree::read(root)?;
    let mut problems = 0;
    for (name, check) in CHECKS {
        for problem in check(&tree) {
            println!("{problem} [{name}]");
            problems += 1;
        }
    }
    println!("tidy: {} files, {problems} problems", tree.files.len());
    Ok(if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Tree {
    /// Reads what is committed or would be: ignored files are nobody's concern.
    fn read(root: &Path) -> Result<Tree> {
        let listing = Command::new("git")
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("cannot start git")?;
        if !listing.status.success() {
            bail!("git cannot list the files: {}", String::from_utf8_lossy(&listing.stderr).trim());
        }
        let listing = String::from_utf8(listing.stdout).context("a file name is not UTF-8: rename it")?;
        let paths = listing.split_terminator('\0').filter(|path| root.join(path).is_file());
        let files: Vec<File> = paths.map(|path| File::read(root, path)).collect::<Result<_>>()?;
        let lock = files.iter().find(|file| file.path == "Cargo.lock").map_or("", |lock| &lock.text);
        let yanked = deny::yanked(lock);
        Ok(Tree { files, packages: deny::packages(root)?, yanked })
    }

    fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl File {
    fn read(root: &Path, path: &str) -> Result<File> {
        let bytes = fs::read(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        Ok(File { path: path.to_owned(), text: String::from_utf8(bytes).unwrap_or_default() })
    }

    fn is(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
    }

    /// Written by a program that has its own mind about the text.
    fn is_generated(&self) -> bool {
        self.is("snap") || self.is("lock")
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.split_terminator('\n').enumerate().map(|(index, line)| (index + 1, line))
    }

    fn problem(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem { path: self.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// Returns what `check` says about a tree of these paths and texts.
#[cfg(test)]
fn findings(check: Check, files: &[(&str, &str)]) -> Vec<String> {
    let file = |&(path, text): &(&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
    let tree = Tree { files: files.iter().map(file).collect(), packages: Vec::new(), yanked: Vec::new() };
    check(&tree).iter().map(Problem::to_string).collect()
}
