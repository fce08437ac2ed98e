//! No locked release was yanked, as far as cargo's own copy of the index knows: nothing is asked over the network, and a
//! machine without a copy finds nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::packages::locked;
use super::policy;
use crate::tidy::{Problem, Tree};

/// A release of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Release {
    pub(super) name: String,
    pub(super) version: String,
}

/// Finds locked releases that were yanked.
pub(in super::super) fn are_not_locked(tree: &Tree) -> Vec<Problem> {
    let Some((policy, lock)) = policy::and_lock(tree) else { return Vec::new() };
    let mut problems = policy.must_deny(&[("advisories", "yanked")]);
    for release in &tree.yanked {
        let Release { name, version } = release;
        let packages = locked(&lock.text);
        let found = packages.iter().find(|package| package.name == name && package.version == version);
        let message =
            format!("{name} v{version} was yanked: `cargo update -p {name}@{version}` takes another");
        problems.extend(found.map(|package| lock.problem(package.line, message)));
    }
    problems
}

/// Looks every locked package up in the copies of indexes that cargo keeps.
pub(in super::super) fn yanked(lock: &str) -> Vec<Release> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let Some(home) = home else { return Vec::new() };
    let indexes = fs::read_dir(home.join("registry/index")).into_iter().flatten().flatten();
    let caches: Vec<PathBuf> = indexes.map(|index| index.path().join(".cache")).collect();
    let packages = locked(lock).into_iter().filter(|package| package.source.is_some());
    let is_yanked = |name: &str, version: &str| {
        let copies = caches.iter().filter_map(|cache| fs::read(cache.join(place(name))).ok());
        copies.into_iter().any(|copy| says_yanked(&copy, version))
    };
    packages
        .filter(|package| is_yanked(package.name, package.version))
        .map(|package| Release { name: package.name.to_owned(), version: package.version.to_owned() })
        .collect()
}

/// Returns the place of a crate in an index, as cargo lays it out.
fn place(name: &str) -> PathBuf {
    let name = name.to_lowercase();
    let part = |from: usize, to: usize| name.get(from..to).unwrap_or_default();
    match name.len() {
        0..=2 => Path::new(&name.len().to_string()).join(&name),
        3 => Path::new("3").join(part(0, 1)).join(&name),
        _ => Path::new(part(0, 2)).join(part(2, 4)).join(&name),
    }
}

/// Tells whether a copy of a crate's page says that a version was yanked. It has a line of JSON for each version, with zeros
/// between them; of these lines only two members matter here, whose values have no quotes in them.
fn says_yanked(copy: &[u8], version: &str) -> bool {
    let lines = copy.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    let plain = lines.map(|line| line.replace("\": ", "\":"));
    let vers = format!("\"vers\":\"{version}\"");
    plain.into_iter().any(|line| line.contains(&vers) && line.contains("\"yanked\":true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::File;

    #[test]
    fn a_yanked_version_is_told_from_others() {
        let copy =
            b"\x03\x02\x00\x00\x00etag\x001.0.0\x00{\"name\":\"a\",\"vers\":\"1.0.0\",\"yanked\":true}\x00\
            1.0.1\x00{\"name\": \"a\", \"vers\": \"1.0.1\", \"yanked\": false}\x00";
        assert!(says_yanked(copy, "1.0.0"));
        assert!(!says_yanked(copy, "1.0.1") && !says_yanked(copy, "1.0"));
    }

    #[test]
    fn crates_are_looked_for_where_cargo_keeps_them() {
        for (name, path) in
            [("a", "1/a"), ("ab", "2/ab"), ("abc", "3/a/abc"), ("Serde_json", "se/rd/serde_json")]
        {
            assert_eq!(place(name), Path::new(path));
        }
    }

    #[test]
    fn a_locked_release_that_was_yanked_is_found() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\n";
        let release = |version: &str| Release { name: "a".to_owned(), version: version.to_owned() };
        let policy = "[advisories]\nyanked = \"deny\"\n";
        let files = || vec![file("deny.toml", policy), file("Cargo.lock", lock)];
        let tree = |version| Tree { files: files(), packages: Vec::new(), yanked: vec![release(version)] };
        assert!(are_not_locked(&tree("1.0.1")).is_empty());
        let found: Vec<_> = are_not_locked(&tree("1.0.0")).iter().map(Problem::to_string).collect();
        assert_eq!(found, ["Cargo.lock:2: a v1.0.0 was yanked: `cargo update -p a@1.0.0` takes another"]);
    }
}
