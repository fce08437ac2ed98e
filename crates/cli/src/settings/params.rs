//! `[params.PIPELINE]`: what this deployment sets of the parameters of the pipelines that `serve --pipelines` applies.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use model::Pipeline;
use model::json::{Number, Value};
use model::pipeline::ParamSet;
use toml::de::{DeTable, DeValue};

use super::file::{Fault, line_of};

/// The table of the file that holds them.
pub(crate) const PARAMS: &str = "params";

/// The values set for the parameters of each pipeline, by its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Params {
    pipelines: BTreeMap<String, OfPipeline>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct OfPipeline {
    line: usize,
    /// With the line of each.
    set: BTreeMap<String, (usize, Value)>,
}

impl Params {
    pub(super) fn read(text: &str, value: &DeValue<'_>, at: &Range<usize>) -> (Params, Vec<Fault>) {
        let (mut params, mut faults) = (Params::default(), Vec::new());
        let mut wrong = |at: &Range<usize>, message: String| {
            faults.push(Fault { line: line_of(text, at), message });
        };
        let DeValue::Table(pipelines) = value else {
            wrong(at, format!("`{PARAMS}` holds a table for each pipeline: [{PARAMS}.PIPELINE]"));
            return (params, faults);
        };
        for (name, value) in pipelines {
            let DeValue::Table(table) = value.get_ref() else {
                let message =
                    format!("`{PARAMS}.{0}` holds a pipeline's parameters: [{PARAMS}.{0}]", name.get_ref());
                wrong(&name.span(), message);
                continue;
            };
            let set = table.iter().map(|(key, value)| {
                let line = line_of(text, &key.span());
                (key.get_ref().to_string(), (line, json(value.get_ref())))
            });
            let of = OfPipeline { line: line_of(text, &name.span()), set: set.collect() };
            params.pipelines.insert(name.get_ref().to_string(), of);
        }
        (params, faults)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// Counts the parameters that are set.
    pub(crate) fn count(&self) -> usize {
        self.pipelines.values().map(|of| of.set.len()).sum()
    }

    /// Returns the parameters that are set for one pipeline.
    pub(crate) fn of(&self, pipeline: &str) -> ParamSet {
        let set = self.pipelines.get(pipeline).map(|of| &of.set).into_iter().flatten();
        set.map(|(name, (_, value))| (name.clone(), value.clone())).collect()
    }

    /// Each under its whole name, with its line and its value.
    pub(crate) fn each(&self) -> impl Iterator<Item = (String, usize, &Value)> {
        self.pipelines.iter().flat_map(|(pipeline, of)| {
            of.set
                .iter()
                .map(move |(name, (line, value))| (format!("{PARAMS}.{pipeline}.{name}"), *line, value))
        })
    }

    /// Lists settings that do not fit the pipelines there are: unknown names, and values of another type.
    pub(crate) fn faults(&self, pipelines: &[Arc<Pipeline>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (name, of) in &self.pipelines {
            match pipelines.iter().find(|pipeline| *pipeline.name == **name) {
                Some(pipeline) => faults.extend(of.faults(pipeline)),
                None => {
                    let known = pipelines.iter().map(|pipeline| &*pipeline.name);
                    let message = unknown(&format!("the folder has no pipeline `{name}`"), name, known);
                    faults.push(Fault { line: of.line, message });
                }
            }
        }
        faults.sort_by_key(|fault| fault.line);
        faults
    }
}

impl OfPipeline {
    fn faults(&self, pipeline: &Pipeline) -> Vec<Fault> {
        let of = &pipeline.name;
        let fault = |(name, (line, value)): (&String, &(usize, Value))| {
            let message = match pipeline.params.get(name) {
                None => {
                    let known = pipeline.params.as_object().into_iter().flat_map(|params| params.keys());
                    let message = format!("the pipeline `{of}` has no parameter `{name}`");
                    unknown(&message, name, known.map(String::as_str))
                }
                Some(default) if default.kind() != value.kind() => {
                    let (found, wanted) = (value.kind(), default.kind());
                    format!(
                        "the parameter `{name}` of `{of}` is of type {wanted}, and this is of type {found}"
                    )
                }
                Some(_) => return None,
            };
            Some(Fault { line: *line, message })
        };
        self.set.iter().filter_map(fault).collect()
    }
}

fn unknown<'a>(message: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    match (model::expr::nearest(name, known.iter().copied()), known.as_slice()) {
        (Some(near), _) => format!("{message}; did you mean `{near}`?"),
        (None, []) => format!("{message}, nor any other"),
        (None, known) => format!("{message}; there is {}", known.join(", ")),
    }
}

/// As a pipeline file would have it.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(number.as_str()),
        },
        DeValue::Float(number) => {
            Number::parse(number.as_str()).map_or_else(|_| Value::from(number.as_str()), Value::from)
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => object(table),
    }
}

fn object(table: &DeTable<'_>) -> Value {
    table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
}

#[cfg(test)]
mod tests {
    use model::pipeline::{Source, load};

    use super::*;
    use crate::settings::ConfigFile;

    const NOTE: &str = "name = \"note\"\nversion = 1\nstart = [{ to = \"DONE\", when = \"params.open\" }, \"LOST\"]\n\
        [params]\nopen = true\nnames = [\"a\"]\n[states.DONE]\nfinal = \"success\"\n[states.LOST]\nfinal = \"failure\"\n";

    fn note() -> Arc<Pipeline> {
        Arc::new(load(&Source::new("note.toml", NOTE)).unwrap())
    }

    fn faults(text: &str) -> Vec<(usize, String)> {
        let file = ConfigFile::parse(text);
        assert_eq!(file.faults, []);
        file.params.faults(&[note()]).into_iter().map(|fault| (fault.line, fault.message)).collect()
    }

    #[test]
    fn parameters_are_read_by_pipeline() {
        let file = ConfigFile::parse(
            "listen = \"0.0.0.0:80\"\n[params.note]\nopen = false\nnames = [\"b\", \"c\"]\n",
        );
        assert_eq!((file.faults.len(), file.params.count()), (0, 2));
        assert_eq!(file.params.of("note")["names"], Value::from(vec!["b", "c"]));
        assert!(file.params.of("other").is_empty());
        assert_eq!(file.params.faults(&[note()]), []);
    }

    #[test]
    fn what_no_pipeline_has_is_named_with_its_line() {
        let found = faults("[params.note]\nopne = false\nnames = \"b\"\n\n[params.notes]\nopen = false\n");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 5], "{found:?}");
        assert!(found[0].1.contains("did you mean `open`?"), "{found:?}");
        assert!(found[1].1.contains("is of type"), "{found:?}");
        assert!(found[2].1.contains("did you mean `note`?"), "{found:?}");
    }

    #[test]
    fn parameters_stand_in_tables_of_their_pipelines() {
        let file = ConfigFile::parse("params = 1\n");
        assert!(file.faults[0].message.contains("[params.PIPELINE]"), "{:?}", file.faults);
        let file = ConfigFile::parse("[params]\nopen = true\n");
        assert_eq!(file.faults[0].line, 2);
        assert!(file.faults[0].message.contains("[params.open]"), "{:?}", file.faults);
    }
}
