//! Plain values: text, flags, numbers, words out of a list, spans of time, JSON.

use std::rc::Rc;

use super::Reader;
use super::fields::listed;
use super::name::Spelling;
use crate::Name;
use crate::actor::ActorKind;
use crate::json::{Number, Value as Json};
use crate::pipeline::file::{Node, Value};
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::source::path_fault;
use crate::role::Role;
use crate::schema::Schema;
use crate::time::Millis;

/// Attachments have the bound of the file itself.
pub(in crate::pipeline) const FILE_BYTES_MAX: usize = 256 * 1024;

impl Reader<'_> {
    pub(super) fn text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        let text = node.as_text();
        if text.is_none() {
            self.wrong_type(node, "a string");
        }
        text
    }

    /// Text for people: a title, a phase.
    pub(super) fn short_text<'n>(&mut self, node: &'n Node, chars_max: usize) -> Option<&'n str> {
        let text = self.text(node)?;
        if text.trim().is_empty() {
            self.report("bad-value", &node.span, "the text is empty");
        } else if text.chars().count() > chars_max {
            self.report("too-large", &node.span, format!("the text is longer than {chars_max} characters"));
        }
        Some(text)
    }

    pub(super) fn flag(&mut self, node: &Node) -> Option<bool> {
        match node.value {
            Value::Bool(flag) => Some(flag),
            _ => {
                self.wrong_type(node, "true or false");
                None
            }
        }
    }

    /// A whole number from `least` on.
    pub(super) fn count(&mut self, node: &Node, least: u32) -> Option<u32> {
        let Value::Integer(integer) = node.value else {
            self.wrong_type(node, "a whole number");
            return None;
        };
        let count = u32::try_from(integer).ok().filter(|count| *count >= least);
        if count.is_none() {
            self.report(
                "bad-value",
                &node.span,
                format!("the number must be {least} or more, and below 2^32"),
            );
        }
        count
    }

    /// One of the words a key takes.
    pub(super) fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(node)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("{} is none of {}", quote(text), listed(&names));
            let near = self.near(text, names.iter().copied());
            self.problems.push(Problem::new("bad-value", node.span.clone(), message).suggest(near));
        }
        found
    }

    pub(super) fn role(&mut self, node: &Node) -> Option<Role> {
        self.word(node, &Role::ALL.map(|role| (role.as_str(), role)))
    }

    pub(super) fn actor(&mut self, node: &Node) -> Option<ActorKind> {
        self.word(node, &ActorKind::ALL.map(|kind| (kind.as_str(), kind)))
    }

    pub(super) fn span(&mut self, node: &Node) -> Option<Millis> {
        let text = self.text(node)?;
        match text.parse::<Millis>() {
            Ok(span) => Some(span),
            Err(error) => {
                self.report("bad-span", &node.span, error.to_string());
                None
            }
        }
    }

    /// A span in which something must be able to happen.
    pub(super) fn positive_span(&mut self, node: &Node) -> Option<Millis> {
        let span = self.span(node)?;
        if span.is_zero() {
            self.report("bad-span", &node.span, "the span must be longer than zero");
        }
        Some(span)
    }

    /// One name or a list of them, each declared somewhere.
    pub(super) fn references(
        &mut self,
        node: &Node,
        code: &'static str,
        what: &str,
        known: &[String],
    ) -> Vec<Name> {
        let members = node.one_or_many();
        self.bound("names", members.len(), super::ENTRIES_MAX, &node.span);
        let mut names: Vec<Name> = Vec::new();
        for member in members.iter().take(super::ENTRIES_MAX) {
            let Some(text) = self.text(member) else { continue };
            if !known.iter().any(|known| known == text) {
                let near = self.near(text, known.iter().map(String::as_str));
                let problem =
                    Problem::new(code, member.span.clone(), format!("there is no {what} {}", quote(text)));
                self.problems.push(problem.suggest(near));
            } else if names.iter().any(|name| &**name == text) {
                self.report("duplicate", &member.span, format!("{} is listed twice", quote(text)));
            } else {
                names.push(text.into());
            }
        }
        names
    }

    pub(super) fn notifications(&mut self, node: Option<&Node>) -> Vec<Name> {
        let Some(node) = node else { return Vec::new() };
        let known = Rc::clone(&self.known);
        self.references(node, "unknown-notification", "notification", &known.notifications)
    }

    pub(super) fn states(&mut self, node: Option<&Node>) -> Vec<Name> {
        let Some(node) = node else { return Vec::new() };
        let known = Rc::clone(&self.known);
        self.references(node, "unknown-state", "state", &known.states)
    }

    /// Any value, as JSON. Dates become strings.
    pub(super) fn json(&mut self, node: &Node) -> Json {
        match &node.value {
            Value::Text(text) => text.as_str().into(),
            Value::Integer(integer) => (*integer).into(),
            Value::Bool(flag) => (*flag).into(),
            Value::Date(date) => date.to_string().into(),
            Value::List(nodes) => nodes.iter().map(|node| self.json(node)).collect(),
            Value::Table(table) => {
                table.iter().map(|entry| (entry.key.clone(), self.json(&entry.node))).collect()
            }
            Value::Float(text) => match Number::parse(text.trim_start_matches('+')) {
                Ok(number) => number.into(),
                Err(_) => {
                    self.report("bad-value", &node.span, "JSON has no such number");
                    Json::Null
                }
            },
        }
    }

    /// The text of a file that is named here.
    pub(super) fn attachment(&mut self, node: &Node) -> Option<(String, String)> {
        let path = self.text(node)?;
        if let Some(fault) = path_fault(path) {
            self.report("bad-path", &node.span, fault);
            return None;
        }
        let Some(text) = self.source.files.get(path) else {
            let message = format!("the file {} was not found next to the pipeline file", quote(path));
            self.report("missing-file", &node.span, message);
            return None;
        };
        if text.len() > FILE_BYTES_MAX {
            self.report("too-large", &node.span, format!("the file {} is larger than 256 KB", quote(path)));
            return None;
        }
        Some((path.to_owned(), text.clone()))
    }

    pub(super) fn schema(&mut self, node: &Node) -> Option<Schema> {
        let (path, text) = self.attachment(node)?;
        match Schema::compile(&text) {
            Ok(schema) => Some(schema),
            Err(error) => {
                self.report("bad-schema", &node.span, format!("{} cannot be used: {error}", quote(&path)));
                None
            }
        }
    }

    /// Names with expressions: metadata, labels.
    pub(super) fn named_expressions(
        &mut self,
        node: Option<&Node>,
        spelling: Spelling,
        scope: super::Scope,
    ) -> Vec<(Name, crate::expr::Expr)> {
        let mut named = Vec::new();
        for entry in self.map(node, "entries") {
            let name = self.spelled(&entry.key, &entry.at, spelling);
            if let Some(expression) = self.expression(&entry.node, scope) {
                named.push((name, expression));
            }
        }
        named
    }
}
