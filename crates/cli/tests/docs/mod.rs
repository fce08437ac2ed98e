//! The documentation is true: its commands work, its pipelines load, and no route and no problem of a file is left out.
#![cfg(unix)]

mod commands;
mod page;
mod run;

use std::collections::BTreeSet;
use std::path::Path;

use model::pipeline::{CODES, Source, attachments, load};
use run::repository;

/// The problems that a part of a pipeline may be blamed for: that the rest of it is missing.
const PARTIAL: [&str; 5] =
    ["missing-key", "no-way-out", "unknown-notification", "unknown-state", "unreachable-state"];

fn read(page: &str) -> String {
    let path = repository().join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// The TOML examples of a page. Whatever files they name are there and allow everything.
fn examples(page: &str) -> Vec<Source> {
    const FENCE: &str = "```toml";
    let text = read(page);
    let examples = text.match_indices(FENCE).map(|(at, _)| {
        let block = text[at..].split_once('\n').map_or("", |(_, block)| block);
        let toml = block.split("```").next().unwrap_or_default();
        let name = format!("{page}, the example at line {}", text[..at].lines().count() + 1);
        let text_of = |path: &str| if path.ends_with(".txt") { "Subject: x\n\ntext\n" } else { "{}" };
        let files = attachments(toml).into_iter().map(|path| (path.clone(), text_of(&path).to_owned()));
        let files = files.collect();
        Source { files, ..Source::new(name, toml) }
    });
    examples.collect()
}

#[test]
fn pipelines_in_the_documentation_load() {
    for page in ["README.md", "docs/pipelines.md"] {
        let examples = examples(page);
        let complete: Vec<_> = examples.iter().filter(|source| source.toml.starts_with("name =")).collect();
        assert!(!complete.is_empty(), "{page} shows no pipeline");
        for source in complete {
            load(source).unwrap_or_else(|problems| panic!("{}", problems.render(source)));
        }
    }
}

#[test]
fn parts_of_pipelines_lack_nothing_but_the_rest() {
    for source in ["README.md", "docs/pipelines.md"].into_iter().flat_map(examples) {
        if source.toml.starts_with("name =") {
            continue;
        }
        let file = &source.file;
        assert!(source.toml.starts_with("# part\n"), "{file} begins neither with `name =` nor with `# part`");
        let problems = load(&source).expect_err("a part is no pipeline");
        let wrong = problems.iter().find(|problem| !PARTIAL.contains(&problem.code));
        assert!(wrong.is_none(), "{}", problems.render(&source));
    }
}

#[test]
fn every_problem_of_a_file_is_listed() {
    let page = read("docs/pipelines.md");
    for (code, _) in CODES {
        assert!(page.contains(&format!("| `{code}` |")), "docs/pipelines.md does not list `{code}`");
    }
}

#[test]
fn every_route_has_its_heading_and_an_example() {
    let page = read("docs/api.md");
    for route in server::TABLE {
        let heading = format!("### {} {}\n", route.method, route.path);
        let (_, rest) = page
            .split_once(&heading)
            .unwrap_or_else(|| panic!("docs/api.md has no heading `{}`", heading.trim_end()));
        let section = rest.split("\n#").next().unwrap_or_default();
        let begins = route.path.split('{').next().unwrap_or_default();
        let shows = |line: &str| line.contains("curl ") && line.contains(&format!("$M{begins}"));
        assert!(section.lines().any(shows), "docs/api.md shows no curl line under `{}`", heading.trim_end());
    }
}

/// A page that says what is so names the test that would notice if it were not.
#[test]
fn tests_that_pages_name_are_there() {
    let known = functions_of(&repository());
    for page in ["CONTRIBUTING.md", "docs/security.md", "docs/testing.md"] {
        for (index, line) in read(page).lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
            let is_test = |word: &&str| {
                word.matches('_').count() > 2 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            };
            for name in line.split('`').skip(1).step_by(2).filter(is_test) {
                assert!(known.contains(name), "{page}, line {}: there is no test `{name}`", index + 1);
            }
        }
    }
}

/// The names of all functions below a folder, tests among them.
fn functions_of(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            names.append(&mut functions_of(&path));
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            let functions = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('('));
            names.extend(functions.map(|(name, _)| name.to_owned()));
        }
    }
    names
}
