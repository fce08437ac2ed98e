//! Files stay small enough to be read in one sitting.

use super::{Problem, Tree};

const RUST_LINES_MAX: usize = 500;
const REASON_WITHIN_LINES: usize = 20;
const ARCHITECTURE_LINES_MAX: usize = 180;

pub(super) fn rust_files_are_small(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is("rs")) {
        let lines = file.lines().count();
        let excused = file
            .lines()
            .take(REASON_WITHIN_LINES)
            .any(|(_, line)| line.strip_prefix("// size:").is_some_and(|reason| !reason.trim().is_empty()));
        if lines > RUST_LINES_MAX && !excused {
            problems.push(file.problem(
                0,
                format!("{lines} lines: split it, or say why not in a line `// size: reason` near its top"),
            ));
        }
    }
    problems
}

pub(super) fn architecture_is_short(tree: &Tree) -> Vec<Problem> {
    let Some(file) = tree.file("ARCHITECTURE.md") else { return Vec::new() };
    match file.lines().count() {
        lines if lines < ARCHITECTURE_LINES_MAX => Vec::new(),
        lines => vec![file.problem(0, format!("{lines} lines: keep it under {ARCHITECTURE_LINES_MAX}"))],
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn a_long_rust_file_needs_a_reason_near_its_top() {
        let long = "\n".repeat(501);
        assert_eq!(findings(rust_files_are_small, &[("a.rs", &long)]).len(), 1);
        assert_eq!(findings(rust_files_are_small, &[("a.rs", &format!("// size:\n{long}"))]).len(), 1);
        assert_eq!(findings(rust_files_are_small, &[("a.rs", &format!("{long}// size: a table"))]).len(), 1);
        assert!(findings(rust_files_are_small, &[("a.rs", &format!("// size: a table\n{long}"))]).is_empty());
    }

    #[test]
    fn short_files_and_other_kinds_are_fine() {
        let long = "\n".repeat(501);
        let files = [("a.rs", &long[1..]), ("a.snap", long.as_str())];
        assert!(findings(rust_files_are_small, &files).is_empty());
    }

    #[test]
    fn the_architecture_stays_under_its_limit() {
        let long = "\n".repeat(ARCHITECTURE_LINES_MAX);
        assert_eq!(findings(architecture_is_short, &[("ARCHITECTURE.md", &long)]).len(), 1);
        assert!(findings(architecture_is_short, &[("ARCHITECTURE.md", &long[1..])]).is_empty());
    }
}
