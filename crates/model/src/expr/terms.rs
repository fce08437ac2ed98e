//! The terms of a condition: which of those that `&&` joins do not hold.

use super::eval::evaluate;
use super::fuel::Fuel;
use super::node::Node;
use super::{Expr, Scope};

impl Expr {
    /// Returns the sources of the terms that do not hold or cannot be evaluated; the whole condition where it is no plain
    /// chain of `&&`.
    #[must_use]
    pub fn unmet<'s>(&'s self, scope: &Scope<'_>) -> Vec<&'s str> {
        let (mut nodes, sources) = (Vec::new(), split(self.source()));
        flatten(&self.0.root, &mut nodes);
        let pairs: Vec<(&Node, &str)> = match nodes.len() == sources.len() {
            true => nodes.into_iter().zip(sources).collect(),
            false => vec![(&self.0.root, self.source().trim())],
        };
        let holds = |node| evaluate(node, scope, &mut Fuel::full(), |result, _| result.to_bool());
        pairs.into_iter().filter(|(node, _)| !holds(node).unwrap_or(false)).map(|(_, text)| text).collect()
    }
}

fn flatten<'n>(node: &'n Node, terms: &mut Vec<&'n Node>) {
    match node {
        Node::Logic { decisive: false, terms: both } => both.iter().for_each(|term| flatten(term, terms)),
        node => terms.push(node),
    }
}

/// Splits a source at each `&&` that is in neither brackets nor a string.
fn split(source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    let (mut parts, mut start, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            quote @ (b'\'' | b'"') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'&' if depth == 0 && bytes.get(at + 1) == Some(&b'&') => {
                parts.push(source[start..at].trim());
                at += 1;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(source[start.min(source.len())..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    #[test]
    fn only_the_terms_that_do_not_hold_are_named() {
        let cases = [
            ("n > 1 && s == 'a && b' && n < 9", vec!["n < 9"]),
            ("n < 9 && (s == 'x' || n == 3) && s == 'a && b'", vec!["n < 9", "(s == 'x' || n == 3)"]),
            ("n == 12", vec![]),
            ("n < 9", vec!["n < 9"]),
            ("n < 9 || n < 10 && n > 1", vec!["n < 9 || n < 10 && n > 1"]),
            ("n / 0 == 1 && n == 12", vec!["n / 0 == 1"]),
            ("n == 12 && (n < 9 && s == '')", vec!["n == 12 && (n < 9 && s == '')"]),
        ];
        let (number, text) = (Value::from(12_i64), Value::from("a && b"));
        let scope = Scope::new().with("n", &number).with("s", &text);
        for (source, unmet) in cases {
            let expr = Expr::compile(source, &["n", "s"]).expect("it compiles");
            assert_eq!(expr.unmet(&scope), unmet, "{source}");
        }
    }
}
