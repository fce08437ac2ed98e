//! Expressions, and what each may see where it stands.

use super::{Reader, hints};
use crate::decide::NAMES;
use crate::expr::Expr;
use crate::pipeline::file::Node;
use crate::pipeline::problem::{Problem, Span, quote};

/// The moment at which an expression is evaluated: that decides what there is to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Labels come first of all.
    Labels,
    /// At the door: key, lane, the pipeline's ttl, what `start` writes down.
    Door,
    /// At the door, for the way in.
    Start,
    /// On a move of a submission that is there.
    Move,
    /// On a move, for its place in the queue.
    Priority,
    /// With a worker's answer.
    Outcome,
    /// With what somebody sent along with an action.
    Act,
    /// After an action's task: with both.
    ActDone,
    /// In a message about a move that was made.
    Message,
}

impl Scope {
    pub(super) fn names(self) -> &'static [&'static str] {
        macro_rules! on_a_move {
            ($($more:literal),*) => {
                &["payload", "params", "labels", "outputs", "attempt", "held", "failed_from", "last_good", "requeues",
                  "children", "error", "from", $($more),*]
            };
        }
        match self {
            Scope::Labels => &["payload", "params"],
            Scope::Door => &["payload", "params", "labels"],
            Scope::Start => &["payload", "params", "labels", "door"],
            Scope::Move => on_a_move!(),
            Scope::Priority => on_a_move!("given"),
            Scope::Outcome => on_a_move!("output"),
            Scope::Act => on_a_move!("data"),
            Scope::ActDone => on_a_move!("output", "data"),
            Scope::Message => on_a_move!("output", "data", "event", "submission"),
        }
    }

    fn at_the_door(self) -> bool {
        matches!(self, Scope::Labels | Scope::Door | Scope::Start)
    }
}

/// The place where an expression is written.
pub(super) enum Written<'a> {
    /// In the pipeline file.
    Here(&'a Node),
    /// In a file it names, from this byte on.
    There { file: &'a str, start: usize },
}

impl Written<'_> {
    pub(super) fn part(&self, part: &Span, toml: &str) -> Span {
        match self {
            Written::Here(node) => node.part(part, toml),
            Written::There { start, .. } => start + part.start..start + part.end,
        }
    }

    pub(super) fn file(&self) -> Option<&str> {
        match self {
            Written::Here(_) => None,
            Written::There { file, .. } => Some(file),
        }
    }
}

impl Reader<'_> {
    /// `None` only for what is no text; an expression that does not compile is replaced by one that does.
    pub(super) fn expression(&mut self, node: &Node, scope: Scope) -> Option<Expr> {
        let text = self.text(node)?;
        Some(self.compile(text, node, scope))
    }

    /// Compiles text that stands at `node`.
    pub(super) fn compile(&mut self, text: &str, node: &Node, scope: Scope) -> Expr {
        let place = (node.span.start, scope);
        if let Some(expression) = self.compiled.get(&place) {
            return expression.clone();
        }
        let expression = self.compile_at(text, scope, &Written::Here(node));
        self.compiled.insert(place, expression.clone());
        expression
    }

    pub(super) fn compile_at(&mut self, text: &str, scope: Scope, written: &Written<'_>) -> Expr {
        let toml = &self.source.toml;
        let expression = Expr::compile(text, scope.names()).unwrap_or_else(|faults| {
            let only_misplaced = Expr::compile(text, NAMES).is_ok();
            for fault in faults {
                let span = written.part(&fault.span, toml);
                let at = text.get(fault.span).unwrap_or_default();
                let problem = match only_misplaced {
                    true => misplaced(at, span),
                    false => wrong(&fault.message, span, text, at),
                };
                self.problems.push(problem.within(written.file()));
            }
            harmless()
        });
        self.members(text, written);
        if !scope.at_the_door() {
            self.reads.payload |= expression.reads("payload");
            self.reads.outputs |= expression.reads("outputs");
        }
        expression
    }
}

/// A fault as the compiler tells it; a suggestion stands where those of all other problems do.
fn wrong(message: &str, span: Span, text: &str, at: &str) -> Problem {
    if let Some((message, meant)) = message.split_once("; did you mean ") {
        return Problem::new("bad-expression", span, message).help(format!("did you mean {meant}"));
    }
    let problem = Problem::new("bad-expression", span, message);
    match hints::meant(text, at) {
        Some(hint) => problem.help(hint),
        // The commonest of all: a field of the payload, without saying so.
        None if message.starts_with("unknown name") => problem.help(format!("did you mean `payload.{at}`?")),
        None => problem,
    }
}

/// A name that exists, but not where it is used.
fn misplaced(name: &str, span: Span) -> Problem {
    let help = match name {
        "output" => {
            "only edges of an outcome, metadata of an action with a task, and templates of notifications see `output`"
        }
        "data" => "only edges of actions and templates of notifications see `data`",
        "event" | "submission" => "only templates of notifications see `event` and `submission`",
        "given" => "only `priority` sees `given`, the priority that was set with the submission",
        "door" => "only guards of `start` see `door`",
        "labels" => "labels are made from `payload` and `params`",
        _ => "before a submission is there, expressions see `payload`, `params` and `labels`",
    };
    Problem::new("bad-expression", span, format!("{} is not known here", quote(name))).help(help)
}

/// Stands in for what does not compile, so that a guarded edge stays a guarded edge.
fn harmless() -> Expr {
    Expr::compile("true", &[]).expect("`true` is an expression")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scopes_offer_exactly_what_decisions_know() {
        let scopes = [
            Scope::Labels,
            Scope::Door,
            Scope::Start,
            Scope::Move,
            Scope::Priority,
            Scope::Outcome,
            Scope::Act,
            Scope::ActDone,
            Scope::Message,
        ];
        let offered: BTreeSet<&str> = scopes.into_iter().flat_map(Scope::names).copied().collect();
        assert_eq!(offered, NAMES.iter().copied().collect());
    }
}
