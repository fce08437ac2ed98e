//! Code that pages for readers of the code name is there: paths, tests, types and routes.

use std::collections::BTreeSet;

use super::{File, Problem, Tree};

/// Pages that are nothing but signposts, and so are wrong as soon as one name is.
const PAGES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md"];
const FOLDERS: [&str; 6] = ["clients", "crates", "docs", "packaging", "systems", "xtask"];
const ROUTES: &str = "crates/server/src/table.rs";
/// Items that a page may name, by the word before their name.
const ITEMS: [&str; 6] = ["struct ", "enum ", "trait ", "type ", "const ", "fn "];

pub(super) fn code_that_pages_name_exists(tree: &Tree) -> Vec<Problem> {
    let pages: Vec<&File> = PAGES.iter().filter_map(|page| tree.file(page)).collect();
    if pages.is_empty() {
        return Vec::new();
    }
    let items = items(tree);
    let mut problems = Vec::new();
    for page in pages {
        let mut fenced = false;
        for (number, line) in page.lines() {
            fenced ^= line.starts_with("```");
            for name in line.split('`').skip(1).step_by(2).filter(|_| !fenced) {
                if let Some(what) = missing(tree, &items, name) {
                    problems.push(page.problem(number, format!("there is no {what} `{name}`: correct it")));
                }
            }
        }
    }
    problems
}

/// Returns what a name would be, where it is nothing.
fn missing(tree: &Tree, items: &BTreeSet<&str>, name: &str) -> Option<&'static str> {
    if name.starts_with("/v1/") || name.starts_with("/checkpoint") {
        let is_there = tree.file(ROUTES).is_some_and(|file| file.text.contains(&format!("\"{name}\"")));
        return (!is_there).then_some("route");
    }
    if FOLDERS.contains(&name.split('/').next().unwrap_or_default()) {
        let name = name.trim_end_matches('/');
        let folder = format!("{name}/");
        let is_there = tree.files.iter().any(|file| file.path == name || file.path.starts_with(&folder));
        return (!is_there).then_some("file or folder");
    }
    // Below the folder that a table or a sentence is about.
    if name.ends_with(".rs") || name.ends_with(".sql") {
        let below = format!("/{name}");
        return (!tree.files.iter().any(|file| file.path.ends_with(&below))).then_some("file");
    }
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_test = name.matches('_').count() > 2 && is_word(name) && !name.contains(char::is_uppercase);
    if is_test {
        return (!items.contains(name)).then_some("test");
    }
    let of = name.split("::").next().unwrap_or_default();
    let is_type = name.starts_with(char::is_uppercase)
        && name.contains(char::is_lowercase)
        && name.split("::").all(is_word);
    if is_type && !items.contains(of) {
        return Some("type");
    }
    (is_type && !has_member(tree, name)).then_some("member")
}

/// Tells whether a file that defines a type has its member; a name without one has all it needs.
fn has_member(tree: &Tree, name: &str) -> bool {
    let Some((of, member)) = name.split_once("::") else { return true };
    let defines = |file: &&File| ITEMS.iter().any(|item| has_word(&file.text, &format!("{item}{of}")));
    tree.files.iter().filter(|file| file.is("rs")).filter(defines).any(|file| has_word(&file.text, member))
}

fn has_word(text: &str, word: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let begins = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| begins(&text[..at]) && !goes_on(&text[at + word.len()..]))
}

/// The names of all items in the sources.
fn items(tree: &Tree) -> BTreeSet<&str> {
    let sources = tree.files.iter().filter(|file| file.is("rs"));
    let named = |file: &'_ File| -> Vec<(usize, usize)> {
        let ends = |start: usize| {
            let rest = &file.text[start..];
            start + rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        };
        let starts =
            ITEMS.iter().flat_map(|item| file.text.match_indices(item).map(|(at, item)| at + item.len()));
        starts.map(|start| (start, ends(start))).collect()
    };
    sources.flat_map(|file| named(file).into_iter().map(|(start, end)| &file.text[start..end])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let files = [
            ("CONTRIBUTING.md", page),
            ("crates/a/src/lib.rs", "pub enum Command { Claim }\nfn a_stale_lease_cannot_finish() {}\n"),
            (ROUTES, "route(\"/v1/tasks:claim\")"),
        ];
        findings(code_that_pages_name_exists, &files)
    }

    #[test]
    fn names_of_what_exists_are_fine() {
        let page = "`crates/a/src/lib.rs`, `crates/a/`, `a/src/lib.rs`, `Command::Claim`, `Command`, `a_stale_lease_cannot_finish`,\n\
                    `/v1/tasks:claim`, `lease_no`, `.ci/run`, `cargo xtask tidy`\n```sh\necho `Gone`\n```\n";
        assert!(found(page).is_empty(), "{:?}", found(page));
    }

    #[test]
    fn names_of_nothing_are_found_with_their_line() {
        assert_eq!(
            found("a\n`crates/b`\n"),
            ["CONTRIBUTING.md:2: there is no file or folder `crates/b`: correct it"]
        );
        for name in ["gone.rs", "Comand::Claim", "Command::Clam", "Gone", "no_such_test_is_there", "/v1/gone"]
        {
            assert_eq!(found(&format!("`{name}`\n")).len(), 1, "{name}");
        }
    }
}
