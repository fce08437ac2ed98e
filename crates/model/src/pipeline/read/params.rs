//! `[params]`: defaults, and what a deployment sets in their place.

use std::collections::BTreeMap;

use super::Reader;
use super::name::Spelling;
use super::pipeline::TOP_KEYS;
use crate::json::Value;
use crate::pipeline::file::Entry;
use crate::pipeline::problem::{Problem, quote};

impl Reader<'_> {
    pub(super) fn params(&mut self, section: Option<&Entry>) -> Value {
        let mut params = BTreeMap::new();
        let entries = self.map(section.map(|entry| &entry.node), "parameters");
        for entry in &entries {
            self.spelled(&entry.key, &entry.at, Spelling::Free);
            if TOP_KEYS.contains(&entry.key.as_str()) {
                let message =
                    format!("the parameter `{0}` has the name of the top-level key `{0}`", entry.key);
                let problem = Problem::new("shadowed-key", entry.at.clone(), message);
                self.problems.push(problem.help(format!(
                    "if `{}` is meant for the pipeline, write it above the first `[table]`; if not, rename it",
                    entry.key
                )));
            }
            params.insert(entry.key.clone(), self.json(&entry.node));
        }
        self.overrides(section, &entries, &mut params);
        Value::Object(params)
    }

    /// What a deployment sets replaces a default as a whole, and is of the same type.
    fn overrides(
        &mut self,
        section: Option<&Entry>,
        entries: &[&Entry],
        params: &mut BTreeMap<String, Value>,
    ) {
        let source = self.source;
        let section_at = section.map_or(0..0, |entry| entry.at.clone());
        let Some(overrides) = source.params.as_object() else {
            let found = source.params.kind();
            self.report(
                "wrong-type",
                &section_at,
                format!("the deployment's parameters are no object but {found}"),
            );
            return;
        };
        for (name, value) in overrides {
            let Some(default) = params.get(name) else {
                let message = format!("the deployment sets {}, which is no parameter", quote(name));
                let near = self.near(name, params.keys().map(String::as_str));
                self.problems
                    .push(Problem::new("unknown-parameter", section_at.clone(), message).suggest(near));
                continue;
            };
            if default.kind() != value.kind() {
                let at =
                    entries.iter().find(|entry| entry.key == *name).map_or(&section_at, |entry| &entry.at);
                let (found, wanted) = (value.kind(), default.kind());
                let message =
                    format!("the deployment sets {} to a value of type {found}, not {wanted}", quote(name));
                self.report("parameter-type", at, message);
                continue;
            }
            params.insert(name.clone(), value.clone());
        }
    }
}
