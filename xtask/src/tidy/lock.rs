//! The lock file is part of the repository, and keeps out a second TLS stack.

use super::{Problem, Tree};

/// TLS is rustls with ring; each of these would bring another one and a slow C build.
const OTHER_TLS: &[&str] = &["aws-lc-rs", "aws-lc-sys", "native-tls", "openssl", "openssl-sys"];

pub(super) fn is_committed(tree: &Tree) -> Vec<Problem> {
    if tree.file("Cargo.lock").is_some() {
        return Vec::new();
    }
    let message = "missing or ignored by git: run `cargo generate-lockfile` and commit it".to_owned();
    vec![Problem { path: "Cargo.lock".to_owned(), line: 0, message }]
}

pub(super) fn has_one_tls_stack(tree: &Tree) -> Vec<Problem> {
    let Some(lock) = tree.file("Cargo.lock") else { return Vec::new() };
    let mut problems = Vec::new();
    for (number, line) in lock.lines() {
        let package = line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(package) = package.filter(|package| OTHER_TLS.contains(package)) {
            let message =
                format!("a second TLS stack: `cargo tree -i {package}` shows which feature to turn off");
            problems.push(lock.problem(number, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn a_missing_lock_file_is_found() {
        assert_eq!(findings(is_committed, &[("Cargo.toml", "")]).len(), 1);
        assert!(findings(is_committed, &[("Cargo.lock", "")]).is_empty());
    }

    #[test]
    fn every_other_tls_stack_is_found() {
        for package in ["openssl", "native-tls", "aws-lc-rs", "aws-lc-sys"] {
            let lock = format!("[[package]]\nname = \"{package}\"\n");
            assert_eq!(findings(has_one_tls_stack, &[("Cargo.lock", &lock)]).len(), 1, "{package}");
        }
        let good = "[[package]]\nname = \"rustls\"\n\n[[package]]\nname = \"openssl-probe\"\n";
        assert!(findings(has_one_tls_stack, &[("Cargo.lock", good)]).is_empty());
    }
}
