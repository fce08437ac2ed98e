//! The pipeline files that ship, wherever they are: beside what sends, and in the rooms of the systems. The tests of other
//! crates find them by this file as well.
#![allow(dead_code, reason = "the tests of other crates use a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folders that hold pipeline files, each with the schemas, templates and scenarios beside them.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let systems = entries(&root.join("systems"));
    std::iter::once(root.join("crates/sending")).chain(systems).filter(|folder| folder.is_dir()).collect()
}

/// Returns every pipeline file that ships, by name.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folders().iter().flat_map(|folder| entries(folder)).collect();
    files.retain(|path| {
        path.extension().is_some_and(|ending| ending == "toml") && !path.ends_with("Cargo.toml")
    });
    files.sort_by_key(|path| name(path));
    files
}

/// Returns the names of the pipelines that ship.
pub(crate) fn names() -> Vec<String> {
    files().iter().map(|path| name(path)).collect()
}

/// Returns the file of a pipeline that ships.
pub(crate) fn file(pipeline: &str) -> PathBuf {
    let found = files().into_iter().find(|path| name(path) == pipeline);
    found.unwrap_or_else(|| panic!("no pipeline file {pipeline}.toml ships"))
}

/// Copies every pipeline file that ships into one folder, with the schemas, templates and scenarios.
pub(crate) fn gather(into: &Path) {
    for folder in folders() {
        ["schemas", "templates", "scenarios"]
            .iter()
            .for_each(|part| copy(&folder.join(part), &into.join(part)));
    }
    for file in files() {
        let target = into.join(file.file_name().expect("a file has a name"));
        fs::copy(&file, target).expect("the file can be copied");
    }
}

/// Copies what a folder holds; one that is not there holds nothing.
pub(crate) fn copy(from: &Path, into: &Path) {
    fs::create_dir_all(into).expect("the folder can be written");
    for path in entries(from) {
        let target = into.join(path.file_name().expect("an entry has a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, target).expect("the file can be copied")),
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}

fn name(path: &Path) -> String {
    path.file_stem().and_then(|name| name.to_str()).expect("pipeline files have plain names").to_owned()
}
