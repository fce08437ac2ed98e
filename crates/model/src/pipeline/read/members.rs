//! Checks what expressions name inside `params`, `labels` and `outputs`: all of it is declared in the file, so a typo
//! need not wait for a submission to meet it.

use super::Reader;
use super::expression::Written;
use crate::pipeline::problem::{Problem, Span, quote};

impl Reader<'_> {
    pub(super) fn members(&mut self, text: &str, written: &Written<'_>) {
        for (owner, member, span) in members_of(text) {
            let (code, what, known) = match owner {
                "params" => ("unknown-parameter", "parameter", &self.known.params),
                "labels" => ("unknown-label", "label", &self.known.labels),
                "outputs" => ("unknown-state", "state", &self.known.states),
                _ => continue,
            };
            if !known.iter().any(|known| known == member) {
                let near = self.near(member, known.iter().map(String::as_str));
                let span = written.part(&span, &self.source.toml);
                let message = format!("there is no {what} {}", quote(member));
                self.problems.push(Problem::new(code, span, message).suggest(near).within(written.file()));
            }
        }
    }
}

/// A name and the members that are asked of it, one inside the other.
type Path<'t> = Vec<&'t str>;

/// Every name of an expression with the members asked of it, and the place of the last of them.
pub(in crate::pipeline) fn paths_of(text: &str) -> Vec<(Path<'_>, Span)> {
    let tokens = tokens(text);
    let mut paths: Vec<(Path<'_>, Span)> = Vec::new();
    let mut goes_on = false;
    for (index, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else {
            goes_on &= *token == Token::Dot;
            continue;
        };
        let follows_dot = index > 0 && tokens[index - 1] == Token::Dot;
        match paths.last_mut().filter(|_| follows_dot && goes_on) {
            Some((path, last)) => {
                path.push(&text[word.clone()]);
                *last = word.clone();
            }
            // A member of what is no name, such as the answer of a function.
            None if follows_dot => {}
            None => {
                paths.push((vec![&text[word.clone()]], word.clone()));
                goes_on = true;
            }
        }
    }
    paths
}

/// Every `owner.member` of an expression whose owner is itself no member.
fn members_of(text: &str) -> Vec<(&str, &str, Span)> {
    let tokens = tokens(text);
    let mut members = Vec::new();
    for (index, tokens_from) in tokens.windows(3).enumerate() {
        let [Token::Word(owner), Token::Dot, Token::Word(member)] = tokens_from else { continue };
        if index == 0 || tokens[index - 1] != Token::Dot {
            members.push((&text[owner.clone()], &text[member.clone()], member.clone()));
        }
    }
    members
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(Span),
    Dot,
    /// A string, a number, an operator: what names nothing.
    Other,
}

fn tokens(text: &str) -> Vec<Token> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = match c {
            '\'' | '"' => string_len(rest, text[..at].ends_with(['r', 'R'])),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        match c {
            '.' => tokens.push(Token::Dot),
            c if is_word(c) && !c.is_ascii_digit() => tokens.push(Token::Word(at..at + len)),
            c if c.is_whitespace() => {}
            _ => tokens.push(Token::Other),
        }
        at += len;
    }
    tokens
}

/// The bytes of the string literal that `text` begins with, quotes included.
fn string_len(text: &str, is_raw: bool) -> usize {
    let triple = ["\"\"\"", "'''"].into_iter().find(|quote| text.starts_with(quote));
    let quote = triple.unwrap_or(&text[..1]);
    let mut at = quote.len();
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with(quote) {
            return at + quote.len();
        }
        at += c.len_utf8();
        if c == '\\' && !is_raw {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Vec<String> {
        members_of(text).into_iter().map(|(owner, member, _)| format!("{owner}.{member}")).collect()
    }

    #[test]
    fn members_are_found_wherever_they_stand() {
        assert_eq!(
            members("labels.owner in params.trusted && outputs.A.x > 1"),
            ["labels.owner", "params.trusted", "outputs.A"]
        );
        assert_eq!(members("params . limit[payload.chain]"), ["params.limit", "payload.chain"]);
    }

    #[test]
    fn paths_go_as_far_as_members_are_named() {
        let paths = |text: &str| -> Vec<String> {
            paths_of(text).into_iter().map(|(path, _)| path.join(".")).collect()
        };
        assert_eq!(
            paths("has(event.metadata.x) ? event . to : 'event.y'"),
            ["has", "event.metadata.x", "event.to"]
        );
        assert_eq!(paths("size(output).error + output[0].error.code"), ["size", "output", "output"]);
        assert_eq!(paths_of("1 + event.metadata.x").pop().map(|(_, span)| span), Some(19..20));
    }

    #[test]
    fn what_only_looks_like_a_member_is_not() {
        assert_eq!(members("payload.params.x == f(payload).params.y"), ["payload.params"]);
        assert_eq!(
            members(r#"'params.x' + "params.y" + r'\' + '\'params.z' + '''params.a'''"#),
            Vec::<String>::new()
        );
        assert_eq!(members("1.5 + 2.params"), Vec::<String>::new());
        assert_eq!(members("'ünclosed params.x"), Vec::<String>::new());
    }
}
