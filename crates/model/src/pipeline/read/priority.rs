//! Priorities: a number, an expression, or a table that also says who may set one; and how they age.

use super::Reader;
use super::expression::Scope;
use super::fields::{Fields, Place};
use crate::admit::PRIORITY_MAX;
use crate::expr::Expr;
use crate::pipeline::file::{Entry, Node, Value};
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::{Ageing, Priority};
use crate::role::Role;
use crate::time::Millis;

/// A longer step could not be told from none.
const STEP_MAX: Millis = Millis::from_secs(366 * 24 * 3600);

impl Reader<'_> {
    pub(super) fn priority(&mut self, entry: &Entry) -> Option<Priority> {
        let Value::Table(table) = &entry.node.value else {
            return Some(Priority { value: Some(self.priority_value(&entry.node)?), set_by: Vec::new() });
        };
        let mut fields = Fields::new(Place::Inner, table);
        let value = fields.node("value").and_then(|node| self.priority_value(node));
        let set_by = fields.node("set_by").map(|node| self.setters(node)).unwrap_or_default();
        self.close(fields);
        Some(Priority { value, set_by })
    }

    /// A number, or an expression that gives one on every move.
    fn priority_value(&mut self, node: &Node) -> Option<Expr> {
        match &node.value {
            Value::Integer(number) => {
                if number.unsigned_abs() > PRIORITY_MAX.unsigned_abs() {
                    let message = format!("the priority must be between -{PRIORITY_MAX} and {PRIORITY_MAX}");
                    self.report("bad-value", &node.span, message);
                }
                Some(self.compile(&number.to_string(), node, Scope::Priority))
            }
            Value::Text(text) => Some(self.compile(text, node, Scope::Priority)),
            _ => {
                self.wrong_type(node, "a whole number or an expression");
                None
            }
        }
    }

    /// One role or a list of them.
    fn setters(&mut self, node: &Node) -> Vec<Role> {
        let members = node.one_or_many();
        self.bound("roles", members.len(), Role::ALL.len(), &node.span);
        members.iter().take(Role::ALL.len()).filter_map(|member| self.role(member)).collect()
    }

    pub(super) fn ageing(&mut self, node: &Node) -> Option<Ageing> {
        let text = self.text(node)?;
        if text == "never" {
            return Some(Ageing::Never);
        }
        match text.parse::<Millis>() {
            Ok(span) if !span.is_zero() && span <= STEP_MAX => Some(Ageing::Every(span)),
            Ok(_) => {
                let message = format!("a step of priority is worth a span of up to {STEP_MAX}, not {text}");
                let problem = Problem::new("bad-span", node.span.clone(), message);
                let help = "write \"never\" where no waiting makes up for a better priority";
                self.problems.push(problem.help(help));
                None
            }
            Err(_) => {
                let message = format!("{} is neither `never` nor a span such as `10m`", quote(text));
                let near = self.near(text, ["never"]);
                self.problems.push(Problem::new("bad-span", node.span.clone(), message).suggest(near));
                None
            }
        }
    }
}
