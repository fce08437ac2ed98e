//! Documents, as they are: no number is read, and none is rounded.

/// The characters of a document that a page shows; the file has all of them.
const SHOWN_MAX: usize = 40_000;

/// A document as a page shows it.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
    pub(crate) bytes: usize,
}

impl Raw {
    pub(crate) fn of(json: &wire::Json) -> Raw {
        let text = json.as_str();
        let indented = indented(text, SHOWN_MAX);
        Raw { is_cut: indented.is_cut, text: indented.text, bytes: text.len() }
    }
}

struct Indented {
    text: String,
    is_cut: bool,
}

/// Puts every member of a document on a line of its own. The text between stays as it was sent.
fn indented(json: &str, bytes_max: usize) -> Indented {
    let (mut out, mut depth, mut within, mut escaped) = (String::new(), 0_usize, false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if out.len() > bytes_max {
            return Indented { text: out, is_cut: true };
        }
        if within {
            out.push(c);
            within = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => {
                within = true;
                out.push(c);
            }
            '{' | '[' => {
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                out.push(c);
                if let Some(end) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    Indented { text: out, is_cut: false }
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(64)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_every_digit_and_letter() {
        let json = r#"{"n":123456789012345678901234567890.50,"e":{},"l":[1, 2],"t":"a,{\"b\":[\\"}"#;
        let shown = indented(json, 1_000).text;
        assert_eq!(
            shown,
            "{\n  \"n\": 123456789012345678901234567890.50,\n  \"e\": {},\n  \"l\": [\n    1,\n    2\n  ],\n  \"t\": \"a,{\\\"b\\\":[\\\\\"\n}"
        );
    }

    #[test]
    fn a_large_document_is_cut() {
        let json = format!("\"{}\"", "x".repeat(1_000_000));
        let shown = indented(&json, 100);
        assert!(shown.is_cut && shown.text.len() < 200);
    }
}
