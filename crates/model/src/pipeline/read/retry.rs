//! `retry`: a general rule, and rules for single error codes that inherit from it what they do not say.

use super::Reader;
use super::fields::{Fields, Place};
use super::name::Spelling;
use crate::pipeline::file::{Node, Value};
use crate::pipeline::problem::quote;
use crate::pipeline::{Backoff, Every, Retry, RetryRule, Times};

const BACKOFFS: [(&str, Backoff); 3] =
    [("constant", Backoff::Constant), ("linear", Backoff::Linear), ("exponential", Backoff::Exponential)];

impl Reader<'_> {
    pub(super) fn retry(&mut self, node: Option<&Node>) -> Retry {
        let Some(node) = node else { return Retry::default() };
        let Some(table) = self.table(node) else { return Retry::default() };
        let mut fields = Fields::new(Place::Inner, table);
        let rule = self.retry_rule(&mut fields, &RetryRule::default());
        let codes = fields.node("on");
        if !table.has("times") && codes.is_none() {
            self.missing(
                &node.span,
                "`retry` needs `times`: how often to try again, a number or \"forever\"",
            );
        }
        let mut retry = Retry { rule, on: Default::default() };
        for entry in self.map(codes, "error codes") {
            let code = self.spelled(&entry.key, &entry.at, Spelling::Free);
            let Some(table) = self.table(&entry.node) else { continue };
            let mut fields = Fields::new(Place::Inner, table);
            let rule = self.retry_rule(&mut fields, &retry.rule);
            self.close(fields);
            retry.on.insert(code, rule);
        }
        self.close(fields);
        retry
    }

    fn retry_rule(&mut self, fields: &mut Fields<'_>, base: &RetryRule) -> RetryRule {
        let mut rule = base.clone();
        if let Some(times) = fields.node("times").and_then(|node| self.times(node)) {
            rule.times = times;
        }
        if let Some(delay) = fields.node("delay").and_then(|node| self.delay(node)) {
            // A list says every delay itself: an inherited growth must not change it.
            if matches!(delay, Every::Each(_)) {
                rule.backoff = Backoff::Constant;
            }
            rule.delay = delay;
        }
        if let Some(entry) = fields.take("backoff") {
            if let Some(backoff) = self.word(&entry.node, &BACKOFFS) {
                rule.backoff = backoff;
            }
            if matches!(rule.delay, Every::Each(_)) {
                self.report(
                    "key-not-here",
                    &entry.at,
                    "`backoff` needs one `delay`; a list says each of them",
                );
            }
        }
        if let Some(max) = fields.node("max").and_then(|node| self.positive_span(node)) {
            rule.max = Some(max);
        }
        if let Some(jitter) = fields.node("jitter").and_then(|node| self.jitter(node)) {
            rule.jitter = jitter;
        }
        rule
    }

    fn times(&mut self, node: &Node) -> Option<Times> {
        match &node.value {
            Value::Integer(_) => self.count(node, 0).map(Times::AtMost),
            Value::Text(text) if text == "forever" => Some(Times::Forever),
            Value::Text(text) => {
                let message = format!("{} is neither a number nor \"forever\"", quote(text));
                self.report("bad-value", &node.span, message);
                None
            }
            _ => {
                self.wrong_type(node, "a number or \"forever\"");
                None
            }
        }
    }

    fn delay(&mut self, node: &Node) -> Option<Every> {
        let Value::List(nodes) = &node.value else { return self.span(node).map(Every::Same) };
        if nodes.is_empty() {
            self.report("bad-value", &node.span, "the list of delays is empty");
            return None;
        }
        self.bound("delays", nodes.len(), super::ENTRIES_MAX, &node.span);
        let delays = nodes.iter().take(super::ENTRIES_MAX).map(|node| self.span(node));
        delays.collect::<Option<Vec<_>>>().map(Every::Each)
    }

    fn jitter(&mut self, node: &Node) -> Option<f64> {
        let share = match &node.value {
            Value::Float(text) => text.parse::<f64>().ok(),
            Value::Integer(0) => Some(0.0),
            Value::Integer(1) => Some(1.0),
            Value::Integer(_) => None,
            _ => {
                self.wrong_type(node, "a number");
                return None;
            }
        };
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        if share.is_none() {
            self.report("bad-value", &node.span, "the jitter is a share of the delay: from 0.0 to 1.0");
        }
        share
    }
}
