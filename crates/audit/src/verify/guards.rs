//! Guards, where the evidence reveals what they read. What it does not reveal is counted, not guessed.

use std::collections::BTreeMap;

use model::event::Kind;
use model::expr::Scope;
use model::json::Value;
use model::pipeline::{By, Edge, FinalKind};

use super::chain::Step;
use super::finding::{Fault, Finding};
use super::rules::{Rules, Way};
use crate::leaf::EventLeaf;

/// The documents an event brought: `None` where it brought one that is not shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) payload: Option<Value>,
    pub(super) output: Option<Value>,
}

/// The number of guards that were checked, and of those that could not be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) checked: u64,
    pub(super) unknown: u64,
}

/// The facts about a submission that guards read, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Sight {
    payload: Option<Value>,
    labels: Option<Value>,
    outputs: BTreeMap<String, Value>,
    /// An output was not shown.
    outputs_hidden: bool,
    requeues: i64,
    from: Option<String>,
    failed_from: Option<String>,
    last_good: Option<String>,
    error: bool,
}

impl Sight {
    /// Checks the guards of an event, then learns from it. Of several edges it may have taken, one must fit.
    pub(super) fn look(
        &mut self,
        rules: &Rules,
        leaf: &EventLeaf<'_>,
        step: &Step,
        shown: Shown,
    ) -> Result<Count, Finding> {
        if let Some(payload) = &shown.payload {
            self.labels = labels(rules, payload);
        }
        if leaf.payload.is_some() {
            self.payload = shown.payload;
            if self.payload.is_none() {
                self.labels = None;
            }
        }
        let output = match (leaf.output.is_some(), shown.output) {
            (false, _) => Output::None,
            (true, Some(value)) => Output::Shown(value),
            (true, None) => Output::Hidden,
        };
        let lists = rules.lists(step.verdict.from);
        let mut count = Count::default();
        let mut taken = None;
        let mut refused = None;
        for way in step.ways() {
            let (by, edges) = &lists[way.list];
            // A granted action was judged when it was granted.
            let granted = leaf.kind == Kind::Moved && way.task;
            match if granted {
                Ok(Count::default())
            } else {
                self.choose(rules, leaf, (by, edges), *way, &output)
            } {
                Ok(counted) => {
                    count = counted;
                    taken = Some((by.clone(), edges[way.edge].error.is_some()));
                    break;
                }
                Err(finding) => refused = refused.or(Some(finding)),
            }
        }
        if let (None, Some(finding)) = (&taken, refused) {
            return Err(finding);
        }
        let taken = taken.as_ref().map(|(by, states_error)| Taken { by, states_error: *states_error });
        self.learn(rules, leaf, taken, output);
        Ok(count)
    }

    /// The edge's guard holds and those before it do not, as far as they can be known.
    fn choose(
        &self,
        rules: &Rules,
        leaf: &EventLeaf<'_>,
        (by, edges): (&By, &[Edge]),
        way: Way,
        output: &Output,
    ) -> Result<Count, Finding> {
        let mut count = Count::default();
        for (index, edge) in edges.iter().enumerate().take(way.edge + 1) {
            let Some(guard) = &edge.when else { continue };
            let scope = self.scope(rules, leaf, (by, &edges[way.edge]), output);
            let unknown =
                model::decide::NAMES.iter().any(|name| guard.reads(name) && !scope.contains_key(name));
            if unknown {
                count.unknown += 1;
                continue;
            }
            count.checked += 1;
            let values = scope.iter().filter(|(name, _)| guard.reads(name));
            let seen = values.fold(Scope::new(), |seen, (name, value)| seen.with(name, value));
            let wanted = index == way.edge;
            match guard.eval_bool(&seen) {
                Ok(holds) if holds == wanted => {}
                Ok(_) => {
                    let verb = if wanted { "does not hold" } else { "holds, and leads elsewhere" };
                    let message = format!("the guard `{}` {verb}", guard.source());
                    return Err(Finding::new(Fault::Guard, message));
                }
                // On the way of a guard error, one that fails does not hold.
                Err(_) if *by == By::GuardError && !wanted => {}
                Err(error) => return Err(Finding::new(Fault::Guard, error.message)),
            }
        }
        Ok(count)
    }

    /// The values that are known, by the names guards use.
    fn scope(
        &self,
        rules: &Rules,
        leaf: &EventLeaf<'_>,
        (by, edge): (&By, &Edge),
        output: &Output,
    ) -> BTreeMap<&'static str, Value> {
        let mut scope = BTreeMap::from([("params", Value::clone(&rules.pipeline.params))]);
        let mut know = |name, value: Option<Value>| value.map(|value| scope.insert(name, value));
        know("payload", self.payload.clone());
        know("labels", self.labels.clone());
        if *by == By::Start {
            return scope;
        }
        let text = |text: &Option<String>| Some(text.as_deref().map_or(Value::Null, Value::from));
        let outputs = (!self.outputs_hidden).then(|| Value::Object(self.outputs.clone()));
        know("outputs", outputs);
        know("attempt", Some(Value::from(i64::from(leaf.attempt))));
        know("held", Some(Value::from(leaf.held)));
        know("requeues", Some(Value::from(self.requeues)));
        know("from", text(&self.from));
        know("failed_from", text(&self.failed_from));
        know("last_good", text(&self.last_good));
        // After a redrive the output that was kept is looked at again.
        let kept = || match leaf.from.as_deref().and_then(|state| self.outputs.get(state)) {
            Some(kept) if !self.outputs_hidden => Some(kept.clone()),
            None if !self.outputs_hidden => Some(Value::Null),
            _ => None,
        };
        let output = match (by, output) {
            (By::Outcome(_), Output::Shown(value)) => Some(value.clone()),
            (By::Outcome(_) | By::Error, Output::None) if leaf.right == model::Right::Rule => kept(),
            (_, Output::Hidden) => None,
            _ => Some(Value::Null),
        };
        know("output", output);
        know("error", (!self.error && !by.may_end_dead()).then_some(Value::Null));
        // An action without a schema takes no data.
        know("data", edge.data.is_none().then_some(Value::Null));
        scope
    }

    fn learn(&mut self, rules: &Rules, leaf: &EventLeaf<'_>, taken: Option<Taken<'_>>, output: Output) {
        let left = leaf.from.as_deref().unwrap_or(&leaf.to).to_owned();
        match output {
            Output::None => {}
            Output::Shown(value) => drop(self.outputs.insert(left.clone(), value)),
            Output::Hidden => self.outputs_hidden = true,
        }
        match leaf.kind {
            Kind::Submitted => self.error = taken.is_some_and(|taken| taken.states_error),
            Kind::Moved => self.moved(rules, leaf, taken, left),
            Kind::Redriven => self.requeues += 1,
            Kind::Retried | Kind::Abandoned => self.error = true,
            Kind::Died => {
                self.error = true;
                self.failed_from = Some(left);
            }
            _ => {}
        }
    }

    fn moved(&mut self, rules: &Rules, leaf: &EventLeaf<'_>, taken: Option<Taken<'_>>, left: String) {
        let Some(from) = rules.pipeline.state(&left) else { return };
        let Some(to) = rules.pipeline.state(&leaf.to) else { return };
        let fails = matches!(to.kind, model::pipeline::Kind::Final { outcome: FinalKind::Failure, .. });
        let by = taken.map(|taken| taken.by);
        let states_error = taken.is_some_and(|taken| taken.states_error);
        let succeeded = match by {
            Some(By::Outcome(_)) => true,
            Some(By::Children(name)) => &**name == "all_succeeded",
            _ => false,
        };
        if succeeded && from.checkpoint && !fails && !states_error {
            self.last_good = Some(left.clone());
        }
        let carried = matches!(by, Some(By::Pass)) && self.error;
        self.error = carried || states_error || by.is_some_and(By::may_end_dead);
        if (self.error || fails) && !carried {
            self.failed_from = Some(left.clone());
        }
        if from.is_final() && !to.is_final() {
            self.requeues += 1;
        }
        self.from = Some(left);
    }
}

/// The edge an event took, as far as it matters for what comes after.
#[derive(Clone, Copy)]
struct Taken<'a> {
    by: &'a By,
    states_error: bool,
}

enum Output {
    None,
    Hidden,
    Shown(Value),
}

/// The labels a payload gives; `None` where they cannot be had.
fn labels(rules: &Rules, payload: &Value) -> Option<Value> {
    let none = Value::Object(BTreeMap::new());
    let scope =
        Scope::new().with("payload", payload).with("params", &rules.pipeline.params).with("labels", &none);
    let label = |(name, expr): &(model::Name, model::expr::Expr)| {
        Some((name.to_string(), Value::from(expr.eval_string(&scope).ok()?.as_str())))
    };
    rules.pipeline.labels.iter().map(label).collect::<Option<BTreeMap<_, _>>>().map(Value::Object)
}
