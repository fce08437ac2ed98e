//! A pipeline file as a tree in which everything knows where it was written, in the order it was written.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Problem, Problems, Span};

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    /// The number as written, so that no digit is lost.
    Float(String),
    Bool(bool),
    Date(toml::value::Datetime),
    List(Vec<Node>),
    Table(Table),
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// The place where the key is written.
    pub(crate) at: Span,
    pub(crate) node: Node,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Table(Vec<Entry>);

impl Table {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    pub(crate) fn table(&self, key: &str) -> Option<&Table> {
        self.get(key).and_then(Node::as_table)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.0.iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|entry| entry.key.as_str())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// The table under `key`, made empty at `at` if there is none; `None` if something else is there.
    pub(crate) fn table_mut(&mut self, key: &str, at: &Span) -> Option<&mut Table> {
        let index = match self.0.iter().position(|entry| entry.key == key) {
            Some(index) => index,
            None => {
                let node = Node { value: Value::Table(Table::default()), span: at.clone() };
                self.0.push(Entry { key: key.to_owned(), at: at.clone(), node });
                self.0.len() - 1
            }
        };
        match &mut self.0[index].node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}

impl Node {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The members of a list, or the one thing that may be written instead of a list of one.
    pub(crate) fn one_or_many(&self) -> &[Node] {
        match &self.value {
            Value::List(nodes) => nodes,
            _ => std::slice::from_ref(self),
        }
    }

    /// Returns the type of the value, with its article, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a boolean",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Returns where a part of a string's text is written. A string with escapes has no such place: then the whole
    /// string.
    pub(crate) fn part(&self, part: &Span, toml: &str) -> Span {
        let Some(text) = self.as_text() else { return self.span.clone() };
        let raw = toml.get(self.span.clone()).unwrap_or_default();
        let opening = ["\"\"\"\n", "\"\"\"\r\n", "'''\n", "'''\r\n", "\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|opening| raw.starts_with(opening) && raw.len() >= 2 * opening.trim_end().len());
        let Some(opening) = opening else { return self.span.clone() };
        let closing = opening.trim_end().len();
        let inner = raw.get(opening.len()..raw.len() - closing);
        let inside = part.start <= part.end && part.end <= text.len();
        if inner != Some(text) || !inside {
            return self.span.clone();
        }
        let start = self.span.start + opening.len();
        start + part.start..start + part.end
    }
}

/// Parses as much as can be understood; what cannot is among the problems.
pub(crate) fn parse(toml: &str, problems: &mut Problems) -> Table {
    let (document, errors) = DeTable::parse_recoverable(toml);
    problems.extend(errors.into_iter().map(|error| {
        let span = error.span().unwrap_or(0..0);
        Problem::new("syntax", span, error.message())
    }));
    table(document.get_ref(), problems)
}

fn table(source: &DeTable<'_>, problems: &mut Problems) -> Table {
    let mut entries: Vec<Entry> = source
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            at: key.span(),
            node: node(value, problems),
        })
        .collect();
    entries.sort_by_key(|entry| entry.at.start);
    Table(entries)
}

fn node(source: &Spanned<DeValue<'_>>, problems: &mut Problems) -> Node {
    let span = source.span();
    let value = match source.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
            if parsed.is_err() {
                problems.push(Problem::new("syntax", span.clone(), "the number does not fit into 64 bits"));
            }
            Value::Integer(parsed.unwrap_or_default())
        }
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(date) => Value::Date(*date),
        DeValue::Array(list) => Value::List(list.iter().map(|value| node(value, problems)).collect()),
        DeValue::Table(inner) => Value::Table(table(inner, problems)),
    };
    Node { value, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part_of(toml: &str, part: Span) -> &str {
        let mut problems = Problems::default();
        let table = parse(toml, &mut problems);
        let span = table.get("when").expect("the key is there").part(&part, toml);
        &toml[span]
    }

    #[test]
    fn tables_keep_the_order_of_the_file() {
        let mut problems = Problems::default();
        let table = parse("[states.B]\n[params]\n[states.A]\n", &mut problems);
        let states: Vec<_> = table.table("states").expect("there are states").keys().collect();
        assert_eq!(states, ["B", "A"]);
        assert!(problems.is_empty());
    }

    #[test]
    fn part_of_a_string_is_found_in_the_file() {
        assert_eq!(part_of("when = \"a + bee\"", 4..7), "bee");
        assert_eq!(part_of("when = 'a + bee'", 4..7), "bee");
        assert_eq!(part_of("when = \"\"\"\na + bee\"\"\"", 4..7), "bee");
        assert_eq!(part_of("when = '''a + bee'''", 4..7), "bee");
    }

    #[test]
    fn part_of_an_escaped_string_is_the_whole_string() {
        assert_eq!(part_of("when = \"a\\t+ bee\"", 4..7), "\"a\\t+ bee\"");
        assert_eq!(part_of("when = \"a\"", 4..7), "\"a\"");
    }

    #[test]
    fn every_syntax_error_is_found_and_the_rest_is_kept() {
        let mut problems = Problems::default();
        let table = parse("name = \"x\nname = 2\nversion = 1\ntitle =\n", &mut problems);
        assert!(problems.len() >= 2, "{problems}");
        assert!(table.has("version"));
    }
}
