//! Reads what is promised and told: service levels, notifications.

use std::collections::BTreeMap;

use super::edge::Way;
use super::expression::{Scope, Written};
use super::fields::{Fields, Place};
use super::name::Spelling;
use super::{Reader, TemplatePlace};
use crate::Name;
use crate::pipeline::file::{Entry, Node};
use crate::pipeline::moves::By;
use crate::pipeline::problem::{Problem, quote};
use crate::pipeline::template::{Layout, Part};
use crate::pipeline::{Leg, Missed, Notify, Piece, Sla, Stretch, Template};

/// The most bytes of a template. The text with its places filled in has the same bound.
const TEMPLATE_BYTES_MAX: usize = 64 * 1024;

impl Reader<'_> {
    pub(super) fn state_sla(&mut self, entry: &Entry) -> Option<Sla> {
        let table = self.table(&entry.node)?;
        let mut fields = Fields::new(Place::Inner, table);
        let sla = self.sla(&mut fields, entry);
        self.close(fields);
        Some(sla)
    }

    /// `[sla.NAME]`: a leg between two points of the machine.
    pub(super) fn legs(&mut self, node: Option<&Node>) -> BTreeMap<Name, Leg> {
        let mut legs = BTreeMap::new();
        for entry in self.map(node, "service levels") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Free);
            let Some(table) = self.table(&entry.node) else { continue };
            let mut fields = Fields::new(Place::Inner, table);
            let from = self.states(fields.node("from"));
            let to = self.states(fields.node("to"));
            let not_via = self.states(fields.node("not_via"));
            if !table.has("to") {
                self.missing(
                    &entry.at,
                    format!("the service level {} needs `to`: where it ends", quote(&name)),
                );
            }
            let sla = self.sla(&mut fields, entry);
            self.close(fields);
            legs.insert(name, Leg { from, to, not_via, sla });
        }
        legs
    }

    fn sla(&mut self, fields: &mut Fields<'_>, entry: &Entry) -> Sla {
        let target = fields.node("target");
        let p95 = fields.node("p95");
        if target.is_none() && p95.is_none() {
            self.missing(&entry.at, "a service level needs `target` or `p95`");
        }
        if let Some(notify) = fields.refuse("notify") {
            let problem = Problem::new("key-not-here", notify.at.clone(), "a service level tells nobody");
            self.problems.push(problem.help("write whom being late tells: `missed = { notify = \"lead\" }`"));
        }
        let calendar = fields.node("calendar").and_then(|node| self.calendar(node));
        let target = target.and_then(|node| self.sla_span(node));
        let p95 = p95.and_then(|node| self.sla_span(node));
        let missed = fields.take("missed").and_then(|entry| self.missed(entry));
        Sla { target, p95, calendar, missed }
    }

    /// `missed = { to, notify }`: whom being late tells, and where it leads.
    fn missed(&mut self, entry: &Entry) -> Option<Missed> {
        let table = self.table(&entry.node)?;
        let mut fields = Fields::new(Place::Edge, table);
        let way = Way::new(By::Late);
        let mut edge = self.edge_fields(&mut fields, &entry.node, &way);
        self.misplaced(&mut fields, &way);
        self.close(fields);
        let notify = std::mem::take(&mut edge.notify);
        if edge.to.is_none() && notify.is_empty() {
            self.missing(
                &entry.at,
                "`missed` needs `notify`, `to`, or both: being late is an event without it",
            );
        }
        Some(Missed { notify, edge: edge.to.is_some().then_some(edge) })
    }

    fn calendar(&mut self, node: &Node) -> Option<Name> {
        let text = self.text(node)?;
        if !self.known.calendars.iter().any(|known| known == text) {
            let near = self.near(text, self.known.calendars.iter().map(String::as_str));
            let message = format!("there is no calendar {}", quote(text));
            self.problems.push(Problem::new("unknown-calendar", node.span.clone(), message).suggest(near));
        }
        Some(text.into())
    }

    /// `"15s"`, or business days: `"5bd"`.
    fn sla_span(&mut self, node: &Node) -> Option<Stretch> {
        let text = self.text(node)?;
        match text.parse::<Stretch>() {
            Ok(span) if span.is_zero() => {
                self.report("bad-span", &node.span, "a service level must be longer than zero");
                None
            }
            Ok(span) => Some(span),
            Err(error) => {
                self.report("bad-span", &node.span, error);
                None
            }
        }
    }

    pub(super) fn notify(&mut self, node: Option<&Node>) -> BTreeMap<Name, Notify> {
        let mut notifications = BTreeMap::new();
        for entry in self.map(node, "notifications") {
            let name = self.spelled(&entry.key, &entry.at, Spelling::Free);
            let Some(table) = self.table(&entry.node) else { continue };
            let mut fields = Fields::new(Place::Inner, table);
            let mail = fields.node("mail").and_then(|node| self.expression(node, Scope::Move));
            let webhook = fields.node("webhook").and_then(|node| self.expression(node, Scope::Move));
            if !table.has("mail") && !table.has("webhook") {
                self.missing(
                    &entry.at,
                    format!("the notification {} needs `mail` or `webhook`", quote(&name)),
                );
            }
            let template = fields.node("template").and_then(|node| self.template(node, &name));
            if table.has("template") && !table.has("mail") {
                let message = "a template is the text of a mail; an endpoint gets the event as JSON";
                self.report("key-not-here", &entry.at, message);
            }
            self.close(fields);
            notifications.insert(name, Notify { mail, webhook, template });
        }
        notifications
    }

    /// The text of a mail. What is wrong in it is reported where it stands: in its own file.
    fn template(&mut self, node: &Node, notification: &Name) -> Option<Template> {
        let (path, text) = self.attachment(node)?;
        if text.len() > TEMPLATE_BYTES_MAX {
            self.report("too-large", &node.span, format!("the template {} is over 64 KB", quote(&path)));
            return None;
        }
        let Layout { subject, body } = match Layout::of(&text) {
            Ok(layout) => layout,
            Err(fault) => {
                let problem = Problem::new("bad-template", fault.at, fault.message);
                self.problems.push(problem.within(Some(&path)));
                return None;
            }
        };
        for range in subject.iter().chain(&body).filter_map(Part::place) {
            let (notification, file) = (notification.clone(), path.clone());
            let (start, text) = (range.start, text[range].to_owned());
            self.places.push(TemplatePlace { notification, file, start, text });
        }
        let subject = subject.iter().map(|part| self.piece(part, &path, &text)).collect();
        let body = body.iter().map(|part| self.piece(part, &path, &text)).collect();
        Some(Template { path, subject, body })
    }

    fn piece(&mut self, part: &Part, path: &str, text: &str) -> Piece {
        match part {
            Part::Text(range) => Piece::Text(text[range.clone()].to_owned()),
            Part::Place(range) => {
                let written = Written::There { file: path, start: range.start };
                Piece::Place(self.compile_at(&text[range.clone()], Scope::Message, &written))
            }
        }
    }
}
