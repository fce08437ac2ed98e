//! The pipeline's own rules: duplicates, lane, limits, amend, schedule, calendars.

use std::collections::{BTreeMap, BTreeSet};

use super::Reader;
use super::expression::Scope;
use super::fields::{Fields, Place};
use super::name::Spelling;
use crate::json::{Json, Value as JsonValue};
use crate::pipeline::file::{Entry, Node, Value};
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::{Amend, AmendLease, Lane, OnDead, OnDuplicate, Schedule};
use crate::role::Role;
use crate::time::{Calendar, Cron, Zone};
use crate::{Digest, Name};

/// Each of a limit's places is looked at when one is wanted.
const LIMIT_MAX: u32 = 1_000;

const ON_DUPLICATE: [(&str, OnDuplicate); 3] =
    [("return", OnDuplicate::Return), ("reject", OnDuplicate::Reject), ("queue", OnDuplicate::Queue)];

impl Reader<'_> {
    /// Reads one word for all duplicates, or a table with one for those with the payload of the open one and one for the
    /// others.
    pub(super) fn on_duplicate(&mut self, entry: &Entry) -> Option<OnDuplicate> {
        let Some(table) = entry.node.as_table() else { return self.word(&entry.node, &ON_DUPLICATE) };
        let mut fields = Fields::new(Place::Inner, table);
        let mut answer = |key: &'static str| {
            if !table.has(key) {
                let message = format!("`on_duplicate` needs `{key}`: \"return\", \"reject\" or \"queue\"");
                self.missing(&entry.at, message);
            }
            fields.node(key).and_then(|node| self.word(node, &ON_DUPLICATE))
        };
        let (same, differs) = (answer("same"), answer("differs"));
        self.close(fields);
        match (same?, differs?) {
            (OnDuplicate::Return, OnDuplicate::Return) => Some(OnDuplicate::ReturnAny),
            (OnDuplicate::Return, OnDuplicate::Reject) => Some(OnDuplicate::Return),
            (same, differs) if same == differs => Some(same),
            (same, differs) => {
                self.unfit_answers(&entry.node, same == OnDuplicate::Queue || differs == OnDuplicate::Queue);
                None
            }
        }
    }

    fn unfit_answers(&mut self, node: &Node, queues: bool) {
        let (message, help) = if queues {
            (
                "duplicates wait in line whatever their payload, or none does",
                "write `on_duplicate = \"queue\"` to let all of them wait",
            )
        } else {
            (
                "a repeat would be refused, and another payload answered with the open one as if it were the same",
                "`same = \"return\", differs = \"reject\"` is the other way round",
            )
        };
        self.problems.push(Problem::new("bad-value", node.span.clone(), message).help(help));
    }

    pub(super) fn lane(&mut self, entry: &Entry) -> Option<Lane> {
        let table = self.table(&entry.node)?;
        let mut fields = Fields::new(Place::Inner, table);
        let key = fields.node("key").and_then(|node| self.expression(node, Scope::Door));
        if !table.has("key") {
            self.missing(&entry.at, "`lane` needs `key`: what has one holder at a time");
        }
        let tie = fields.node("tie").and_then(|node| self.expression(node, Scope::Door));
        let words = [("free", OnDead::Free), ("block", OnDead::Block)];
        let on_dead = fields.node("on_dead").and_then(|node| self.word(node, &words)).unwrap_or_default();
        self.close(fields);
        Some(Lane { key: key?, tie, on_dead })
    }

    pub(super) fn limits(&mut self, node: Option<&Node>) -> BTreeMap<Name, u32> {
        let mut limits = BTreeMap::new();
        for entry in self.map(node, "limits") {
            if !self.known.labels.contains(&entry.key) {
                let message = format!("there is no label {} to limit", quote(&entry.key));
                let near = self.near(&entry.key, self.known.labels.iter().map(String::as_str));
                self.problems.push(Problem::new("unknown-label", entry.at.clone(), message).suggest(near));
            }
            if let Some(most) = self.count(&entry.node, 1) {
                if most > LIMIT_MAX {
                    let message = format!("a limit is at most {LIMIT_MAX}; leave it out to have none");
                    self.report("bad-value", &entry.node.span, message);
                }
                limits.insert(entry.key.as_str().into(), most);
            }
        }
        limits
    }

    pub(super) fn amend(&mut self, entry: &Entry) -> Option<Amend> {
        let table = self.table(&entry.node)?;
        let mut fields = Fields::new(Place::Inner, table);
        let names = fields.node("fields").map(|node| self.fields_of_payload(node));
        if names.is_none() {
            self.missing(&entry.at, "`amend` needs `fields`: what of the payload may change");
        }
        let role = fields.node("role").and_then(|node| self.role(node)).unwrap_or(Role::Submitter);
        let words = [("keep", AmendLease::Keep), ("restart", AmendLease::Restart)];
        let lease = fields.node("lease").and_then(|node| self.word(node, &words)).unwrap_or_default();
        self.close(fields);
        Some(Amend { fields: names?, role, lease })
    }

    fn fields_of_payload(&mut self, node: &Node) -> Vec<Name> {
        let members = node.one_or_many();
        self.bound("fields", members.len(), super::ENTRIES_MAX, &node.span);
        if members.is_empty() {
            self.report("bad-value", &node.span, "the list of fields is empty");
        }
        members
            .iter()
            .take(super::ENTRIES_MAX)
            .filter_map(|member| self.text(member))
            .map(Name::from)
            .collect()
    }

    /// One table or a list of them.
    pub(super) fn schedules(&mut self, node: Option<&Node>) -> Vec<Schedule> {
        let Some(node) = node else { return Vec::new() };
        let members = node.one_or_many();
        self.bound("schedules", members.len(), super::ENTRIES_MAX, &node.span);
        members.iter().take(super::ENTRIES_MAX).filter_map(|member| self.schedule(member)).collect()
    }

    fn schedule(&mut self, node: &Node) -> Option<Schedule> {
        let table = self.table(node)?;
        let mut fields = Fields::new(Place::Inner, table);
        if !table.has("cron") {
            self.missing(&node.span, "`schedule` needs `cron`: when to submit");
        }
        let zone = fields.node("timezone").map_or(Some(Zone::default()), |node| self.timezone(node));
        let cron = fields.node("cron").and_then(|node| Some((self.text(node)?, self.cron(node, zone?)?)));
        let payload = fields.node("payload").and_then(|node| {
            self.table(node)?;
            Some(Json::from_value(&self.json(node)))
        });
        let zone = fields.node("timezone").and_then(|node| self.text(node)).unwrap_or("UTC");
        self.close(fields);
        let payload = payload.unwrap_or_else(|| Json::from_value(&JsonValue::Object(BTreeMap::new())));
        let (line, cron) = cron?;
        let parts = [line, "\0", zone, "\0", payload.as_str()].map(str::as_bytes);
        let id = Digest::of_parts(&parts).to_string();
        Some(Schedule { id: id[..16].into(), cron, payload })
    }

    fn cron(&mut self, node: &Node, zone: Zone) -> Option<Cron> {
        let text = self.text(node)?;
        let cron = Cron::new(text, zone);
        cron.map_err(|error| self.report("bad-value", &node.span, format!("{}: {error}", quote(text)))).ok()
    }

    fn timezone(&mut self, node: &Node) -> Option<Zone> {
        let zone = Zone::named(self.text(node)?);
        zone.map_err(|error| self.report("bad-value", &node.span, error.to_string())).ok()
    }

    pub(super) fn calendars(&mut self, node: Option<&Node>) -> BTreeMap<Name, Calendar> {
        let mut calendars = BTreeMap::new();
        for entry in self.map(node, "calendars") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Free);
            let Some(table) = self.table(&entry.node) else { continue };
            let mut fields = Fields::new(Place::Inner, table);
            let zone = fields.node("timezone").and_then(|node| self.timezone(node)).unwrap_or_default();
            let holidays = fields.node("holidays").map(|node| self.holidays(node)).unwrap_or_default();
            self.close(fields);
            calendars.insert(name, Calendar { zone, holidays });
        }
        calendars
    }

    /// Days as TOML dates or as text.
    fn holidays(&mut self, node: &Node) -> BTreeSet<jiff::civil::Date> {
        const DAYS_MAX: usize = 1_000;
        let members = node.one_or_many();
        self.bound("holidays", members.len(), DAYS_MAX, &node.span);
        let mut days = BTreeSet::new();
        for member in members.iter().take(DAYS_MAX) {
            let text = match &member.value {
                Value::Date(date) => date.to_string(),
                Value::Text(text) => text.clone(),
                _ => {
                    self.wrong_type(member, "a day like 2026-12-25");
                    continue;
                }
            };
            match text.parse() {
                Ok(day) if text.len() == "2026-12-25".len() => {
                    days.insert(day);
                }
                _ => {
                    let message = format!("{} is no day like 2026-12-25", quote(&text));
                    self.report("bad-value", &member.span, message);
                }
            }
        }
        days
    }
}
