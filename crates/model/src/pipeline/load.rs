//! The only way to a pipeline: parse, read, check, all of it, every time.

use std::collections::BTreeSet;

use super::file;
use super::problem::{Problem, Problems};
use super::read::{self, FILE_BYTES_MAX};
use super::render::Lines;
use super::source::Source;
use super::{Pipeline, check};

/// Problems that keep a file from being applied, but not one from being followed that was applied before they were known.
const LATER: [&str; 1] = ["empty-value"];

/// Loads a pipeline, or says everything that is wrong with it.
pub fn load(source: &Source) -> Result<Pipeline, Problems> {
    let (pipeline, problems) = look(source);
    pipeline.filter(|_| problems.is_empty()).map(Pipeline::with_shared_states).ok_or(problems)
}

/// Loads a definition that was applied once: what is only unwise is not held against it.
pub fn load_applied(source: &Source) -> Result<Pipeline, Problems> {
    let (pipeline, mut problems) = look(source);
    problems.retain(|problem| !LATER.contains(&problem.code));
    pipeline.filter(|_| problems.is_empty()).map(Pipeline::with_shared_states).ok_or(problems)
}

/// The pipeline, complete only without problems; `None` for a file that is too large to be read.
fn look(source: &Source) -> (Option<Pipeline>, Problems) {
    let mut problems = Problems::default();
    if source.toml.len() > FILE_BYTES_MAX {
        problems.push(Problem::new("too-large", 0..0, "the file is larger than 256 KB"));
        return (None, problems);
    }
    let root = file::parse(&source.toml, &mut problems);
    let syntax = problems.clone();
    let draft = read::read(source, &root, &mut problems);
    if syntax.is_empty() {
        check::check(&draft, &mut problems);
    } else {
        forget_echoes(&syntax, &source.toml, &mut problems);
    }
    problems.settle();
    (Some(draft.pipeline), problems)
}

/// A line that is no TOML is read as something it does not mean: what else is said about it is an echo. Nor can be
/// told what is missing from a file that was not understood.
fn forget_echoes(syntax: &Problems, toml: &str, problems: &mut Problems) {
    let lines = Lines::of(toml);
    let line = |byte: usize| lines.index(byte);
    let broken: BTreeSet<usize> = syntax.iter().map(|problem| line(problem.span.start)).collect();
    problems.retain(|problem| {
        problem.code == "syntax"
            || problem.file.is_some()
            || problem.code != "missing-key" && !broken.contains(&line(problem.span.start))
    });
}
