//! A pipeline as a list of facts.

use super::document::{self, leaves};
use super::moves;
use super::values::{after, clock, leg, metric, on_dead, rule, sla, words};
use crate::Name;
use crate::expr::Expr;
use crate::pipeline::{
    Ageing, AmendLease, FinalKind, Holds, Kind, LaneRule, OnDuplicate, Pipeline, State, Task,
};

/// Places of different sections never mean the same, however states and parameters are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Pipeline,
    State,
    Move,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) section: Section,
    pub(super) place: String,
}

#[derive(Debug)]
pub(super) struct Fact {
    pub(super) key: Key,
    pub(super) value: String,
    /// The fact that this one is a detail of: where that is new or gone, its details are no news.
    pub(super) parent: Option<Key>,
}

/// Collects facts of one section.
#[derive(Debug)]
pub(super) struct Facts {
    section: Section,
    /// The beginning of every place.
    within: String,
    parent: Option<Key>,
    pub(super) facts: Vec<Fact>,
}

impl Facts {
    pub(super) fn new(section: Section, within: String) -> Self {
        Facts { section, within, parent: None, facts: Vec::new() }
    }

    /// Adds the fact that all that follow are details of.
    pub(super) fn head(&mut self, place: String, value: String) {
        let key = Key { section: self.section, place };
        self.facts.push(Fact { key: key.clone(), value, parent: None });
        self.parent = Some(key);
    }

    pub(super) fn add(&mut self, name: &str, value: impl Into<String>) {
        let key = Key { section: self.section, place: format!("{}{name}", self.within) };
        self.facts.push(Fact { key, value: value.into(), parent: self.parent.clone() });
    }

    pub(super) fn maybe(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.add(name, value.to_string());
        }
    }

    pub(super) fn expression(&mut self, name: &str, expr: Option<&Expr>) {
        self.maybe(name, expr.map(Expr::source));
    }

    pub(super) fn document(&mut self, name: &str, document: &crate::json::Value) {
        leaves(name, document, &mut |place, value| self.add(&place, value));
    }

    /// Adds what a task is given and how it is tried, below the name of whatever runs it.
    pub(super) fn task(&mut self, task: &Task) {
        self.add("task", &*task.name);
        if let Some(with) = &task.with {
            self.document("with", &with.value());
        }
        self.add("lease", task.lease.to_string());
        self.maybe("timeout", task.timeout);
        self.add("retry", rule(&task.retry.rule));
        for (code, special) in &task.retry.on {
            self.add(&format!("retry.on.{code}"), rule(special));
        }
    }
}

pub(super) fn of(pipeline: &Pipeline) -> Vec<Fact> {
    let mut all = Facts::new(Section::Pipeline, String::new());
    identity(&mut all, pipeline);
    rules(&mut all, pipeline);
    surroundings(&mut all, pipeline);
    all.document("params", &pipeline.params);
    let mut all = all.facts;
    all.extend(moves::start(pipeline));
    for state in &pipeline.states {
        all.extend(self::state(state));
        all.extend(moves::leaving(state));
    }
    all
}

fn identity(all: &mut Facts, pipeline: &Pipeline) {
    all.add("name", &*pipeline.name);
    all.add("title", &*pipeline.title);
    if let Some(schema) = &pipeline.payload {
        all.document("payload", &crate::json::Json::from_stored(schema.source()).value());
    }
    all.expression("key", pipeline.key.as_ref());
    all.add(
        "on_duplicate",
        match pipeline.on_duplicate {
            OnDuplicate::Return => "return",
            OnDuplicate::ReturnAny => r#"{ same = "return", differs = "return" }"#,
            OnDuplicate::Reject => "reject",
            OnDuplicate::Queue => "queue",
        },
    );
    for (label, expr) in &pipeline.labels {
        all.add(&format!("labels.{label}"), expr.source());
    }
}

fn rules(all: &mut Facts, pipeline: &Pipeline) {
    all.expression("priority", pipeline.priority.value.as_ref());
    let set_by = pipeline.priority.set_by.iter().map(|role| Name::from(role.as_str())).collect::<Vec<_>>();
    all.maybe("priority.set_by", (!set_by.is_empty()).then(|| words(&set_by)));
    all.add(
        "ageing",
        match pipeline.ageing {
            Ageing::Never => "never".to_owned(),
            Ageing::Every(span) => span.to_string(),
        },
    );
    all.maybe("ttl.after", pipeline.ttl.as_ref().map(|ttl| after(&ttl.after)));
    if let Some(lane) = &pipeline.lane {
        all.add("lane.key", lane.key.source());
        all.expression("lane.tie", lane.tie.as_ref());
        all.add("lane.on_dead", on_dead(lane.on_dead));
    }
    for (label, most) in &pipeline.limits {
        all.add(&format!("limits.{label}"), most.to_string());
    }
    if let Some(amend) = &pipeline.amend {
        all.add("amend.fields", words(&amend.fields));
        all.add("amend.role", amend.role.as_str());
        all.add(
            "amend.lease",
            match amend.lease {
                AmendLease::Keep => "keep",
                AmendLease::Restart => "restart",
            },
        );
    }
    if pipeline.forbids_dead_letters {
        all.add("dead_letters", "none");
    }
    all.add(
        "holds",
        match pipeline.holds {
            Holds::Stop => "stop",
            Holds::Route => "route",
        },
    );
}

/// Adds what is around the machine: when it starts by itself, whom it tells, what is measured.
fn surroundings(all: &mut Facts, pipeline: &Pipeline) {
    document::written(pipeline, &["schedule", "calendars"], &mut |place, value| all.add(&place, value));
    for (name, notify) in &pipeline.notify {
        all.expression(&format!("notify.{name}.mail"), notify.mail.as_ref());
        all.expression(&format!("notify.{name}.webhook"), notify.webhook.as_ref());
        all.maybe(
            &format!("notify.{name}.template"),
            notify.template.as_ref().map(|template| &template.path),
        );
    }
    for (name, between) in &pipeline.slas {
        all.add(&format!("sla.{name}"), leg(between));
    }
    for (name, measured) in &pipeline.metrics {
        all.add(&format!("metrics.{name}"), metric(measured));
    }
}

fn state(state: &State) -> Vec<Fact> {
    let mut all = Facts::new(Section::State, format!("{}.", state.name));
    all.head(format!("state {}", state.name), state.kind.as_str().to_owned());
    all.maybe("title", state.title.as_ref());
    all.maybe("phase", state.phase.as_ref());
    match &state.kind {
        Kind::Pass { .. } | Kind::Task { .. } => {}
        Kind::Wait { clock: until, .. } => all.add("wait", clock(until)),
        Kind::Human { review } => all.maybe("review", review.as_ref()),
        Kind::Join { child, .. } => all.add("join", &**child),
        Kind::Final { outcome, investigate, .. } => {
            all.add(
                "final",
                match outcome {
                    FinalKind::Success => "success",
                    FinalKind::Failure => "failure",
                    FinalKind::Cancelled => "cancelled",
                },
            );
            all.maybe("investigate", investigate.as_ref());
        }
    }
    if let Some(task) = state.task() {
        all.task(task);
    }
    all.maybe("ttl.after", state.ttl.as_ref().map(|ttl| after(&ttl.after)));
    all.maybe("sla", state.sla.as_ref().map(sla));
    all.maybe("notify", (!state.notify.is_empty()).then(|| words(&state.notify)));
    all.maybe("retention", state.retention);
    all.maybe("forget", state.forget);
    all.add(
        "lane",
        match state.lane {
            LaneRule::Keep => "keep",
            LaneRule::Wait => "wait",
            LaneRule::Free => "free",
        },
    );
    for (outcome, schema) in &state.output {
        let schema = crate::json::Json::from_stored(schema.source());
        all.document(&format!("output.{outcome}"), &schema.value());
    }
    all.add("checkpoint", state.checkpoint.to_string());
    all.facts
}
