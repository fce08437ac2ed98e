//! Draws a form from a JSON Schema. What a form cannot ask for is asked for as JSON, the smallest part of it that is so. The
//! schema itself decides what is taken; the drawing is only how it is asked.

use serde_json::Value;

use super::field::{Choice, Field, Kind};
use super::ordered::{members_of, ordered};
use crate::actions::title;

/// Fields of a form, and levels of objects within objects. Beyond, JSON is asked for.
const FIELDS_MAX: usize = 100;
const DEPTH_MAX: usize = 3;
/// Values to choose among; of so few, any number may be picked.
const CHOICES_MAX: usize = 250;
const SEVERAL_MAX: usize = 30;
/// References that lead on to others.
const REFERENCES_MAX: usize = 16;
/// A text that may be longer has more than one line.
const LINE_MAX: u64 = 200;
const TEXT_CHARS_MAX: usize = 1_000;

/// Draws the fields of a schema; of the members that are named alone, where some are.
pub(super) fn draw(schema: Option<&str>, only: Option<&[String]>) -> Vec<Field> {
    let schema = schema.and_then(ordered).unwrap_or(Value::Bool(true));
    let mut drawing = Drawing { root: &schema, count: 0 };
    let whole = drawing.resolved(&schema);
    let members = members_of(whole).len();
    let is_object = only_type(whole).is_none_or(|kind| kind == "object");
    if members == 0 || members > FIELDS_MAX || !is_object {
        return vec![drawing.document(&schema, ("", ""), true)];
    }
    let fields = drawing.members(whole, "", 0);
    match only {
        None => fields,
        Some(names) => {
            let named = |name: &String| fields.iter().find(|field| field.member == *name).cloned();
            names.iter().filter_map(named).collect()
        }
    }
}

/// Lets a group be left out: a browser that insists on a part of it would keep the whole form.
fn insist_on_nothing(field: &mut Field) {
    field.insists = false;
    if let Kind::Group(inner) = &mut field.kind {
        inner.iter_mut().for_each(insist_on_nothing);
    }
}

struct Drawing<'a> {
    root: &'a Value,
    count: usize,
}

impl<'a> Drawing<'a> {
    fn members(&mut self, object: &'a Value, pointer: &str, depth: usize) -> Vec<Field> {
        let required: Vec<&str> = list(object, "required").iter().filter_map(Value::as_str).collect();
        let mut fields = Vec::new();
        for (name, about) in members_of(object) {
            let inner = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            let required = required.contains(&name);
            let mut field = self.field(about, (&inner, name), required, depth);
            if !required {
                insist_on_nothing(&mut field);
            }
            fields.push(field);
        }
        // Those that have to be filled in come first; otherwise the schema's order stays.
        fields.sort_by_key(|field| !field.required);
        fields
    }

    fn field(&mut self, about: &'a Value, at: (&str, &str), required: bool, depth: usize) -> Field {
        let schema = self.resolved(about);
        let kind = match self.count < FIELDS_MAX {
            true => self.kind(schema, at.0, depth),
            false => None,
        };
        let Some(kind) = kind else { return self.document(about, at, required) };
        let example = list(schema, "examples").first().map(plain).unwrap_or_default();
        let mut field = Field { kind, example, ..self.document(about, at, required) };
        field.help = help(about, schema, &field.kind);
        if let Some(default) = either(about, schema, "default") {
            preset(&mut field, default);
        } else if let (Kind::Choice(choices), true) = (&mut field.kind, required)
            && let [only] = &mut choices[..]
        {
            only.picked = true;
            field.value.clone_from(&only.json);
        }
        field
    }

    fn document(&mut self, about: &'a Value, (pointer, member): (&str, &str), required: bool) -> Field {
        self.count += 1;
        let schema = self.resolved(about);
        let given = either(about, schema, "title").and_then(Value::as_str).map(cut);
        let whole = || if member.is_empty() { "What you submit (JSON)".to_owned() } else { title(member) };
        let mut field = Field {
            pointer: pointer.to_owned(),
            member: member.to_owned(),
            id: format!("f{}", self.count),
            title: if member.is_empty() { whole() } else { given.unwrap_or_else(whole) },
            help: help(about, schema, &Kind::Document),
            example: String::new(),
            required,
            insists: required,
            kind: Kind::Document,
            value: String::new(),
            problems: Vec::new(),
        };
        if let Some(default) = either(about, schema, "default") {
            preset(&mut field, default);
        }
        field
    }

    /// Returns how a value is asked for; none where that takes JSON.
    fn kind(&mut self, schema: &'a Value, pointer: &str, depth: usize) -> Option<Kind> {
        if let Some(choices) = choices(schema) {
            return (choices.len() <= CHOICES_MAX).then_some(Kind::Choice(choices));
        }
        match only_type(schema)? {
            "string" => Some(text_kind(schema)),
            "integer" | "number" => Some(Kind::Number),
            "boolean" => Some(Kind::Yes),
            "array" => self.list_kind(schema),
            "object" if depth < DEPTH_MAX => {
                let members = members_of(schema);
                let fits = !members.is_empty() && self.count + members.len() <= FIELDS_MAX;
                fits.then(|| Kind::Group(self.members(schema, pointer, depth + 1)))
            }
            _ => None,
        }
    }

    fn list_kind(&self, schema: &'a Value) -> Option<Kind> {
        if schema.get("prefixItems").is_some() {
            return None;
        }
        let items = self.resolved(schema.get("items")?);
        if let Some(choices) = choices(items) {
            return (choices.len() <= SEVERAL_MAX).then_some(Kind::Several(choices));
        }
        match only_type(items)? {
            "string" => Some(Kind::Lines { of_numbers: false }),
            "integer" | "number" => Some(Kind::Lines { of_numbers: true }),
            _ => None,
        }
    }

    /// Follows references within the schema.
    fn resolved(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..REFERENCES_MAX {
            let Some(place) = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'))
            else {
                break;
            };
            let Some(found) = self.root.pointer(place) else { break };
            schema = found;
        }
        schema
    }
}

/// Returns the one type that a value has, besides being null.
fn only_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(one) => Some(one),
        Value::Array(many) => {
            let mut known = many.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            let first = known.next()?;
            known.next().is_none().then_some(first)
        }
        _ => None,
    }
}

fn text_kind(schema: &Value) -> Kind {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let most = schema.get("maxLength").and_then(Value::as_u64);
    match format {
        "email" | "idn-email" => Kind::Line("email"),
        "uri" | "iri" => Kind::Line("url"),
        "date" => Kind::Line("date"),
        "" if schema.get("pattern").is_none() && most.is_none_or(|most| most > LINE_MAX) => {
            // One that says nothing may be anything: it begins as a line and grows.
            Kind::Text { rows: if most.is_some() { 4 } else { 1 } }
        }
        _ => Kind::Line("text"),
    }
}

/// Returns the values among which one is chosen, where the schema lists them.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value, text: Option<&str>| Choice {
        json: value.to_string(),
        text: text.map_or_else(|| plain(value), cut),
        picked: false,
    };
    if let Some(value) = schema.get("const").filter(|value| !value.is_boolean()) {
        return Some(vec![choice(value, None)]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().map(|value| choice(value, None)).collect());
    }
    let ways = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array())?;
    let titled = |way: &Value| Some(choice(way.get("const")?, way.get("title").and_then(Value::as_str)));
    ways.iter().map(titled).collect()
}

fn preset(field: &mut Field, default: &Value) {
    field.value = match (&field.kind, default) {
        (Kind::Yes, Value::Bool(yes)) => if *yes { "1" } else { "" }.to_owned(),
        (Kind::Choice(_) | Kind::Document, value) => value.to_string(),
        (Kind::Lines { .. }, Value::Array(values)) => values.iter().map(plain).collect::<Vec<_>>().join("\n"),
        (Kind::Group(_) | Kind::Several(_), _) => String::new(),
        (_, value) => plain(value),
    };
    let listed: Vec<String> = default.as_array().into_iter().flatten().map(Value::to_string).collect();
    match &mut field.kind {
        Kind::Choice(choices) => {
            choices.iter_mut().for_each(|choice| choice.picked = choice.json == field.value)
        }
        Kind::Several(choices) => {
            choices.iter_mut().for_each(|choice| choice.picked = listed.contains(&choice.json));
        }
        _ => {}
    }
}

/// Returns what is said below a field: its description, and its bounds in words.
fn help(about: &Value, schema: &Value, kind: &Kind) -> String {
    let described = either(about, schema, "description").and_then(Value::as_str).map(cut);
    let number = |key: &str| schema.get(key).filter(|value| value.is_number()).map(ToString::to_string);
    let bounds = match kind {
        Kind::Number => match (number("minimum"), number("maximum")) {
            (Some(least), Some(most)) => Some(format!("From {least} to {most}.")),
            (Some(least), None) => Some(format!("{least} or more.")),
            (None, Some(most)) => Some(format!("{most} or less.")),
            (None, None) => None,
        },
        Kind::Line(_) | Kind::Text { .. } => {
            number("maxLength").map(|most| format!("At most {most} characters."))
        }
        Kind::Lines { .. } => Some(match number("maxItems") {
            Some(most) => format!("One per line, at most {most}."),
            None => "One per line.".to_owned(),
        }),
        _ => None,
    };
    described.into_iter().chain(bounds).collect::<Vec<_>>().join(" ")
}

/// Returns a keyword of a reference's own, or of what it refers to.
fn either<'v>(about: &'v Value, schema: &'v Value, key: &str) -> Option<&'v Value> {
    about.get(key).or_else(|| schema.get(key))
}

fn list<'v>(schema: &'v Value, key: &str) -> &'v [Value] {
    schema.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    crate::parts::cut(text, TEXT_CHARS_MAX)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
