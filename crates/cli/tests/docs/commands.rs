//! Every command that the pages show is run, or says why not; every option they name is the program's.

use std::collections::BTreeSet;

use crate::docs::page::Page;
use crate::docs::run::{repository, run};

/// The pages of the repository, by their names.
fn pages() -> Vec<String> {
    let docs = std::fs::read_dir(repository().join("docs")).expect("the folder is there");
    let names = docs.map(|entry| entry.expect("the folder can be read").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("names are plain")).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    let others =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "clients/python/README.md"]
            .map(str::to_owned);
    others.into_iter().chain(names.into_iter().map(|name| format!("docs/{name}"))).collect()
}

fn page(name: &str) -> Page {
    Page::read(&crate::docs::read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All at once, each in a shell of its own: a page is mostly waiting. `DOCS_PAGE` names a part of those to run.
#[test]
fn the_commands_of_every_page_work_as_typed() {
    let only = std::env::var("DOCS_PAGE").unwrap_or_default();
    let shown_first = page("README.md").files;
    let names: Vec<String> = pages().into_iter().filter(|name| name.contains(&only)).collect();
    let results: Vec<(String, Result<(), String>)> = std::thread::scope(|scope| {
        let started = names.into_iter().map(|name| {
            let files = &shown_first;
            (name.clone(), scope.spawn(move || run(&page(&name), files)))
        });
        let started: Vec<_> = started.collect();
        started.into_iter().map(|(name, thread)| (name, thread.join().expect("the thread ends"))).collect()
    });
    let failed = results.into_iter().filter_map(|(name, result)| Some(format!("{name}, {}", result.err()?)));
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_page_that_fails_is_told_with_its_line_and_output() {
    for (commands, line, said) in [
        ("echo one\nfalse", 5, "one"),
        ("echo $NOBODY", 3, "line 4: NOBODY: unbound variable"),
        ("cat gone | cat", 4, "gone"),
        ("milepost serve --data ./data --pipelines ./gone", 4, "gone"),
        ("milepost serve --data ./data\nmilepost list --status none", 5, "none"),
        (
            "milepost serve --data ./data\ncurl -s -X POST http://127.0.0.1:8080/v1/endpoints -d '{}'",
            5,
            "unsupported-media-type",
        ),
        ("milepost serve --data ./data\ncurl -s localhost:8080/v1/nothing | cat", 5, "\"status\":404"),
        ("echo '{\"results\":[{\"problem\":{}}]}'", 3, "a part of it was refused"),
    ] {
        let page = Page::read(&format!("# A\n\n```sh\n{commands}\n```\n")).expect("the page is in order");
        let error = run(&page, &[]).expect_err(commands);
        assert!(error.starts_with(&format!("line {line}: ")) && error.contains(said), "{commands}: {error}");
    }
}

#[test]
fn a_block_that_shows_a_refusal_must_be_refused_with_it() {
    let shows = |commands: &str| {
        let start = "```sh\nmilepost serve --data ./data\n```\n";
        let text = format!("{start}```sh refused=\"unknown-pipeline\"\n{commands}\n```\n");
        run(&Page::read(&text).expect("the page is in order"), &[])
    };
    shows("curl -s localhost:8080/v1/pipelines/gone").expect("it is refused as the mark says");
    for commands in ["curl -s localhost:8080/v1/pipelines", "curl -s localhost:8080/v1/submissions/gone"] {
        let error = shows(commands).expect_err(commands);
        assert!(error.starts_with("line 4: it was to be refused with: unknown-pipeline"), "{error}");
    }
}

/// Runs what stands in no block of `sh`, which nobody would try otherwise.
#[test]
fn commands_stand_in_blocks() {
    for name in pages() {
        let text = crate::docs::read(&name);
        let mut fenced = false;
        for (index, line) in text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            let is_command =
                ["    milepost ", "    curl ", "    cargo "].iter().any(|begins| line.starts_with(begins));
            assert!(
                fenced || !is_command,
                "{name}, line {}: put the command into a block of `sh`",
                index + 1
            );
        }
    }
}

#[test]
fn options_that_pages_name_are_there() {
    let said =
        std::process::Command::new(env!("CARGO_BIN_EXE_milepost")).args(["completions", "bash"]).output();
    let said = String::from_utf8(said.expect("the binary runs").stdout).expect("the program writes UTF-8");
    let known: BTreeSet<&str> = said.split_whitespace().map(|word| word.trim_matches('"')).collect();
    for name in pages() {
        let text = crate::docs::read(&name);
        let mut fenced = false;
        for (index, line) in text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            if fenced {
                continue;
            }
            let code = line.split('`').skip(1).step_by(2).filter(|code| !code.starts_with("cargo "));
            for option in code
                .flat_map(str::split_whitespace)
                .filter(|word| word.starts_with("--") && word.len() > 2 && !word.starts_with("---"))
            {
                assert!(
                    known.contains(option),
                    "{name}, line {}: `milepost` has no option `{option}`",
                    index + 1
                );
            }
        }
    }
}
