//! Text in a drawing: how wide it is, where it breaks, and how it stays text.

use wire::text::is_invisible;

/// Size and weight of a line of text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) bold: bool,
}

impl Font {
    /// Returns the width of a line at most, whatever sans-serif font the reader has: the widest common one is assumed.
    pub(super) fn width(self, text: &str) -> f64 {
        let ems: f64 = text.chars().map(ems).sum();
        ems * self.size * if self.bold { 1.1 } else { 1.0 }
    }

    /// The text within a width, cut with an ellipsis.
    pub(super) fn cut(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut cut = String::new();
        for c in text.chars() {
            cut.push(c);
            if self.width(&cut) + self.width("…") > width {
                cut.pop();
                break;
            }
        }
        format!("{}…", cut.trim_end())
    }

    /// The text in lines of at most this width and about the same length; what does not fit into so many is cut.
    pub(super) fn wrap(self, text: &str, width: f64, lines_max: usize) -> Vec<String> {
        let widest = self.fill(text, width, lines_max);
        let mut best = widest.clone();
        let mut narrower = width * 0.95;
        while best.len() > 1 && narrower > width * 0.4 {
            let lines = self.fill(text, narrower, lines_max);
            let same =
                |a: &[String], b: &[String]| a.concat().replace(' ', "") == b.concat().replace(' ', "");
            if lines.len() != best.len() || !same(&lines, &widest) {
                break;
            }
            (best, narrower) = (lines, narrower * 0.95);
        }
        best
    }

    fn fill(self, text: &str, width: f64, lines_max: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for (index, piece) in pieces(text).enumerate() {
            let longer = format!("{line}{piece}");
            if index > 0 && self.width(longer.trim_end()) > width {
                lines.push(std::mem::replace(&mut line, piece.to_owned()));
            } else {
                line = longer;
            }
        }
        lines.push(line);
        let rest =
            if lines.len() > lines_max { lines.split_off(lines_max - 1).concat() } else { String::new() };
        if !rest.is_empty() {
            lines.push(rest);
        }
        lines.iter().map(|line| self.cut(line.trim(), width)).collect()
    }
}

/// The parts of a text between which a line may end: after blanks and the marks that join words in names.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '_', '-', '.', '/'])
}

fn ems(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 0.29,
        ' ' | '.' | ',' | ':' | ';' | '!' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '·' | '/' | 'I' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.98,
        '_' => 0.5,
        'A'..='Z' => 0.71,
        '→' | '×' | '+' | '<' | '>' | '=' => 0.84,
        c if c.is_ascii() => 0.61,
        // Scripts whose letters fill a square begin about here.
        c if c >= '\u{1100}' => 1.05,
        _ => 0.7,
    }
}

/// Text that is text in XML, within an element or a quoted attribute. What XML forbids or no reader can see is left out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || is_invisible(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// One line, whatever was written: line breaks and runs of blanks become one blank.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: Font = Font { size: 10.0, bold: false };

    #[test]
    fn text_is_wrapped_between_words_and_cut_at_the_end() {
        assert_eq!(FONT.wrap("one two three", 45.0, 3), ["one two", "three"]);
        assert_eq!(FONT.wrap("FIRST_STATE_NAME", 90.0, 2), ["FIRST_", "STATE_NAME"]);
        let cut = FONT.wrap("one two three four five six seven", 45.0, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut[1].ends_with('…') && FONT.width(&cut[1]) <= 45.0, "{cut:?}");
        assert_eq!(FONT.wrap("", 45.0, 2), [""]);
    }

    #[test]
    fn a_word_without_breaks_is_cut() {
        let lines = FONT.wrap(&"x".repeat(300), 80.0, 2);
        assert!(lines.iter().all(|line| FONT.width(line) <= 80.0), "{lines:?}");
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escape("<a b='c'>\"&\u{0}\u{1b}\u{202e}"), "&lt;a b=&#39;c&#39;&gt;&quot;&amp;");
    }
}
