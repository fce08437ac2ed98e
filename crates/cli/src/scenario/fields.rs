//! Tables of a scenario file, read key by key: what is wrong is noted with its place, and what nobody asked for too.

use model::Millis;
use model::json::{Number, Value};
use model::pipeline::{Problem, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Problems = Vec<Problem>;

pub(super) fn problem(code: &'static str, span: Span, message: impl Into<String>) -> Problem {
    Problem { code, message: message.into(), file: None, span, help: None }
}

/// A table whose keys are taken one after the other.
pub(super) struct Fields<'a> {
    entries: Vec<Field<'a>>,
    /// The place where the table is written.
    pub(super) at: Span,
}

#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    pub(super) key_at: Span,
    pub(super) value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(table: &'a DeTable<'a>, at: Span) -> Self {
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, value)| Field { key: key.get_ref().as_ref(), key_at: key.span(), value })
            .collect();
        entries.sort_by_key(|field| field.key_at.start);
        Fields { entries, at }
    }

    /// A value that must be a table.
    pub(super) fn inside(
        value: &'a Spanned<DeValue<'a>>,
        what: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Fields::of(table, value.span())),
            _ => {
                problems.push(problem("wrong-type", value.span(), format!("{what} is a table")));
                None
            }
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|field| field.key == key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Field<'a>> {
        self.entries.iter()
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Field<'a>> {
        let index = self.entries.iter().position(|field| field.key == key)?;
        Some(self.entries.remove(index))
    }

    pub(super) fn text(&mut self, key: &str, problems: &mut Problems) -> Option<String> {
        self.take(key)?.text(problems)
    }

    pub(super) fn flag(&mut self, key: &str, problems: &mut Problems) -> Option<bool> {
        let field = self.take(key)?;
        match field.value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => field.wrong("true or false", problems),
        }
    }

    pub(super) fn whole(&mut self, key: &str, problems: &mut Problems) -> Option<i64> {
        let field = self.take(key)?;
        match field.json(problems)?.as_i64() {
            Some(number) => Some(number),
            None => field.wrong("a whole number", problems),
        }
    }

    pub(super) fn span(&mut self, key: &str, problems: &mut Problems) -> Option<Millis> {
        self.take(key)?.span(problems)
    }

    /// Text that is parsed into something else.
    pub(super) fn parsed<T: std::str::FromStr<Err: ToString>>(
        &mut self,
        key: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        let field = self.take(key)?;
        let text = field.text(problems)?;
        text.parse()
            .map_err(|error: T::Err| problems.push(problem("bad-value", field.at(), error.to_string())))
            .ok()
    }

    pub(super) fn json(&mut self, key: &str, problems: &mut Problems) -> Option<Value> {
        self.take(key)?.json(problems)
    }

    /// Every key left is one too many.
    pub(super) fn end(self, what: &str, known: &[&str], problems: &mut Problems) {
        for field in self.entries {
            let mut found =
                problem("unknown-key", field.key_at, format!("{what} has no key `{}`", field.key));
            found.help = Some(format!("it has {}", known.join(", ")));
            problems.push(found);
        }
    }
}

impl<'a> Field<'a> {
    pub(super) fn at(&self) -> Span {
        self.value.span()
    }

    pub(super) fn wrong<T>(&self, wanted: &str, problems: &mut Problems) -> Option<T> {
        problems.push(problem("wrong-type", self.at(), format!("`{}` is {wanted}", self.key)));
        None
    }

    pub(super) fn text(&self, problems: &mut Problems) -> Option<String> {
        match self.value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => self.wrong("text", problems),
        }
    }

    pub(super) fn span(&self, problems: &mut Problems) -> Option<Millis> {
        let text = self.text(problems)?;
        text.parse().map_err(|error| problems.push(problem("bad-span", self.at(), format!("{error}")))).ok()
    }

    pub(super) fn list(&self, problems: &mut Problems) -> Option<Vec<&'a Spanned<DeValue<'a>>>> {
        match self.value.get_ref() {
            DeValue::Array(list) => Some(list.iter().collect()),
            _ => self.wrong("a list", problems),
        }
    }

    pub(super) fn texts(&self, problems: &mut Problems) -> Option<Vec<String>> {
        let list = self.list(problems)?;
        let texts = list.iter().map(|value| match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        });
        let texts: Option<Vec<_>> = texts.collect();
        if texts.is_none() {
            return self.wrong("a list of texts", problems);
        }
        texts
    }

    pub(super) fn json(&self, problems: &mut Problems) -> Option<Value> {
        json(self.value, problems)
    }
}

/// TOML as JSON. Dates become text, and what JSON cannot write is a problem.
pub(super) fn json(value: &Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Value> {
    let number = |literal: String| {
        let literal = literal.replace('_', "");
        Number::parse(literal.strip_prefix('+').unwrap_or(&literal)).ok().map(Value::from)
    };
    let read = match value.get_ref() {
        DeValue::String(text) => Some(Value::from(text.to_string())),
        DeValue::Boolean(flag) => Some(Value::from(*flag)),
        DeValue::Datetime(date) => Some(Value::from(date.to_string())),
        DeValue::Float(float) => number(float.as_str().to_owned()),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) => Some(Value::from(number)),
            Err(_) => number(integer.as_str().to_owned()),
        },
        DeValue::Array(list) => {
            let list: Option<Vec<_>> = list.iter().map(|value| json(value, problems)).collect();
            return list.map(Value::Array);
        }
        DeValue::Table(table) => {
            let member = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                Some((key.to_string(), json(value, problems)?))
            };
            let members: Option<std::collections::BTreeMap<_, _>> = table.iter().map(member).collect();
            return members.map(Value::Object);
        }
    };
    if read.is_none() {
        problems.push(problem("bad-value", value.span(), "JSON cannot write this number"));
    }
    read
}
