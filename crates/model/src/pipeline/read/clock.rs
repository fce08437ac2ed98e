//! Spans and points in time that may be written down or computed.

use super::Reader;
use super::edge::Way;
use super::expression::Scope;
use super::fields::{Fields, Place};
use crate::expr::Expr;
use crate::pipeline::file::{Entry, Node, Value};
use crate::pipeline::moves::By;
use crate::pipeline::{After, Clock, Stretch, Ttl};
use crate::time::Time;

impl Reader<'_> {
    /// `ttl = { after, to }`: a span and an edge in one table.
    pub(super) fn ttl(&mut self, entry: Option<&Entry>, scope: Scope) -> Option<Ttl> {
        let entry = entry?;
        let table = self.table(&entry.node)?;
        let mut fields = Fields::new(Place::Edge, table);
        let after = match fields.node("after") {
            Some(node) => self.after(node, scope),
            None => {
                self.missing(&entry.at, "`ttl` needs `after`: the time to live");
                None
            }
        };
        let way = Way::new(By::Ttl);
        let edge = self.edge_fields(&mut fields, &entry.node, &way);
        self.close(fields);
        Some(Ttl { after: after?, edge })
    }

    fn after(&mut self, node: &Node, scope: Scope) -> Option<After> {
        let text = self.text(node)?;
        if let Ok(span) = text.parse::<Stretch>() {
            if span.is_zero() {
                self.report("bad-span", &node.span, "the time to live must be longer than zero");
            }
            return Some(After::Fixed(span));
        }
        self.computed(node, text, scope).map(After::Computed)
    }

    pub(super) fn clock(&mut self, node: &Node) -> Option<Clock> {
        if let Value::Date(date) = &node.value {
            return self.point(node, &date.to_string());
        }
        let text = self.text(node)?;
        if let Ok(span) = text.parse::<Stretch>() {
            return Some(Clock::For(span));
        }
        if let Ok(time) = text.parse::<Time>() {
            return Some(Clock::Until(time));
        }
        self.computed(node, text, Scope::Move).map(Clock::Computed)
    }

    fn point(&mut self, node: &Node, text: &str) -> Option<Clock> {
        match text.parse::<Time>() {
            Ok(time) => Some(Clock::Until(time)),
            Err(error) => {
                self.report("bad-span", &node.span, error.to_string());
                None
            }
        }
    }

    /// An expression, unless it was surely meant as a literal: then what is wrong with the literal is the better news.
    fn computed(&mut self, node: &Node, text: &str, scope: Scope) -> Option<Expr> {
        let meant_as_literal = text.starts_with(|c: char| c.is_ascii_digit());
        if meant_as_literal && Expr::compile(text, scope.names()).is_err() {
            let error = text.parse::<Stretch>().err().unwrap_or_default();
            self.report("bad-span", &node.span, error);
            return None;
        }
        Some(self.compile(text, node, scope))
    }
}
