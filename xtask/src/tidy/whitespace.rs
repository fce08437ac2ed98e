//! Text that every editor shows alike.

use super::{Problem, Tree};

pub(super) fn is_plain(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| !file.is_generated()) {
        let tabs_matter = ["rs", "toml", "md"].iter().any(|extension| file.is(extension));
        for (number, line) in file.lines() {
            if line.ends_with(char::is_whitespace) {
                problems.push(file.problem(number, "whitespace at the end of the line: remove it"));
            }
            if tabs_matter && line.contains('\t') {
                problems.push(file.problem(number, "a tab: use spaces, or \\t in a string"));
            }
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            problems.push(file.problem(0, "no newline at the end of the file: add one"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn spaces_and_carriage_returns_at_the_end_of_a_line_are_found() {
        let found = findings(is_plain, &[("a.txt", "one\ntwo \nthree\r\n")]);
        let message = "whitespace at the end of the line: remove it";
        assert_eq!(found, [format!("a.txt:2: {message}"), format!("a.txt:3: {message}")]);
    }

    #[test]
    fn tabs_are_found_where_spaces_are_the_custom() {
        for path in ["a.rs", "a.toml", "a.md"] {
            assert_eq!(findings(is_plain, &[(path, "\tone\n")]).len(), 1, "{path}");
        }
        assert!(findings(is_plain, &[("Makefile", "\tone\n")]).is_empty());
    }

    #[test]
    fn a_missing_final_newline_is_found() {
        assert_eq!(
            findings(is_plain, &[("a.md", "one")]),
            ["a.md: no newline at the end of the file: add one"]
        );
        assert!(findings(is_plain, &[("empty", ""), ("a.snap", "one ")]).is_empty());
    }
}
