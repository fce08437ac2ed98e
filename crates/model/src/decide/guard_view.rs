//! The view of guards and derived fields.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::cause::Step;
use super::notify::plain;
use crate::Name;
use crate::event::Event;
use crate::evolve::evolve_documents;
use crate::expr::{Budget, Expr, GuardError, Out, Scope};
use crate::json::{Json, Value};
use crate::links::Links;
use crate::pipeline::{Edge, EdgeError, Pipeline};
use crate::submission::{Documents, Failure, Submission};

/// Every name an expression may use, wherever it stands.
pub const NAMES: &[&str] = &[
    "payload",
    "output",
    "outputs",
    "params",
    "labels",
    "attempt",
    "held",
    "failed_from",
    "last_good",
    "requeues",
    "children",
    "error",
    "data",
    "from",
    "given",
    "event",
    "submission",
    "door",
];

/// The facts that are known only at the moment of a move.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment<'a> {
    pub(super) output: Option<&'a Json>,
    pub(super) error: Option<&'a Failure>,
    pub(super) data: Option<&'a Json>,
    /// The event that has just happened: only messages see it.
    pub(super) event: Option<&'a Event>,
    /// The addresses that messages name.
    pub(super) links: Option<&'a Links>,
}

/// The values of one submission. Documents are parsed on first use and once.
pub(crate) struct Sight<'a> {
    pipeline: &'a Pipeline,
    documents: Documents,
    held: bool,
    payload: OnceCell<Value>,
    outputs: OnceCell<Value>,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(pipeline: &'a Pipeline, documents: Documents, held: bool) -> Self {
        Sight { pipeline, documents, held, payload: OnceCell::new(), outputs: OnceCell::new() }
    }

    /// Sees a payload that is about to be the submission's.
    pub(super) fn amend(&mut self, payload: Json) {
        self.documents.payload = payload;
        self.payload.take();
    }

    /// Sees what an event brought: the pass states after it may ask for it.
    pub(super) fn learn(&mut self, event: &Event) {
        evolve_documents(&mut self.documents, event);
        self.payload.take();
        self.outputs.take();
    }

    /// Returns the value of a name now, between moves.
    pub(crate) fn value(&self, name: &str, row: &Submission) -> Option<Value> {
        match name {
            "payload" => Some(self.payload().clone()),
            "outputs" => Some(self.outputs().clone()),
            "params" => Some(Value::clone(&self.pipeline.params)),
            _ => self.derived(name, row, Moment::default()),
        }
    }

    /// Tells whether a guard holds now, between moves.
    pub(crate) fn holds(&self, row: &Submission, guard: &Expr) -> Result<bool, GuardError> {
        self.look(row, Moment::default(), guard, |scope| guard.eval_bool(scope))
    }

    /// Returns the terms of a guard that do not hold at a moment.
    pub(crate) fn unmet<'e>(&self, row: &Submission, moment: Moment<'_>, guard: &'e Expr) -> Vec<&'e str> {
        self.look(row, moment, guard, |scope| Ok(guard.unmet(scope))).unwrap_or_default()
    }

    /// Evaluates with what the expression reads, and builds nothing else.
    fn look<T>(
        &self,
        row: &Submission,
        moment: Moment<'_>,
        expr: &Expr,
        eval: impl FnOnce(&Scope<'_>) -> Result<T, GuardError>,
    ) -> Result<T, GuardError> {
        let own: Vec<(&str, Value)> = NAMES
            .iter()
            .filter(|name| expr.reads(name))
            .filter_map(|name| Some((*name, self.derived(name, row, moment)?)))
            .collect();
        let mut scope = Scope::new().with("params", &self.pipeline.params);
        if expr.reads("payload") {
            scope = scope.with("payload", self.payload());
        }
        if expr.reads("outputs") {
            scope = scope.with("outputs", self.outputs());
        }
        for (name, value) in &own {
            scope = scope.with(name, value);
        }
        eval(&scope).map_err(|error| GuardError { reads_output: expr.reads("output"), ..error })
    }

    fn payload(&self) -> &Value {
        self.payload.get_or_init(|| self.documents.payload.value())
    }

    fn outputs(&self) -> &Value {
        self.outputs.get_or_init(|| {
            let outputs = &self.documents.outputs;
            Value::Object(outputs.iter().map(|(state, output)| (state.to_string(), output.value())).collect())
        })
    }

    /// The values that are made from the row and the moment.
    fn derived(&self, name: &str, row: &Submission, moment: Moment<'_>) -> Option<Value> {
        let document = |json: Option<&Json>| json.map_or(Value::Null, Json::value);
        let state = |name: &Option<Name>| name.as_deref().map_or(Value::Null, Value::from);
        Some(match name {
            "output" => document(moment.output),
            "data" => document(moment.data),
            "error" => failure(moment.error.or(row.error.as_ref())),
            "labels" => {
                let labels = row.labels.iter().map(|(name, value)| (name.to_string(), Value::from(&**value)));
                Value::Object(labels.collect())
            }
            "attempt" => Value::from(i64::from(row.attempt)),
            "requeues" => Value::from(i64::from(row.requeues)),
            "held" => Value::from(self.held),
            "failed_from" => state(&row.failed_from),
            "last_good" => state(&row.last_good),
            "from" => state(&row.from),
            "given" => row.priority_given.map_or(Value::Null, Value::from),
            "children" => children(row),
            "event" => moment.event.map_or(Value::Null, |event| happened(self.pipeline, event)),
            "submission" => subject(self.pipeline, row, moment.links),
            _ => return None,
        })
    }

    pub(super) fn out(&self, row: &Submission, moment: Moment<'_>, expr: &Expr) -> Result<Out, GuardError> {
        self.look(row, moment, expr, |scope| expr.eval_out(scope))
    }

    /// Evaluates an expression for a message, on the budget of all messages that are written about an event.
    pub(super) fn told(
        &self,
        row: &Submission,
        moment: Moment<'_>,
        expr: &Expr,
        budget: &mut Budget,
    ) -> Result<Value, GuardError> {
        self.look(row, moment, expr, |scope| expr.eval_json_within(scope, budget))
    }

    pub(super) fn number(
        &self,
        row: &Submission,
        moment: Moment<'_>,
        expr: &Expr,
    ) -> Result<i64, GuardError> {
        self.look(row, moment, expr, |scope| expr.eval_i64(scope))
    }

    /// The first edge whose guard holds, and its place in the list.
    pub(super) fn choose<'e>(
        &self,
        row: &Submission,
        moment: Moment<'_>,
        edges: &'e [Edge],
    ) -> Result<Option<(usize, &'e Edge)>, GuardError> {
        for (index, edge) in edges.iter().enumerate() {
            let holds = match &edge.when {
                None => true,
                Some(guard) => self.look(row, moment, guard, |scope| guard.eval_bool(scope))?,
            };
            if holds {
                return Ok(Some((index, edge)));
            }
        }
        Ok(None)
    }

    /// An edge's metadata, with the reason a person gave.
    pub(super) fn metadata(
        &self,
        row: &Submission,
        edge: &Edge,
        step: &Step<'_>,
    ) -> Result<Option<Json>, GuardError> {
        let mut metadata = BTreeMap::new();
        for (name, expr) in &edge.metadata {
            match self.look(row, step.moment, expr, |scope| expr.eval_json(scope)) {
                Err(_) if step.lenient => {}
                value => drop(metadata.insert(name.to_string(), value?)),
            }
        }
        if let Some(reason) = step.reason {
            metadata.insert("reason".to_owned(), Value::from(reason));
        }
        if metadata.is_empty() {
            return Ok(None);
        }
        Ok(Some(Json::from_value(&Value::Object(metadata))))
    }

    /// The error an edge says its submission has from then on.
    pub(super) fn stated(
        &self,
        row: &Submission,
        edge: &Edge,
        step: &Step<'_>,
    ) -> Result<Option<Failure>, GuardError> {
        let Some(error) = &edge.error else { return Ok(None) };
        match self.edge_error(row, step.moment, error) {
            Err(_) if step.lenient => Ok(None),
            stated => stated.map(Some),
        }
    }

    fn edge_error(
        &self,
        row: &Submission,
        moment: Moment<'_>,
        EdgeError { code, message }: &EdgeError,
    ) -> Result<Failure, GuardError> {
        let code = error_code(self.look(row, moment, code, |scope| code.eval_string(scope))?, code)?;
        let message = match message {
            None => Value::Null,
            Some(expr) => self.look(row, moment, expr, |scope| expr.eval_json(scope))?,
        };
        Ok(Failure::new(code, &plain(message)))
    }
}

/// The error code an expression gave, if it is spelled like one.
fn error_code(code: String, expr: &Expr) -> Result<Name, GuardError> {
    if Failure::is_code(&code) {
        return Ok(code.into());
    }
    let message = format!("`{}` gives no error code: {}", expr.source(), Failure::CODE_SPELLING);
    Err(GuardError { message, reads_output: expr.reads("output") })
}

fn failure(error: Option<&Failure>) -> Value {
    error.map_or(Value::Null, |error| {
        Value::Object(BTreeMap::from([
            ("code".to_owned(), Value::from(&*error.code)),
            ("message".to_owned(), Value::from(error.message.as_str())),
        ]))
    })
}

/// A move, as messages tell of it.
fn happened(pipeline: &Pipeline, event: &Event) -> Value {
    let leaf = &event.leaf;
    let title = pipeline.state(&leaf.to).and_then(|state| state.title.as_deref()).unwrap_or(&leaf.to);
    let members = [
        ("kind", Value::from(leaf.kind.as_str())),
        ("from", leaf.from.as_deref().map_or(Value::Null, Value::from)),
        ("to", Value::from(&*leaf.to)),
        ("title", Value::from(title)),
        ("trigger", Value::from(&*leaf.trigger)),
        ("at", Value::from(leaf.at.to_string().as_str())),
        (
            "metadata",
            event.detail.metadata.as_ref().map_or_else(|| Value::Object(BTreeMap::new()), Json::value),
        ),
    ];
    members.into_iter().collect()
}

/// Returns the submission that a message is about, as expressions see it.
fn subject(pipeline: &Pipeline, row: &Submission, links: Option<&Links>) -> Value {
    let text = |text: Option<String>| Value::from(text.unwrap_or_default().as_str());
    let members = [
        ("id", Value::from(row.id.to_string().as_str())),
        ("pipeline", Value::from(&*pipeline.name)),
        ("title", Value::from(pipeline.title.as_str())),
        ("version", Value::from(i64::from(pipeline.version))),
        ("status", Value::from(row.status.as_str())),
        ("key", row.key.as_deref().map_or(Value::Null, Value::from)),
        ("link", text(links.map(|links| links.page(row.id)))),
        ("receipt", text(links.and_then(|links| links.receipt(&pipeline.name, row.id)))),
    ];
    members.into_iter().collect()
}

fn children(row: &Submission) -> Value {
    let children = row.children;
    let counts = [
        ("total", children.total),
        ("open", children.open),
        ("succeeded", children.succeeded),
        ("failed", children.failed),
        ("cancelled", children.cancelled),
    ];
    Value::Object(counts.into_iter().map(|(name, count)| (name.to_owned(), Value::from(count))).collect())
}
