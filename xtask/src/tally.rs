//! Sums what the test binaries of a `cargo test` print.

use std::fmt;

#[derive(Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Vec<String>,
    binary: String,
    awaits_result: bool,
    listed: Option<Vec<String>>,
}

impl Tally {
    /// Reads one line of output.
    ///
    /// libtest prints `failures:` twice, first over the captured output and then over the names; only
    /// what follows the last one before the result is kept.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(binary) = started_binary(line) {
            self.finish();
            self.binary = binary;
            self.awaits_result = true;
        } else if line == "failures:" {
            self.listed = Some(Vec::new());
        } else if line.starts_with("test result: ") {
            self.passed += count(line, "passed");
            self.failed += count(line, "failed");
            self.skipped += count(line, "ignored");
            self.awaits_result = false;
            let names = self.listed.take().unwrap_or_default();
            self.failures.extend(names.iter().map(|name| format!("{}: {name}", self.binary)));
        } else if let (Some(names), Some(name)) = (&mut self.listed, line.strip_prefix("    ")) {
            names.push(name.to_owned());
        }
    }

    /// A binary that was killed or left early prints no result; that counts as one failure.
    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.awaits_result) {
            self.failed += 1;
            self.failures.push(format!("{}: ended without a result", self.binary));
        }
        self.listed = None;
    }

    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    pub(crate) fn any_failed(&self) -> bool {
        self.failed > 0
    }

    pub(crate) fn any_ran(&self) -> bool {
        self.passed + self.failed > 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// `     Running tests/api.rs (target/debug/deps/api-0a1b2c)` and `   Doc-tests model` name what comes next.
fn started_binary(line: &str) -> Option<String> {
    if let Some(library) = line.strip_prefix("   Doc-tests ") {
        return Some(format!("{library} documentation"));
    }
    let (_, path) = line.strip_prefix("     Running ")?.rsplit_once('(')?;
    let file = path.trim_end_matches(')').rsplit('/').next()?;
    Some(file.rsplit_once('-').map_or(file, |(name, _hash)| name).to_owned())
}

fn count(result: &str, word: &str) -> u64 {
    let words: Vec<&str> = result.split_whitespace().collect();
    let found = words.windows(2).find(|pair| pair[1].trim_end_matches(';') == word);
    found.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(output: &str) -> Tally {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.read(line));
        tally.finish();
        tally
    }

    #[test]
    fn results_of_all_binaries_are_summed() {
        let tally = tally(
            "     Running unittests src/lib.rs (target/debug/deps/model-0a1b)
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s
   Doc-tests model
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s",
        );
        assert_eq!(tally.to_string(), "5 passed, 0 failed, 2 skipped");
        assert!(tally.any_ran() && !tally.any_failed());
    }

    #[test]
    fn failed_tests_are_named_with_their_binary_and_without_their_output() {
        let tally = tally(
            "     Running tests/api.rs (target/debug/deps/server-api-0a1b)
test first ... ok
failures:

---- second stdout ----
    indented output of the test

failures:
    second
    third

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
    indented talk afterwards",
        );
        assert_eq!(tally.failures(), ["server-api: second", "server-api: third"]);
        assert_eq!(tally.to_string(), "1 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn a_binary_that_dies_counts_as_a_failure() {
        let tally = tally(
            "     Running tests/crash.rs (target/debug/deps/crash-0a1b)
test first ... ok
     Running tests/api.rs (target/debug/deps/api-0a1b)
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        assert_eq!(tally.failures(), ["crash: ended without a result"]);
        assert_eq!(tally.to_string(), "1 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn only_skipped_tests_means_that_none_ran() {
        let tally = tally("test result: ok. 0 passed; 0 failed; 4 ignored; 0 measured; 0 filtered out");
        assert!(!tally.any_ran());
    }
}
