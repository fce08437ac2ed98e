//! The top level of a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::defaults::Defaults;
use super::edge::Way;
use super::expression::Scope;
use super::fields::{Fields, Place};
use super::name::Spelling;
use super::{Reader, STATES_MAX};
use crate::Digest;
use crate::Name;
use crate::pipeline::file::{Entry, Node, Table};
use crate::pipeline::moves::By;
use crate::pipeline::{Edge, Holds, Pipeline, State};

pub(super) const TOP_KEYS: [&str; 24] = [
    "name",
    "version",
    "title",
    "payload",
    "key",
    "on_duplicate",
    "labels",
    "start",
    "params",
    "priority",
    "ageing",
    "ttl",
    "lane",
    "limits",
    "amend",
    "holds",
    "dead_letters",
    "schedule",
    "calendars",
    "notify",
    "sla",
    "metrics",
    "defaults",
    "states",
];

const HOLDS: [(&str, Holds); 2] = [("stop", Holds::Stop), ("route", Holds::Route)];

impl Reader<'_> {
    pub(super) fn pipeline(&mut self, root: &Table) -> Pipeline {
        let mut fields = Fields::new(Place::Pipeline, root);
        let name = self.pipeline_name(&mut fields);
        let title = fields.node("title").and_then(|node| self.short_text(node, 200));
        let definition = self.source.to_definition();
        let machine = self.source.without_params().to_definition();
        let params = self.params(fields.take("params"));
        let mut pipeline = Pipeline {
            title: title.unwrap_or(&name).to_owned(),
            name,
            version: self.version(&mut fields),
            revision: 1,
            digest: Digest::of(definition.as_str().as_bytes()),
            definition,
            machine: Digest::of(machine.as_str().as_bytes()),
            payload_check: None,
            payload: fields.node("payload").and_then(|node| self.schema(node)),
            key: fields.node("key").and_then(|node| self.expression(node, Scope::Door)),
            on_duplicate: fields
                .take("on_duplicate")
                .and_then(|entry| self.on_duplicate(entry))
                .unwrap_or_default(),
            labels: self.named_expressions(fields.node("labels"), Spelling::Label, Scope::Labels),
            start: self.start(fields.take("start")),
            params: Arc::new(params.effective),
            default_params: Arc::new(params.defaults),
            set_params: params.set,
            priority: fields.take("priority").and_then(|entry| self.priority(entry)).unwrap_or_default(),
            ageing: fields.node("ageing").and_then(|node| self.ageing(node)).unwrap_or_default(),
            ttl: self.ttl(fields.take("ttl"), Scope::Door),
            lane: fields.take("lane").and_then(|entry| self.lane(entry)),
            limits: self.limits(fields.node("limits")),
            amend: fields.take("amend").and_then(|entry| self.amend(entry)),
            holds: fields.node("holds").and_then(|node| self.word(node, &HOLDS)).unwrap_or_default(),
            forbids_dead_letters: fields.node("dead_letters").and_then(|node| self.flag(node)) == Some(false),
            schedules: self.schedules(fields.node("schedule")),
            calendars: self.calendars(fields.node("calendars")),
            notify: self.notify(fields.node("notify")),
            slas: self.legs(fields.node("sla")),
            metrics: self.metrics(fields.node("metrics")),
            states: Vec::new(),
            by_name: BTreeMap::new(),
            reads: self.reads,
        };
        let states = self.all_states(fields.take("states"), fields.node("defaults"));
        pipeline.states = states.into_iter().map(Arc::new).collect();
        pipeline.by_name =
            pipeline.states.iter().enumerate().map(|(index, state)| (state.name.clone(), index)).collect();
        pipeline.reads = self.reads;
        self.close(fields);
        pipeline
    }

    fn pipeline_name(&mut self, fields: &mut Fields<'_>) -> Name {
        let Some(node) = fields.node("name") else {
            self.missing(&(0..0), "the pipeline needs a `name`");
            return "unnamed".into();
        };
        self.name(node, Spelling::Pipeline).unwrap_or_else(|| "unnamed".into())
    }

    fn version(&mut self, fields: &mut Fields<'_>) -> u32 {
        let Some(node) = fields.node("version") else {
            self.missing(&(0..0), "the pipeline needs a `version`: 1, and one more with every change");
            return 1;
        };
        self.count(node, 1).unwrap_or(1)
    }

    fn start(&mut self, entry: Option<&Entry>) -> Vec<Edge> {
        let Some(entry) = entry else {
            self.missing(&(0..0), "the pipeline needs `start`: the edges that lead into it");
            return Vec::new();
        };
        self.edges(entry, &Way::new(By::Start))
    }

    fn all_states(&mut self, entry: Option<&Entry>, defaults: Option<&Node>) -> Vec<State> {
        let mut defaults = Defaults::new(defaults.and_then(|node| self.table(node)));
        self.default_keys(&defaults);
        let table = entry.and_then(|entry| self.table(&entry.node));
        let (Some(entry), Some(table)) = (entry, table.filter(|table| table.len() > 0)) else {
            if entry.is_none_or(|entry| entry.node.as_table().is_some()) {
                self.missing(&(0..0), "the pipeline needs states: `[states.NAME]`");
            }
            return Vec::new();
        };
        self.bound("states", table.len(), STATES_MAX, &entry.at);
        let states: Vec<State> =
            table.iter().take(STATES_MAX).map(|entry| self.state(entry, &mut defaults)).collect();
        if self.doubtful.is_empty() {
            self.useless_defaults(&defaults);
        }
        states
    }
}
