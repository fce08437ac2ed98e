//! Doc comments begin with a verb or with the noun itself, so that they can be read without the code.

use super::{File, Problem, Tree};

/// Words that make a riddle of a sentence: what is meant stands behind them, or nowhere.
const RIDDLES: [&str; 12] =
    ["What", "How", "Whether", "Where", "When", "Who", "Whom", "Why", "Which", "It", "Its", "So"];

pub(super) fn doc_comments_name_the_thing(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().filter(|file| file.is("rs")).flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut goes_on = false;
    for (number, line) in file.lines() {
        let text = comment(line);
        let word = text.filter(|_| !goes_on).and_then(first_word);
        if let Some(word) = word.filter(|word| RIDDLES.contains(word)) {
            let message = format!(
                "a doc comment begins with `{word}`: begin with a verb (`Returns`) or with the noun itself (`The lease`)"
            );
            problems.push(file.problem(number, message));
        }
        goes_on = text.is_some();
    }
    problems
}

/// Returns the text of a line of a doc comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

fn first_word(text: &str) -> Option<&str> {
    text.split_whitespace().next().map(|word| word.trim_end_matches([',', ':', ';', '.', '?']))
}

#[cfg(test)]
mod tests {
    use super::super::findings;
    use super::*;

    #[test]
    fn riddles_are_found_where_a_comment_begins() {
        let found = |text: &str| findings(doc_comments_name_the_thing, &[("a.rs", text)]);
        for fine in [
            "/// Returns what is left.\n",
            "/// The lease in force.\n/// It ends soon.\n",
            "// What follows is no doc comment.\n",
            "/// Wherever it is.\n",
            "let text = \"/ What\";\n",
        ] {
            assert!(found(fine).is_empty(), "{fine}");
        }
        assert_eq!(
            found("fn a() {}\n    /// Whether it waits.\n"),
            [
                "a.rs:2: a doc comment begins with `Whether`: begin with a verb (`Returns`) or with the noun itself (`The lease`)"
            ]
        );
        for riddle in ["//! What this is.", "/// So many bytes.", "/// Why, for the record"] {
            assert_eq!(found(riddle).len(), 1, "{riddle}");
        }
    }
}
