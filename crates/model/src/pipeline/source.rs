//! The source that a pipeline is loaded from, and the exact bytes of it that are stored and hashed.

use std::collections::BTreeMap;

use super::file::{self, Node, Table, Value as Toml};
use super::problem::Problems;
use crate::json::{Json, Value};

/// The version of the stored form. Every form ever stored stays readable.
const FORMAT: u64 = 1;

/// A pipeline file, the files it names, and what the deployment sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The name of the file in messages.
    pub file: String,
    pub toml: String,
    /// Schemas and templates, under the paths that are written in the file.
    pub files: BTreeMap<String, String>,
    /// An object: parameters the deployment sets in place of their defaults. Null is the default, and no part of the
    /// definition.
    pub params: Value,
}

impl Source {
    /// A file that names no others, with its parameters as they are.
    #[must_use]
    pub fn new(file: impl Into<String>, toml: impl Into<String>) -> Self {
        Source {
            file: file.into(),
            toml: toml.into(),
            files: BTreeMap::new(),
            params: Value::Object(BTreeMap::new()),
        }
    }

    /// The bytes that are stored and hashed. Files that the pipeline does not name are no part of it.
    #[must_use]
    pub fn to_definition(&self) -> Json {
        let named = attachments(&self.toml);
        let files = self.files.iter().filter(|(path, _)| named.contains(path));
        let files: Value = files.map(|(path, text)| (path.clone(), text.clone())).collect();
        let members = [
            ("files", files),
            ("format", Value::from(FORMAT)),
            ("params", self.set_params()),
            ("toml", Value::from(self.toml.as_str())),
        ];
        Json::from_value(&members.into_iter().collect())
    }

    /// The same file with every parameter as it is written there.
    #[must_use]
    pub fn without_params(&self) -> Self {
        Source { params: Value::Object(BTreeMap::new()), ..self.clone() }
    }

    fn set_params(&self) -> Value {
        let Some(params) = self.params.as_object() else { return self.params.clone() };
        let set = params.iter().filter(|(_, value)| **value != Value::Null);
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Reads what [`Source::to_definition`] wrote.
    pub fn from_definition(definition: &Json) -> Result<Self, String> {
        let value = definition.value();
        if value.get("format").and_then(Value::as_u64) != Some(FORMAT) {
            return Err(format!("the definition is not of format {FORMAT}; a newer version may read it"));
        }
        let toml = value.get("toml").and_then(Value::as_str).ok_or("the definition has no `toml`")?;
        let params = value.get("params").ok_or("the definition has no `params`")?;
        let files = value.get("files").and_then(Value::as_object).ok_or("the definition has no `files`")?;
        let files = files.iter().map(|(path, text)| match text.as_str() {
            Some(text) => Ok((path.clone(), text.to_owned())),
            None => Err(format!("the definition's file {path} is no text")),
        });
        Ok(Source {
            file: "pipeline.toml".to_owned(),
            toml: toml.to_owned(),
            files: files.collect::<Result<_, _>>()?,
            params: params.clone(),
        })
    }
}

/// More files than this a pipeline does not name.
const ATTACHMENTS_MAX: usize = 100;

/// The paths of the schemas and templates a pipeline file names, each once. Only those that `load` would accept: whoever
/// reads them from a folder cannot be led out of it.
#[must_use]
pub fn attachments(toml: &str) -> Vec<String> {
    let root = file::parse(toml, &mut Problems::default());
    let mut paths = Vec::new();
    let mut name = |node: Option<&Node>| {
        let Some(path) = node.and_then(Node::as_text) else { return };
        if paths.len() < ATTACHMENTS_MAX
            && path_fault(path).is_none()
            && !paths.iter().any(|known| known == path)
        {
            paths.push(path.to_owned());
        }
    };
    name(root.get("payload"));
    for notification in tables(root.table("notify")) {
        name(notification.get("template"));
    }
    for state in tables(root.table("states")).chain(root.table("defaults")) {
        match state.get("output").map(|node| (node, node.as_table())) {
            Some((_, Some(outcomes))) => outcomes.iter().for_each(|entry| name(Some(&entry.node))),
            Some((path, None)) => name(Some(path)),
            None => {}
        }
        for action in state.table("actions").into_iter().flat_map(Table::iter) {
            for edge in action.node.one_or_many() {
                name(edge.as_table().and_then(|edge| edge.get("data")));
            }
        }
    }
    paths
}

fn tables(parent: Option<&Table>) -> impl Iterator<Item = &Table> {
    parent.into_iter().flat_map(Table::iter).filter_map(|entry| match &entry.node.value {
        Toml::Table(table) => Some(table),
        _ => None,
    })
}

/// Returns what is wrong with a path, if something is. The same everywhere, whatever the machine's own rules are.
pub(crate) fn path_fault(path: &str) -> Option<&'static str> {
    const BYTES_MAX: usize = 200;
    if path.is_empty() {
        Some("the path is empty")
    } else if path.len() > BYTES_MAX {
        Some("the path is longer than 200 bytes")
    } else if path.starts_with('/') || path.contains(':') {
        Some("the path must be relative to the pipeline file")
    } else if path.contains('\\') {
        Some("the path must use `/`, not a backslash")
    } else if path.chars().any(char::is_control) {
        Some("the path has a control character")
    } else if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        Some("the path must not have empty, `.` or `..` parts")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = r#"
payload = "schemas/a.json"
[notify.x]
template = "templates/x.txt"
[notify.y]
template = "../../etc/passwd"
[defaults]
actions.drop = { to = "A", data = "schemas/drop.json" }
[states.A]
actions.go = [{ to = "B", data = "schemas/a.json" }, { to = "B", data = "/etc/shadow" }, "C"]
actions.no = { to = "B", data = 'c:\secret' }
with = { data = "not/a/file.json" }
"#;

    #[test]
    fn attachments_are_the_safe_paths_a_file_names() {
        assert_eq!(attachments(TOML), ["schemas/a.json", "templates/x.txt", "schemas/drop.json"]);
        assert!(attachments("payload = [").is_empty());
    }

    #[test]
    fn paths_cannot_lead_out_of_the_folder() {
        let bad = ["", "/a", "..", "a/../b", "./a", "a//b", "a/", "a\\b", "c:a", "a\0b", "a\nb"];
        assert!(bad.iter().all(|path| path_fault(path).is_some()), "{bad:?}");
        assert!(path_fault(&"a".repeat(201)).is_some());
        assert!(
            ["a.json", "schemas/skill-review.json", "a/..b/c"].iter().all(|path| path_fault(path).is_none())
        );
    }

    #[test]
    fn definition_holds_exactly_what_was_applied() {
        let mut source = Source::new("pipeline.toml", "payload = \"a.json\"\n");
        source.files.insert("a.json".to_owned(), "{}".to_owned());
        source.params = [("b", 1), ("a", 2)].into_iter().collect();
        let definition = source.to_definition();
        let expected =
            r#"{"files":{"a.json":"{}"},"format":1,"params":{"a":2,"b":1},"toml":"payload = \"a.json\"\n"}"#;
        assert_eq!(definition.as_str(), expected);
        assert_eq!(Source::from_definition(&definition), Ok(source));
    }

    #[test]
    fn files_nobody_names_do_not_change_the_definition() {
        let plain = Source::new("pipeline.toml", "name = \"x\"\n");
        let mut with_extra = plain.clone();
        with_extra.files.insert("README".to_owned(), "hello".to_owned());
        assert_eq!(plain.to_definition(), with_extra.to_definition());
    }

    #[test]
    fn definitions_of_another_format_are_refused() {
        for text in
            ["{}", "[]", r#"{"format":2,"toml":"","files":{},"params":{}}"#, r#"{"format":1,"toml":""}"#]
        {
            let definition = Json::parse(text).expect("the test's JSON is well formed");
            assert!(Source::from_definition(&definition).is_err(), "{text}");
        }
    }
}
