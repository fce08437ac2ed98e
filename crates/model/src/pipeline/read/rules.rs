//! The pipeline's own rules: lane, limits, amend, schedule, calendars.

use std::collections::BTreeMap;

use super::Reader;
use super::expression::Scope;
use super::fields::{Fields, Place};
use super::name::Spelling;
use crate::Name;
use crate::json::{Json, Value as JsonValue};
use crate::pipeline::file::{Entry, Node, Value};
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::{Amend, AmendLease, Calendar, Lane, OnDead, Schedule};
use crate::role::Role;

impl Reader<'_> {
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
        let cron = fields.node("cron").and_then(|node| self.cron(node));
        if !table.has("cron") {
            self.missing(&node.span, "`schedule` needs `cron`: when to submit");
        }
        let timezone = fields.node("timezone").and_then(|node| self.timezone(node));
        let payload = fields.node("payload").and_then(|node| {
            self.table(node)?;
            Some(Json::from_value(&self.json(node)))
        });
        self.close(fields);
        let payload = payload.unwrap_or_else(|| Json::from_value(&JsonValue::Object(BTreeMap::new())));
        Some(Schedule { cron: cron?, timezone, payload })
    }

    /// Only the shape: five or six fields of the letters that cron uses.
    fn cron(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        let field = |field: &str| field.chars().all(|c| c.is_ascii_alphanumeric() || "*,/-?#".contains(c));
        let fields = text.split_ascii_whitespace();
        if !(5..=6).contains(&fields.clone().count()) || !fields.clone().all(field) {
            let message = format!("{} is no cron line: five fields, or six with seconds first", quote(text));
            self.report("bad-value", &node.span, message);
        }
        Some(text.to_owned())
    }

    fn timezone(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        let shaped = text.chars().all(|c| c.is_ascii_alphanumeric() || "_+-/".contains(c));
        if text.is_empty() || text.len() > 64 || !shaped {
            self.report(
                "bad-value",
                &node.span,
                format!("{} is no time zone like `Europe/Paris`", quote(text)),
            );
        }
        Some(text.to_owned())
    }

    pub(super) fn calendars(&mut self, node: Option<&Node>) -> BTreeMap<Name, Calendar> {
        let mut calendars = BTreeMap::new();
        for entry in self.map(node, "calendars") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Free);
            let Some(table) = self.table(&entry.node) else { continue };
            let mut fields = Fields::new(Place::Inner, table);
            let timezone = fields.node("timezone").and_then(|node| self.timezone(node));
            let holidays = fields.node("holidays").map(|node| self.holidays(node)).unwrap_or_default();
            self.close(fields);
            calendars.insert(name, Calendar { timezone, holidays });
        }
        calendars
    }

    /// Days as TOML dates or as text.
    fn holidays(&mut self, node: &Node) -> Vec<String> {
        const DAYS_MAX: usize = 1_000;
        let members = node.one_or_many();
        self.bound("holidays", members.len(), DAYS_MAX, &node.span);
        let mut days = Vec::new();
        for member in members.iter().take(DAYS_MAX) {
            let text = match &member.value {
                Value::Date(date) => date.to_string(),
                Value::Text(text) => text.clone(),
                _ => {
                    self.wrong_type(member, "a day like 2026-12-25");
                    continue;
                }
            };
            if text.len() != "2026-12-25".len() || text.parse::<jiff::civil::Date>().is_err() {
                self.report("bad-value", &member.span, format!("{} is no day like 2026-12-25", quote(&text)));
            }
            days.push(text);
        }
        days
    }
}
