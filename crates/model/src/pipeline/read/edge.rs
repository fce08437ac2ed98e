//! Edges: a state's name, a table, or a list of these, everywhere.

use std::rc::Rc;

use super::expression::Scope;
use super::fields::{Fields, Place};
use super::name::Spelling;
use super::task::TaskRules;
use super::{EDGES_MAX, EDGES_TOTAL_MAX, Reader};
use crate::Name;
use crate::pipeline::file::{Entry, Node, Value};
use crate::pipeline::moves::By;
use crate::pipeline::nearest::typo;
use crate::pipeline::problem::{Problem, Span, quote};
use crate::pipeline::{Choice, Edge, EdgeError};
use crate::submission::Failure;

/// The cause that makes a submission take an edge, and with it what the edge may say and see.
#[derive(Debug)]
pub(super) struct Way<'a> {
    pub(super) by: By,
    /// The rules of the state for tasks that its actions run.
    rules: Option<&'a TaskRules>,
}

impl<'a> Way<'a> {
    pub(super) fn new(by: By) -> Self {
        Way { by, rules: None }
    }

    pub(super) fn action(name: Name, rules: &'a TaskRules) -> Self {
        Way { by: By::Action(name), rules: Some(rules) }
    }

    fn is_action(&self) -> bool {
        matches!(self.by, By::Action(_))
    }

    /// Somebody asks for the move: their role and reason can be asked for too.
    fn has_person(&self) -> bool {
        matches!(self.by, By::Start | By::Action(_))
    }

    fn scope(&self) -> Scope {
        match self.by {
            By::Start => Scope::Door,
            By::Outcome(_) => Scope::Outcome,
            By::Action(_) => Scope::Act,
            By::Pass
            | By::Clock
            | By::Error
            | By::Crashed
            | By::GuardError
            | By::Children(_)
            | By::ParentCancelled
            | By::Ttl
            | By::Late => Scope::Move,
        }
    }
}

impl Reader<'_> {
    pub(super) fn edges(&mut self, entry: &Entry, way: &Way<'_>) -> Vec<Edge> {
        let nodes = entry.node.one_or_many();
        if nodes.is_empty() {
            self.report("no-edges", &entry.at, format!("{} has no edges", quote(&entry.key)));
        }
        self.bound("edges", nodes.len(), EDGES_MAX, &entry.at);
        let edges: Vec<Edge> = nodes.iter().take(EDGES_MAX).filter_map(|node| self.edge(node, way)).collect();
        self.lost_edges |= edges.is_empty() || edges.len() < nodes.len();
        edges
    }

    fn edge(&mut self, node: &Node, way: &Way<'_>) -> Option<Edge> {
        self.edges += 1;
        if self.edges > EDGES_TOTAL_MAX {
            let message = format!("the states have more than {EDGES_TOTAL_MAX} edges together");
            self.report("too-many", &(0..0), message);
            return None;
        }
        match &node.value {
            Value::Text(text) => {
                let to = self.target(text, &node.span);
                Some(plain(Some(Choice::One(to)), &way.by, node))
            }
            Value::Table(table) => {
                let mut fields = Fields::new(Place::Edge, table);
                let edge = self.edge_fields(&mut fields, node, way);
                self.misplaced(&mut fields, way);
                self.close(fields);
                Some(edge)
            }
            _ => {
                self.wrong_type(node, "a state's name, a table, or a list of these");
                None
            }
        }
    }

    pub(super) fn edge_fields(&mut self, fields: &mut Fields<'_>, node: &Node, way: &Way<'_>) -> Edge {
        let to = self.to(fields, node, way);
        self.lost_edges |= to.is_none() && !way.by.may_lead_nowhere();
        let mut edge = plain(to, &way.by, node);
        // A time is over or it is not: there is nothing to choose from.
        if !matches!(way.by, By::Ttl | By::Late) {
            let scope = if way.by == By::Start { Scope::Start } else { way.scope() };
            edge.when = fields.node("when").and_then(|node| self.expression(node, scope));
        }
        if let Some(trigger) = fields.node("trigger").and_then(|node| self.name(node, Spelling::Word)) {
            edge.trigger = trigger;
        }
        edge.actor = fields.node("actor").and_then(|node| self.actor(node));
        edge.notify = self.notifications(fields.node("notify"));
        if way.has_person() {
            edge.role = fields.node("role").and_then(|node| self.role(node));
            edge.reason = fields.node("reason").and_then(|node| self.flag(node)).unwrap_or(false);
        }
        if way.is_action() {
            self.action_fields(fields, &mut edge, way);
        }
        // The task of an action has answered by the time its metadata is written down.
        let scope = if edge.task.is_some() { Scope::ActDone } else { way.scope() };
        edge.metadata = self.named_expressions(fields.node("metadata"), Spelling::Free, scope);
        if let Some(entry) = fields.take("error") {
            edge.error = self.edge_error(entry, scope);
            if edge.to.is_none() && way.by.may_end_dead() {
                let message = "a dead letter keeps the error it died of; `error` belongs to edges with `to`";
                self.report("key-not-here", &entry.at, message);
            }
        }
        edge
    }

    /// `error = { code, message }`: expressions for the error that the submission has after the move.
    fn edge_error(&mut self, entry: &Entry, scope: Scope) -> Option<EdgeError> {
        let table = self.table(&entry.node)?;
        let mut fields = Fields::new(Place::Inner, table);
        let code = fields.node("code");
        if code.is_none() {
            self.missing(&entry.at, "`error` needs `code`: an expression such as \"'too-large'\"");
        }
        let code = code.and_then(|node| Some((node, self.expression(node, scope)?)));
        let message = fields.node("message").and_then(|node| self.expression(node, scope));
        self.close(fields);
        let (node, code) = code?;
        // One that reads nothing gives the same every time, so it need not wait for a submission to be wrong.
        let constant = code.eval_string(&crate::expr::Scope::new());
        if let Some(code) = constant.ok().filter(|code| !Failure::is_code(code)) {
            let message = format!("{} is no error code: {}", quote(&code), Failure::CODE_SPELLING);
            self.report("bad-value", &node.span, message);
        }
        Some(EdgeError { code, message })
    }

    fn action_fields(&mut self, fields: &mut Fields<'_>, edge: &mut Edge, way: &Way<'_>) {
        edge.data = fields.node("data").and_then(|node| self.schema(node));
        if let (Some(node), Some(rules)) = (fields.node("task"), way.rules) {
            edge.task = self.task(node, rules);
        }
        if let Some(approvals) = fields.node("approvals").and_then(|node| self.count(node, 1)) {
            edge.approvals = approvals;
        }
        if let Some(allowed) = fields.node("self_approval").and_then(|node| self.flag(node)) {
            edge.self_approval = allowed;
        }
        edge.only_submitter =
            fields.node("only").and_then(|node| self.word(node, &[("submitter", ())])).is_some();
        edge.reviewers = fields.node("reviewers").map(|node| self.reviewers(node)).unwrap_or_default();
        self.check_people(edge);
    }

    fn to(&mut self, fields: &mut Fields<'_>, node: &Node, way: &Way<'_>) -> Option<Choice> {
        let Some(to) = fields.take("to") else {
            if !way.by.may_lead_nowhere() {
                self.report("missing-to", &node.span, "the edge does not say where it leads");
            }
            return None;
        };
        match &to.node.value {
            Value::Text(text) => Some(Choice::One(self.target(text, &to.node.span))),
            Value::List(nodes) if way.is_action() => self.pick(nodes, &to.node),
            Value::List(_) => {
                let message = "only somebody who acts can pick from several states";
                self.report("pick-outside-action", &to.node.span, message);
                None
            }
            _ => {
                self.wrong_type(&to.node, "a state's name");
                None
            }
        }
    }

    fn pick(&mut self, nodes: &[Node], list: &Node) -> Option<Choice> {
        if nodes.is_empty() {
            self.report("missing-to", &list.span, "there is no state to pick");
            return None;
        }
        let states = self.states(Some(list));
        self.lost_edges |= states.len() < nodes.len();
        Some(Choice::Pick(states))
    }

    /// Keys that only other edges have.
    pub(super) fn misplaced(&mut self, fields: &mut Fields<'_>, way: &Way<'_>) {
        let mut elsewhere: Vec<(&'static str, &str)> = Vec::new();
        if !way.has_person() {
            elsewhere.extend(["role", "reason"].map(|key| (key, "edges of actions and of `start`")));
        }
        if !way.is_action() {
            let keys = ["data", "task", "approvals", "self_approval", "reviewers", "only"];
            elsewhere.extend(keys.map(|key| (key, "edges of actions")));
        }
        for (key, owners) in elsewhere {
            if let Some(entry) = fields.refuse(key) {
                self.report("key-not-here", &entry.at, format!("`{key}` belongs to {owners}"));
            }
        }
    }

    /// Returns the state an edge leads to. A typo is reported and followed, so that it does not make what was meant
    /// unreachable.
    fn target(&mut self, text: &str, at: &Span) -> Name {
        let known = Rc::clone(&self.known);
        let states = known.states.iter().map(String::as_str);
        if states.clone().any(|state| state == text) {
            return text.into();
        }
        let message = format!("edge leads to {}, which is no state", quote(text));
        let near = self.near(text, states.clone());
        self.problems.push(Problem::new("unknown-state", at.clone(), message).suggest(near));
        near.and_then(|_| typo(text, states)).unwrap_or(text).into()
    }
}

/// An edge that says nothing but where it leads.
fn plain(to: Option<Choice>, by: &By, node: &Node) -> Edge {
    Edge {
        at: node.span.clone(),
        to,
        when: None,
        trigger: by.trigger(),
        metadata: Vec::new(),
        error: None,
        actor: None,
        notify: Vec::new(),
        role: None,
        reason: false,
        data: None,
        task: None,
        approvals: 1,
        self_approval: true,
        reviewers: Vec::new(),
        only_submitter: false,
    }
}
