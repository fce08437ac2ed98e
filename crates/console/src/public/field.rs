//! Fields of a form that is made from a schema: what each asks for, what was typed, and the JSON it comes to.

use askama::Template;
use askama::filters::HtmlSafe;
use serde_json::Value;
use wire::Json;

use crate::fields::Fields;

/// The name of the input for the document as a whole; that of a field is this and its JSON pointer.
pub(crate) const WHOLE: &str = "p";

/// A field, with what was typed into it and what is wrong with that.
#[derive(Debug, Clone, Template)]
#[template(path = "public/field.html", whitespace = "minimize")]
pub(crate) struct Field {
    /// The JSON pointer to the value.
    pub(crate) pointer: String,
    /// The member of its object that it is; empty for the document as a whole.
    pub(crate) member: String,
    /// The element's id.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) help: String,
    pub(crate) example: String,
    pub(crate) required: bool,
    /// Set if a browser may insist on a value: the field and all the groups it is in are required.
    pub(crate) insists: bool,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    pub(crate) problems: Vec<String>,
}

/// The way a field is asked for.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// One line of text, by the type of its input.
    Line(&'static str),
    /// Lines of text, as many of which are shown at first.
    Text {
        rows: u8,
    },
    Number,
    Yes,
    Choice(Vec<Choice>),
    /// Any of these.
    Several(Vec<Choice>),
    /// A list, one a line.
    Lines {
        of_numbers: bool,
    },
    Group(Vec<Field>),
    /// JSON, where no form can be drawn.
    Document,
}

/// A value that may be chosen.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// The value, as JSON.
    pub(crate) json: String,
    pub(crate) text: String,
    pub(crate) picked: bool,
}

impl HtmlSafe for Field {}

impl Field {
    pub(crate) fn name(&self) -> String {
        format!("{WHOLE}{}", self.pointer)
    }

    /// Returns the ids of what describes the input.
    fn described(&self) -> String {
        let help = (!self.help.is_empty()).then(|| format!("{}-help", self.id));
        let problem = (!self.problems.is_empty()).then(|| format!("{}-problem", self.id));
        help.into_iter().chain(problem).collect::<Vec<_>>().join(" ")
    }

    fn is_json(&self) -> bool {
        matches!(self.kind, Kind::Document)
    }

    /// Takes in what was typed.
    pub(crate) fn fill(&mut self, form: &Fields) {
        let name = self.name();
        let typed = || form.all(&name).next().unwrap_or_default().replace("\r\n", "\n");
        match &mut self.kind {
            Kind::Group(fields) => fields.iter_mut().for_each(|field| field.fill(form)),
            Kind::Several(choices) => {
                choices
                    .iter_mut()
                    .for_each(|choice| choice.picked = form.all(&name).any(|json| json == choice.json));
            }
            Kind::Choice(choices) => {
                self.value = typed();
                choices.iter_mut().for_each(|choice| choice.picked = choice.json == self.value);
            }
            Kind::Line(_) | Kind::Number => typed().trim().clone_into(&mut self.value),
            Kind::Text { .. } | Kind::Yes | Kind::Lines { .. } | Kind::Document => self.value = typed(),
        }
    }

    /// Tells whether nothing was filled in.
    fn is_blank(&self) -> bool {
        match &self.kind {
            Kind::Group(fields) => fields.iter().all(Field::is_blank),
            Kind::Several(choices) => !choices.iter().any(|choice| choice.picked),
            _ => self.value.trim().is_empty(),
        }
    }

    /// Returns the JSON of what was typed; none where nothing was. A number goes on as it was typed, and what is none goes on
    /// as a text, for the schema to refuse.
    pub(crate) fn json(&self) -> Option<String> {
        let text = |text: &str| Value::from(text).to_string();
        if self.is_blank() {
            return match &self.kind {
                Kind::Yes => Some("false".to_owned()),
                Kind::Group(_) if self.required => Some(self.object()),
                Kind::Several(_) | Kind::Lines { .. } if self.required => Some("[]".to_owned()),
                _ => None,
            };
        }
        Some(match &self.kind {
            Kind::Line(_) | Kind::Text { .. } => text(&self.value),
            Kind::Number => number(&self.value),
            Kind::Yes => "true".to_owned(),
            Kind::Choice(choices) => {
                let known = choices.iter().find(|choice| choice.picked);
                known.map_or_else(|| text(&self.value), |choice| choice.json.clone())
            }
            Kind::Several(choices) => {
                let picked = choices.iter().filter(|choice| choice.picked).map(|choice| choice.json.as_str());
                format!("[{}]", picked.collect::<Vec<_>>().join(","))
            }
            Kind::Lines { of_numbers } => {
                let lines = self.value.lines().map(str::trim).filter(|line| !line.is_empty());
                let items = lines.map(|line| if *of_numbers { number(line) } else { text(line) });
                format!("[{}]", items.collect::<Vec<_>>().join(","))
            }
            Kind::Group(_) => self.object(),
            Kind::Document => match Json::parse(self.value.trim()) {
                Ok(json) => json.as_str().to_owned(),
                Err(_) => text(&self.value),
            },
        })
    }

    fn object(&self) -> String {
        match &self.kind {
            Kind::Group(fields) => object(fields),
            _ => "{}".to_owned(),
        }
    }

    /// Says what can be said without the schema: that a field is missing, or that a document is no JSON. Returns whether
    /// something is wrong.
    pub(crate) fn look(&mut self) -> bool {
        let (blank, required) = (self.is_blank(), self.required);
        match &mut self.kind {
            // Of an object that may be left out and was, nothing is missing.
            Kind::Group(fields) if required || !blank => {
                return fields.iter_mut().map(Field::look).fold(false, |wrong, next| wrong | next);
            }
            Kind::Group(_) | Kind::Yes | Kind::Several(_) | Kind::Lines { .. } => {}
            Kind::Document if !blank => {
                if let Err(error) = Json::parse(self.value.trim()) {
                    self.problems.push(format!("This is not strict JSON: {error}"));
                }
            }
            _ if required && blank => self.problems.push("Please fill this in".to_owned()),
            _ => {}
        }
        !self.problems.is_empty()
    }

    /// Returns the field nearest to a place in the document.
    pub(crate) fn at(&mut self, pointer: &str) -> Option<&mut Field> {
        let rest = pointer.strip_prefix(self.pointer.as_str())?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        let inner = match &self.kind {
            Kind::Group(fields) => fields.iter().position(|field| {
                pointer
                    .strip_prefix(field.pointer.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
            _ => None,
        };
        match (inner, &self.kind) {
            (Some(inner), Kind::Group(_)) => self.inner(inner)?.at(pointer),
            _ => Some(self),
        }
    }

    fn inner(&mut self, index: usize) -> Option<&mut Field> {
        match &mut self.kind {
            Kind::Group(fields) => fields.get_mut(index),
            _ => None,
        }
    }

    /// Lists the fields with something wrong: id and title.
    pub(crate) fn wrong(&self, into: &mut Vec<(String, String)>) {
        if !self.problems.is_empty() {
            into.push((self.id.clone(), self.title.clone()));
        }
        if let Kind::Group(fields) = &self.kind {
            fields.iter().for_each(|field| field.wrong(into));
        }
    }
}

/// Returns the object of what was typed into fields.
pub(crate) fn object(fields: &[Field]) -> String {
    let member = |field: &Field| Some(format!("{}:{}", Value::from(field.member.as_str()), field.json()?));
    format!("{{{}}}", fields.iter().filter_map(member).collect::<Vec<_>>().join(","))
}

fn number(typed: &str) -> String {
    let is_number = typed.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match is_number && Json::parse(typed).is_ok() {
        true => typed.to_owned(),
        false => Value::from(typed).to_string(),
    }
}
