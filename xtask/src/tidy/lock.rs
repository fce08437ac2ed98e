//! The lock file is part of the repository.

use super::{Problem, Tree};

pub(super) fn is_committed(tree: &Tree) -> Vec<Problem> {
    if tree.file("Cargo.lock").is_some() {
        return Vec::new();
    }
    let message = "missing or ignored by git: run `cargo generate-lockfile` and commit it".to_owned();
    vec![Problem { path: "Cargo.lock".to_owned(), line: 0, message }]
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
}
