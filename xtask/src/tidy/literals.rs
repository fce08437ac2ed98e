//! The string literals of a Rust file: the text that people may come to read, without comments and names.

/// Returns each string literal with the line it begins on. Escapes stay as they are written, except that a line which
/// goes on after a backslash is one with the next.
pub(super) fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/', 'r']) {
        let (before, here) = rest.split_at(at);
        let joined = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let skipped = match here.as_bytes()[0] {
            b'/' => comment(here),
            b'\'' => character(here),
            b'r' if joined && !before.ends_with('b') => None,
            b'r' => raw(here).map(|(text, len)| {
                found.push((line_of(source, here), text.to_owned()));
                len
            }),
            _ => Some({
                let (text, len) = plain(here);
                found.push((line_of(source, here), joined_lines(text)));
                len
            }),
        };
        rest = &here[skipped.unwrap_or(1)..];
    }
    found
}

fn line_of(source: &str, rest: &str) -> usize {
    source[..source.len() - rest.len()].matches('\n').count() + 1
}

fn comment(here: &str) -> Option<usize> {
    if here.starts_with("//") {
        return Some(here.find('\n').unwrap_or(here.len()));
    }
    here.starts_with("/*").then(|| here.find("*/").map_or(here.len(), |end| end + 2))
}

/// Returns the length of a character literal; a lifetime is none.
fn character(here: &str) -> Option<usize> {
    let mut inside = here[1..].char_indices();
    match inside.next()?.1 {
        '\\' => here[3..].find('\'').map(|end| end + 4),
        first => (inside.next()?.1 == '\'').then_some(first.len_utf8() + 2),
    }
}

fn raw(here: &str) -> Option<(&str, usize)> {
    let hashes = here[1..].bytes().take_while(|byte| *byte == b'#').count();
    let text = here[1 + hashes..].strip_prefix('"')?;
    let end = text.find(&format!("\"{}", "#".repeat(hashes))).unwrap_or(text.len());
    Some((&text[..end], (hashes + 2 + end + 1 + hashes).min(here.len())))
}

fn plain(here: &str) -> (&str, usize) {
    let mut escaped = false;
    for (index, c) in here.char_indices().skip(1) {
        match c {
            '"' if !escaped => return (&here[1..index], index + 1),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    (&here[1..], here.len())
}

fn joined_lines(text: &str) -> String {
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, line| joined + line.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        literals(source).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn literals_are_found_with_their_lines() {
        assert_eq!(literals("a(\"one\");\nb(\"two\")"), [(1, "one".to_owned()), (2, "two".to_owned())]);
        assert_eq!(texts(r##"f(r"a\b", r#"c"d"#, br"e", b"f", "")"##), ["a\\b", "c\"d", "e", "f", ""]);
        assert_eq!(texts(r#"f("a \" b", "\\", "c")"#), ["a \\\" b", "\\\\", "c"]);
        assert_eq!(texts("f(\"one \\\n     two\")"), ["one two"]);
    }

    #[test]
    fn comments_characters_and_lifetimes_are_passed_over() {
        assert!(texts("// \"no\"\n/* \"no\" */").is_empty());
        assert_eq!(texts("f::<'a>('\"', '\\'', '\\u{22}', \"yes\")"), ["yes"]);
        assert_eq!(texts("fn f<'a>(x: &'a str) { bar(\"yes\") }"), ["yes"]);
        assert_eq!(texts("1 / 2; \"yes\""), ["yes"]);
    }
}
