//! A scenario file, read as a whole: the pipelines it is about, its samples, and its scenarios.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::Pipeline;
use model::json::Value;
use model::pipeline::{Problems as Report, Source, load};
use toml::de::DeTable;

use super::fields::{Field, Fields, Problems, problem};
use super::step::{self, Step};
use crate::exit::Stop;
use crate::source;

/// The contents of one file, ready to run.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The file itself; reports quote it.
    pub(super) source: Source,
    /// The one the file is about, then those it needs besides.
    pub(super) pipelines: Vec<Arc<Pipeline>>,
    pub(super) require_full_coverage: bool,
    pub(super) scenarios: Vec<Scenario>,
}

#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) steps: Vec<Step>,
}

/// Payloads under names, for steps to refer to.
pub(super) type Samples = BTreeMap<String, Value>;

const KEYS: &[&str] = &["pipeline", "also", "params", "require_full_coverage", "samples", "scenario"];

/// Reads a scenario file, or the one that belongs to a pipeline file: `scenarios/NAME.toml` beside it.
pub(crate) fn read(path: &Path) -> anyhow::Result<Suite> {
    let text = read_text(path)?;
    if !is_pipeline(&text) {
        return Reader { path, source: Source::new(path.display().to_string(), text) }.read();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = folder.join("scenarios").join(path.file_name().unwrap_or_default());
    let text = std::fs::read_to_string(&beside).map_err(|error| {
        Stop::usage(format!("cannot read {}, the scenarios of {}: {error}", beside.display(), path.display()))
            .next("write some; docs/scenarios.md says how")
    })?;
    Reader { path: &beside, source: Source::new(beside.display().to_string(), text) }.read()
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    Ok(std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))?)
}

fn is_pipeline(text: &str) -> bool {
    let (root, _) = DeTable::parse_recoverable(text);
    let has = |key: &str| root.get_ref().keys().any(|known| known.get_ref() == key);
    has("states") && !has("scenario")
}

struct Reader<'a> {
    path: &'a Path,
    source: Source,
}

impl Reader<'_> {
    fn read(self) -> anyhow::Result<Suite> {
        let text = self.source.toml.clone();
        let (root, errors) = DeTable::parse_recoverable(&text);
        let mut problems: Problems = errors
            .into_iter()
            .map(|error| problem("syntax", error.span().unwrap_or(0..0), error.message()))
            .collect();
        self.stop_at(&problems)?;
        let mut fields = Fields::of(root.get_ref(), 0..0);
        let pipelines = self.pipelines(&mut fields, &mut problems)?;
        let require_full_coverage = fields.flag("require_full_coverage", &mut problems).unwrap_or(false);
        let samples = samples(&mut fields, &mut problems);
        let scenarios = scenarios(&mut fields, &samples, &text, &mut problems);
        fields.end("a scenario file", KEYS, &mut problems);
        self.stop_at(&problems)?;
        Ok(Suite { source: self.source, pipelines, require_full_coverage, scenarios })
    }

    fn stop_at(&self, problems: &Problems) -> anyhow::Result<()> {
        if problems.is_empty() {
            return Ok(());
        }
        let report: Report = problems.iter().cloned().collect();
        Err(Stop::usage(report.render(&self.source).trim_end()).into())
    }

    fn pipelines(
        &self,
        fields: &mut Fields<'_>,
        problems: &mut Problems,
    ) -> anyhow::Result<Vec<Arc<Pipeline>>> {
        let params = fields.json("params", problems);
        let mut paths: Vec<String> = fields.text("pipeline", problems).into_iter().collect();
        if paths.is_empty() {
            problems.push(problem(
                "missing-key",
                0..0,
                "say which file this is about: `pipeline = \"../NAME.toml\"`",
            ));
        }
        if let Some(also) = fields.take("also") {
            paths.extend(also.texts(problems).unwrap_or_default());
        }
        self.stop_at(problems)?;
        let mut pipelines = Vec::new();
        for path in &paths {
            let mut source = source::read(&self.beside(path))?;
            if let Some(params) = params.clone().filter(|_| pipelines.is_empty()) {
                source.params = params;
            }
            let loaded =
                load(&source).map_err(|problems| Stop::usage(problems.render(&source).trim_end()))?;
            pipelines.push(Arc::new(loaded));
        }
        Ok(pipelines)
    }

    fn beside(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }
}

fn samples(fields: &mut Fields<'_>, problems: &mut Problems) -> Samples {
    let Some(field) = fields.take("samples") else { return Samples::new() };
    match field.json(problems) {
        Some(Value::Object(samples)) => samples,
        _ => field.wrong("a table of payloads", problems).unwrap_or_default(),
    }
}

fn scenarios(
    fields: &mut Fields<'_>,
    samples: &Samples,
    text: &str,
    problems: &mut Problems,
) -> Vec<Scenario> {
    let Some(field) = fields.take("scenario") else {
        problems.push(problem("missing-key", 0..0, "there is no `[[scenario]]`"));
        return Vec::new();
    };
    let mut scenarios: Vec<Scenario> = Vec::new();
    for value in field.list(problems).unwrap_or_default() {
        let Some(mut fields) = Fields::inside(value, "a scenario", problems) else { continue };
        let at = value.span();
        let line = line_of(text, at.start);
        let name = fields.text("name", problems);
        let steps = fields.take("steps").map(|steps| read_steps(&steps, samples, text, problems));
        fields.end("a scenario", &["name", "steps"], problems);
        let (Some(name), Some(steps)) = (name, steps) else {
            problems.push(problem("missing-key", at, "a scenario has a `name` and `steps`"));
            continue;
        };
        if scenarios.iter().any(|known| known.name == name) {
            problems.push(problem("duplicate", at, format!("another scenario is called `{name}`")));
        }
        scenarios.push(Scenario { name, line, steps });
    }
    scenarios
}

fn read_steps(field: &Field<'_>, samples: &Samples, text: &str, problems: &mut Problems) -> Vec<Step> {
    let values = field.list(problems).unwrap_or_default();
    let steps = values.into_iter().filter_map(|value| {
        let line = line_of(text, value.span().start);
        let fields = Fields::inside(value, "a step", problems)?;
        step::read(fields, line, samples, problems)
    });
    steps.collect()
}

fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count() + 1
}
