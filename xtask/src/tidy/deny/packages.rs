//! The packages that are depended on: those of the lock file, and with their licences those of this machine's build.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A package as cargo knows it.
pub(in super::super) struct Package {
    pub(super) name: String,
    /// The licence expression; empty where there is none.
    pub(super) licence: String,
}

/// A package of the lock file.
pub(super) struct Locked<'a> {
    pub(super) line: usize,
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    /// None for the packages of this repository.
    pub(super) source: Option<&'a str>,
}

impl Locked<'_> {
    pub(super) fn spec(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Asks cargo for every package that some build on this machine needs. Fetches what is missing of them, as any build.
pub(in super::super) fn packages(root: &Path) -> Result<Vec<Package>> {
    let mut tree = Command::new("cargo");
    tree.args([
        "tree",
        "--workspace",
        "--all-features",
        "--locked",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}",
    ]);
    let output = tree.current_dir(root).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo cannot list the dependencies: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(listed(&String::from_utf8_lossy(&output.stdout)))
}

/// Reads lines such as `serde v1.0.0|MIT OR Apache-2.0`; those that repeat an earlier one end in ` (*)`.
fn listed(lines: &str) -> Vec<Package> {
    let mut lines: Vec<&str> = lines.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    lines.sort_unstable();
    lines.dedup();
    let packages = lines.iter().filter_map(|line| line.split_once('|'));
    packages.map(|(name, licence)| Package { name: name.to_owned(), licence: licence.to_owned() }).collect()
}

/// Reads a lock file.
pub(super) fn locked(lock: &str) -> Vec<Locked<'_>> {
    let mut packages: Vec<Locked<'_>> = Vec::new();
    for (index, line) in lock.lines().enumerate() {
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let value = value.trim_matches('"');
        match (key, packages.last_mut()) {
            ("name", _) => packages.push(Locked { line: index + 1, name: value, version: "", source: None }),
            ("version", Some(package)) => package.version = value,
            ("source", Some(package)) => package.source = Some(value),
            _ => {}
        }
    }
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_once_each() {
        let packages = listed("a v1.0.0|MIT\nb v0.1.0 (/home/b)|\na v1.0.0|MIT (*)\n");
        let read: Vec<_> = packages.iter().map(|package| (&*package.name, &*package.licence)).collect();
        assert_eq!(read, [("a v1.0.0", "MIT"), ("b v0.1.0 (/home/b)", "")]);
    }

    #[test]
    fn the_lock_file_is_read_with_its_lines() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\n";
        let packages = locked(lock);
        assert_eq!(packages.len(), 2);
        assert_eq!(
            (packages[0].line, packages[0].spec(), packages[0].source),
            (4, "a@1.0.0".to_owned(), Some("registry+x"))
        );
        assert_eq!((packages[1].line, packages[1].source), (9, None));
    }
}
