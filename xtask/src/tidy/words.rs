//! Words that say a file is unfinished, or that it knows a machine it should not.
//!
//! The patterns are put together from pieces so that this file does not contain them.

use super::{File, Problem, Tree};

struct Word {
    pattern: &'static str,
    scope: Scope,
    advice: &'static str,
}

enum Scope {
    Everywhere,
    Rust,
    Tests,
}

use Scope::{Everywhere, Rust, Tests};

const FINISH: &str = "finish it now, or leave it out";
const OWN_MACHINE: &str = "this path exists on one machine only: use one relative to the repository";
const REGISTRY: &str = "name the package, not the host it is fetched from";
const REASON: &str = "say why in the attribute: #[ignore = \"reason\"]";

const WORDS: &[Word] = &[
    Word { pattern: concat!("TO", "DO"), scope: Everywhere, advice: FINISH },
    Word { pattern: concat!("FIX", "ME"), scope: Everywhere, advice: FINISH },
    Word { pattern: concat!("to", "do!"), scope: Rust, advice: FINISH },
    Word { pattern: concat!("unimplemented", "!"), scope: Rust, advice: FINISH },
    Word { pattern: concat!("/wo", "rk/"), scope: Everywhere, advice: OWN_MACHINE },
    Word { pattern: concat!("/tmp/", "scratch"), scope: Everywhere, advice: OWN_MACHINE },
    Word { pattern: concat!("../", "shared"), scope: Everywhere, advice: OWN_MACHINE },
    Word { pattern: concat!("crates", ".io"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("npmjs", ".org"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("npmjs", ".com"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("pypi", ".org"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("pythonhosted", ".org"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("rubygems", ".org"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("proxy.golang", ".org"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("docker", ".io"), scope: Everywhere, advice: REGISTRY },
    Word { pattern: concat!("#[", "ignore]"), scope: Rust, advice: REASON },
    Word { pattern: concat!(" ig", "nore)]"), scope: Rust, advice: REASON },
    Word { pattern: concat!("```", "ignore"), scope: Rust, advice: "mark it `text`, or make it compile" },
    Word {
        pattern: concat!("thread::", "sleep"),
        scope: Tests,
        advice: "wait for a condition, not for time",
    },
];

pub(super) fn none_is_forbidden(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().filter(|file| !file.is("lock")).flat_map(forbidden_words).collect()
}

fn forbidden_words(file: &File) -> Vec<Problem> {
    let tests_from = first_line_of_tests(file);
    let mut problems = Vec::new();
    for (number, line) in file.lines() {
        for word in WORDS.iter().filter(|word| stands_in(word.pattern, line)) {
            let forbidden = match word.scope {
                Everywhere => true,
                Rust => file.is("rs"),
                Tests => file.is("rs") && number >= tests_from,
            };
            if forbidden {
                problems.push(file.problem(number, format!("`{}`: {}", word.pattern, word.advice)));
            }
        }
    }
    problems
}

/// A pattern that goes on to the left is another word: a path below some other folder, a longer name.
fn stands_in(pattern: &str, line: &str) -> bool {
    line.match_indices(pattern).any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
}

fn first_line_of_tests(file: &File) -> usize {
    if file.path.contains("/tests/") || file.path.ends_with("tests.rs") {
        return 1;
    }
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let opens_module =
        |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].contains("mod ") && pair[1].ends_with('{');
    lines.windows(2).position(opens_module).map_or(usize::MAX, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        findings(none_is_forbidden, &[(path, text)]).len()
    }

    #[test]
    fn unfinished_work_is_found_with_its_line() {
        let text = concat!("fn a() {}\n// TO", "DO: b\n");
        let found = findings(none_is_forbidden, &[("a.rs", text)]);
        assert_eq!(found, [concat!("a.rs:2: `TO", "DO`: finish it now, or leave it out")]);
        assert_eq!(count("a.md", concat!("FIX", "ME")), 1);
        assert_eq!(count("a.rs", concat!("to", "do!()")), 1);
        assert_eq!(count("a.rs", concat!("unimplemented", "!()")), 1);
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        assert_eq!(count("a.toml", concat!("path = \"/wo", "rk/main\"")), 1);
        assert_eq!(count("a.sh", concat!("cd /tmp/", "scratch-a")), 1);
        assert_eq!(count("a.md", concat!("see ../", "shared/x.md")), 1);
        assert_eq!(count("a.md", concat!("/v1/workers, /srv/data/wo", "rk/x")), 0);
    }

    #[test]
    fn registries_are_found_under_any_subdomain_but_not_in_the_lock_file() {
        let text = concat!("https://index.crates", ".io/x");
        assert_eq!(count("a.md", text), 1);
        assert_eq!(count("Cargo.lock", text), 0);
        assert_eq!(count("a.md", concat!("registry.npmjs", ".org")), 1);
        assert_eq!(count("a.md", concat!("pypi", ".org/simple")), 1);
    }

    #[test]
    fn an_ignored_test_needs_a_reason() {
        assert_eq!(count("a.rs", concat!("#[", "ignore]")), 1);
        assert_eq!(count("a.rs", concat!("#[cfg_attr(windows, ", "ignore)]")), 1);
        assert_eq!(count("a.rs", concat!("/// ```", "ignore")), 1);
        assert_eq!(count("a.rs", "#[ignore = \"takes an hour\"]"), 0);
    }

    #[test]
    fn tests_do_not_sleep() {
        let sleep = concat!("std::thread::", "sleep(a);");
        assert_eq!(count("crates/a/tests/b.rs", sleep), 1);
        assert_eq!(count("crates/a/src/b/tests.rs", sleep), 1);
        assert_eq!(count("crates/a/src/b.rs", &format!("#[cfg(test)]\nmod tests {{\n{sleep}\n}}")), 1);
        assert_eq!(count("crates/a/src/b.rs", &format!("{sleep}\n#[cfg(test)]\nmod tests {{\n}}")), 0);
        assert_eq!(count("crates/a/src/b.rs", &format!("#[cfg(test)]\nmod tests;\n{sleep}")), 0);
    }
}
