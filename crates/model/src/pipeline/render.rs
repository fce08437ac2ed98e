//! Problems as people read them: message, place, line, caret.

use std::fmt::Write as _;

use super::problem::{Problem, Problems, Span};
use super::source::Source;

/// More than a screenful helps nobody; the count at the end is of all.
const SHOWN_MAX: usize = 100;
/// Longer lines are cut around the caret.
const WIDTH_MAX: usize = 160;

/// A place as editors count: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// The beginnings of a text's lines.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts }
    }

    /// The index of the line that holds a byte, and the byte itself moved back onto a character.
    fn find(&self, byte: usize) -> (usize, usize) {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        (self.starts.partition_point(|start| *start <= byte) - 1, byte)
    }

    fn line(&self, index: usize) -> &'a str {
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        self.text[self.starts[index]..end].trim_end_matches('\r')
    }

    /// The index of a byte's line.
    pub(super) fn index(&self, byte: usize) -> usize {
        self.find(byte).0
    }

    fn position(&self, byte: usize) -> Position {
        let (line, byte) = self.find(byte);
        Position { line: line + 1, column: self.text[self.starts[line]..byte].chars().count() + 1 }
    }

    /// Counts the characters of its first line that a span covers: at least one, so that there is a caret.
    fn width(&self, span: &Span) -> usize {
        let (line, start) = self.find(span.start);
        let (_, end) = self.find(span.end);
        let line_end = self.starts[line] + self.line(line).len();
        let end = end.min(line_end);
        if end <= start { 1 } else { self.text[start..end].chars().count() }
    }
}

impl Problems {
    /// Each problem with where it begins.
    pub fn located<'a>(&'a self, source: &'a Source) -> impl Iterator<Item = (Position, &'a Problem)> {
        let lines = Lines::of(&source.toml);
        self.iter().map(move |problem| {
            let at = problem.span.start;
            match attached(problem, source) {
                Some((_, text)) => (Lines::of(text).position(at), problem),
                None => (lines.position(at), problem),
            }
        })
    }

    /// The whole report, ending with the number of problems.
    #[must_use]
    pub fn render(&self, source: &Source) -> String {
        let lines = Lines::of(&source.toml);
        let mut report = String::new();
        for problem in self.iter().take(SHOWN_MAX) {
            match attached(problem, source) {
                Some((path, text)) => render(&mut report, problem, &Lines::of(text), path),
                None => render(&mut report, problem, &lines, &source.file),
            }
        }
        if self.len() > SHOWN_MAX {
            let _ = writeln!(report, "... and {} more\n", self.len() - SHOWN_MAX);
        }
        let _ = match self.len() {
            1 => writeln!(report, "1 problem"),
            count => writeln!(report, "{count} problems"),
        };
        report
    }
}

/// The file a problem stands in, where that is not the pipeline's own.
fn attached<'a>(problem: &'a Problem, source: &'a Source) -> Option<(&'a str, &'a str)> {
    let path = problem.file.as_deref()?;
    Some((path, source.files.get(path)?))
}

fn render(report: &mut String, problem: &Problem, lines: &Lines<'_>, file: &str) {
    let Position { line, column } = lines.position(problem.span.start);
    let gutter = line.to_string().len();
    let excerpt = Excerpt::of(lines.line(line - 1), column - 1, lines.width(&problem.span));
    let Excerpt { text, indent, width } = excerpt;
    let carets = "^".repeat(width);
    // Writing into a string cannot fail.
    let _ = writeln!(report, "error[{}]: {}", problem.code, problem.message);
    let _ = writeln!(report, "{:gutter$}--> {file}:{line}:{column}", "");
    let _ = writeln!(report, "{:gutter$} |", "");
    let _ = writeln!(report, "{line} | {text}");
    let _ = writeln!(report, "{:gutter$} | {:indent$}{carets}", "", "");
    if let Some(help) = &problem.help {
        let _ = writeln!(report, "{:gutter$} = help: {help}", "");
    }
    report.push('\n');
}

/// A line fit for a terminal: no tabs or control characters, and not wider than a screen or two.
struct Excerpt {
    text: String,
    indent: usize,
    width: usize,
}

impl Excerpt {
    fn of(line: &str, column: usize, width: usize) -> Self {
        let plain = |c: char| {
            if c == '\t' {
                ' '
            } else if c.is_control() {
                '\u{fffd}'
            } else {
                c
            }
        };
        let chars: Vec<char> = line.chars().map(plain).collect();
        if chars.len() <= WIDTH_MAX {
            return Excerpt { text: chars.iter().collect(), indent: column, width };
        }
        let from = column.saturating_sub(WIDTH_MAX / 4).min(chars.len() - 1);
        let to = (from + WIDTH_MAX).min(chars.len());
        let before = if from > 0 { "..." } else { "" };
        let after = if to < chars.len() { "..." } else { "" };
        let cut: String = chars[from..to].iter().collect();
        let indent = before.len() + column - from;
        let width = width.min((to + 1).saturating_sub(column).max(1));
        Excerpt { text: format!("{before}{cut}{after}"), indent, width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(toml: &str, span: Span) -> String {
        let mut problems = Problems::default();
        problems.push(
            Problem::new("unknown-state", span, "edge leads to `B`, which is no state").suggest(Some("A")),
        );
        problems.render(&Source::new("x.toml", toml))
    }

    #[test]
    fn caret_stands_under_the_span() {
        let report = render("name = \"x\"\nstärt = \"B\"\n", 20..23);
        let expected = "\
error[unknown-state]: edge leads to `B`, which is no state
 --> x.toml:2:9
  |
2 | stärt = \"B\"
  |         ^^^
  = help: did you mean `A`?

1 problem
";
        assert_eq!(report, expected);
    }

    #[test]
    fn spans_that_leave_the_file_do_no_harm() {
        let backwards = std::ops::Range { start: 5, end: 2 };
        for span in [0..0, 3..900, 900..901, backwards, 1..2] {
            assert!(render("ä\r\nb", span).contains('^'));
        }
        assert!(render("", 0..0).contains("x.toml:1:1"));
    }

    #[test]
    fn long_and_hostile_lines_are_tamed() {
        let line = format!("{}\u{1b}[2J{}", "a".repeat(50_000), "b".repeat(50_000));
        let report = render(&line, 50_000..90_000);
        assert!(report.len() < 1_000, "{}", report.len());
        assert!(!report.contains('\u{1b}'));
    }
}
