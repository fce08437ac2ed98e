//! Values an expression can give, as far as its pipeline alone tells.

use super::eval::evaluate;
use super::fuel::Fuel;
use super::node::{Comparison, Node};
use super::{Expr, Out, Scope};
use crate::json::Value;

impl Expr {
    /// Lists every value an expression can give, where parameters decide what they are and labels no more than which of them. `None` where
    /// anything else decides, or where one of them cannot be computed: then it may fail.
    #[must_use]
    pub fn values(&self, params: &Value, labels: &[&str]) -> Option<Vec<Out>> {
        let reads_more = self.0.reads.iter().any(|read| read != "params" && read != "labels");
        let known = Known { scope: Scope::new().with("params", params), labels };
        if reads_more { None } else { known.values(&self.0.root) }
    }
}

struct Known<'a> {
    scope: Scope<'a>,
    labels: &'a [&'a str],
}

impl Known<'_> {
    fn values(&self, node: &Node) -> Option<Vec<Out>> {
        match (self.value(node), node) {
            (Some(value), _) => Some(vec![value]),
            (None, Node::If(parts)) => {
                let [condition, then, otherwise] = &**parts;
                let values = [self.values(then)?, self.values(otherwise)?].concat();
                self.is_truth(condition).then_some(values)
            }
            (None, _) => None,
        }
    }

    /// The one value a node gives whatever the labels are.
    fn value(&self, node: &Node) -> Option<Out> {
        evaluate(node, &self.scope, &mut Fuel::full(), |value, fuel| value.to_out(fuel)).ok()
    }

    /// Tells whether a condition is true or false for certain, though not which of them.
    fn is_truth(&self, node: &Node) -> bool {
        match node {
            // Values of different kinds are unequal, which is no error.
            Node::Compare(Comparison::Equal | Comparison::NotEqual, terms) => {
                terms.iter().all(|term| self.is_label(term) || self.value(term).is_some())
            }
            Node::Not(term) => self.is_truth(term),
            Node::Logic { terms, .. } => terms.iter().all(|term| self.is_truth(term)),
            _ => matches!(self.value(node), Some(Out::Json(Value::Bool(_)))),
        }
    }

    /// Tells whether a node is a label of the pipeline: every submission has all of them, and each is a text.
    fn is_label(&self, node: &Node) -> bool {
        match node {
            Node::Select(of, name) => {
                matches!(&**of, Node::Name(of) if &**of == "labels") && self.labels.contains(&&**name)
            }
            _ => false,
        }
    }
}
