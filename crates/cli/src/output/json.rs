//! JSON for people: only whitespace is added, so that no number is rounded and no key moves.

/// Indents JSON text, which must be well formed.
pub(crate) fn pretty(text: &str) -> String {
    let mut printer = Printer { out: String::with_capacity(text.len() * 2), depth: 0 };
    let mut chars = text.chars().filter(|c| !c.is_ascii_whitespace()).peekable();
    let mut quoted = text.chars();
    // Whitespace inside strings matters: walk the text itself, and use the other only to look ahead.
    while let Some(c) = quoted.next() {
        if c.is_ascii_whitespace() {
            continue;
        }
        chars.next();
        match c {
            '"' => {
                let length = printer.string(&mut quoted);
                (0..length).for_each(|_| {
                    chars.next();
                });
            }
            '{' | '[' => printer.open(c, chars.peek().copied()),
            '}' | ']' => printer.close(c),
            ',' => printer.next(),
            ':' => printer.out.push_str(": "),
            c => printer.out.push(c),
        }
    }
    printer.out
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    /// Copies a string up to its closing quote; gives the number of its characters that are no whitespace.
    fn string(&mut self, rest: &mut std::str::Chars<'_>) -> usize {
        let mut solid = 0;
        let mut escaped = false;
        self.out.push('"');
        for c in rest {
            self.out.push(c);
            solid += usize::from(!c.is_ascii_whitespace());
            if c == '"' && !escaped {
                break;
            }
            escaped = c == '\\' && !escaped;
        }
        solid
    }

    fn open(&mut self, bracket: char, next: Option<char>) {
        self.out.push(bracket);
        self.depth += 1;
        if !matches!(next, Some('}' | ']')) {
            self.line();
        }
    }

    fn close(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if !self.out.ends_with(['{', '[']) {
            self.line();
        }
        self.out.push(bracket);
    }

    fn next(&mut self) {
        self.out.push(',');
        self.line();
    }

    fn line(&mut self) {
        self.out.push('\n');
        (0..self.depth).for_each(|_| self.out.push_str("  "));
    }
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn text_is_indented_and_nothing_else() {
        let text =
            r#"{"a":[1,{"b":12345678901234567890.10}],"c":"x, \"y\": [ ] \\","d":{},"e":[],"f" : [ ]}"#;
        let expected = r#"{
  "a": [
    1,
    {
      "b": 12345678901234567890.10
    }
  ],
  "c": "x, \"y\": [ ] \\",
  "d": {},
  "e": [],
  "f": []
}"#;
        assert_eq!(pretty(text), expected);
        assert_eq!(pretty(expected), expected);
        assert_eq!(pretty("null"), "null");
    }

    #[test]
    fn closing_brackets_in_strings_close_nothing() {
        assert_eq!(pretty(r#"["["]"#), "[\n  \"[\"\n]");
        assert_eq!(pretty(r#"["{",[]]"#), "[\n  \"{\",\n  []\n]");
    }
}
