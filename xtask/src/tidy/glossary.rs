//! The glossary: one meaning a word, and phrases that are not used for it.
//!
//! Its table has four columns: the word in bold, its meaning, where it is in code and API, and what it is not called. A phrase in
//! double quotes in the last column may stand in no document and in no string literal of the crates.

use std::collections::BTreeMap;

use super::literals::literals;
use super::{File, Problem, Tree};

const GLOSSARY: &str = "docs/glossary.md";

struct Row<'a> {
    line: usize,
    word: &'a str,
    /// The cells after the word.
    rest: Vec<&'a str>,
}

fn rows(file: &File) -> Vec<Row<'_>> {
    let rows = file.lines().filter(|(_, text)| text.starts_with("| **"));
    rows.map(|(line, text)| {
        let inner = text.strip_prefix('|').and_then(|text| text.strip_suffix('|')).unwrap_or(text);
        let mut cells = inner.split('|').map(str::trim);
        let word = cells.next().unwrap_or_default().trim_matches('*');
        Row { line, word, rest: cells.collect() }
    })
    .collect()
}

/// Each word in bold has one row, the rows are in order, and a word that a meaning puts in bold has a row of its own.
pub(super) fn words_are_defined_once(tree: &Tree) -> Vec<Problem> {
    let Some(file) = tree.file(GLOSSARY) else { return Vec::new() };
    let rows = rows(file);
    let mut problems = Vec::new();
    let mut defined = BTreeMap::new();
    let mut last = String::new();
    for row in &rows {
        let word = row.word.to_lowercase();
        if let Some(first) = defined.insert(word.clone(), row.line) {
            problems.push(file.problem(row.line, format!("`{word}` is defined in line {first} already")));
        }
        if word < last {
            problems.push(file.problem(row.line, format!("`{word}` comes before `{last}`: keep the order")));
        }
        if row.rest.len() != 3 {
            problems.push(
                file.problem(row.line, "a row has a word, a meaning, where it is and what is not used"),
            );
        }
        last = word;
    }
    for (line, text) in file.lines() {
        for word in text.split("**").skip(1).step_by(2) {
            if !defined.contains_key(&word.to_lowercase()) {
                problems.push(file.problem(line, format!("`{word}` is in bold and has no row: define it")));
            }
        }
    }
    problems
}

/// Phrases that the glossary has in quotes stand in no message and in no document.
pub(super) fn phrases_are_not_used(tree: &Tree) -> Vec<Problem> {
    let Some(glossary) = tree.file(GLOSSARY) else { return Vec::new() };
    let rows = rows(glossary);
    let phrases: Vec<(&str, &str)> = rows
        .iter()
        .filter_map(|row| row.rest.last().map(|unused| (row.word, *unused)))
        .flat_map(|(word, unused)| unused.split('"').skip(1).step_by(2).map(move |phrase| (word, phrase)))
        .collect();
    let mut problems = Vec::new();
    for file in &tree.files {
        for (line, text) in read_by_people(file) {
            for (word, _) in phrases.iter().filter(|(_, phrase)| text.to_lowercase().contains(phrase)) {
                problems.push(file.problem(line, format!("say it as {GLOSSARY} does, under `{word}`")));
            }
        }
    }
    problems
}

/// Returns the lines of a document, or the string literals of a crate's source.
fn read_by_people(file: &File) -> Vec<(usize, String)> {
    if file.is("md") && file.path != GLOSSARY {
        return file.lines().map(|(number, line)| (number, line.to_owned())).collect();
    }
    if file.is("rs") && file.path.starts_with("crates/") { literals(&file.text) } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    const HEAD: &str = "| word | meaning | where | not |\n|---|---|---|---|\n";

    fn words(rows: &str) -> Vec<String> {
        findings(words_are_defined_once, &[(GLOSSARY, &format!("{HEAD}{rows}"))])
    }

    #[test]
    fn a_word_has_one_row_in_its_place() {
        assert!(words("| **a** | x | `A` | |\n| **b** | an **a** | | |\n").is_empty());
        assert_eq!(words("| **a** | x | | |\n| **A** | y | | |\n").len(), 1);
        assert_eq!(words("| **b** | x | | |\n| **a** | y | | |\n").len(), 1);
        assert_eq!(words("| **a** | x | |\n").len(), 1);
        assert_eq!(words("| **a** | a **c** | | |\n").len(), 1);
    }

    #[test]
    fn a_phrase_is_found_in_messages_and_documents_and_not_in_code() {
        let glossary = format!("{HEAD}| **webhook** | x | | \"by pigeon\", carrier |\n");
        let found = |path: &str, text: &str| {
            findings(phrases_are_not_used, &[(GLOSSARY, glossary.as_str()), (path, text)])
        };
        let said = "say it as docs/glossary.md does, under `webhook`";
        assert_eq!(found("docs/a.md", "sent\nBy pigeon\n"), [format!("docs/a.md:2: {said}")]);
        assert_eq!(found("crates/a/src/b.rs", "f(\"by pigeon\")"), [format!("crates/a/src/b.rs:1: {said}")]);
        assert!(found("crates/a/src/b.rs", "// by pigeon\nlet carrier = \"carrier\";").is_empty());
        assert!(found("xtask/src/b.rs", "f(\"by pigeon\")").is_empty());
    }
}
