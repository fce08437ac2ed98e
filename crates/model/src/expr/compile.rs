//! From source to a checked expression.

use std::ops::Range;
use std::thread;

use cel::common::ast::SourceInfo;
use cel::parser::{ParseError, PrattParser};

use super::lower::{Found, Lowered, lower};
use super::node::Node;
use super::{MAX_DEPTH, MAX_SOURCE_LEN, Problem};

/// Chains of operators build trees as deep as they are long, whatever the parser's own limit, and four thousand
/// levels must still be dropped one inside the other.
const STACK_LEN: usize = 8 << 20;
/// After this many, more problems only hide the first.
const MAX_PROBLEMS: usize = 20;

pub(super) struct Compiled {
    pub(super) source: Box<str>,
    pub(super) root: Node,
    /// The variables it references.
    pub(super) reads: Vec<String>,
}

pub(super) fn compile(source: &str, names: &[&str]) -> Result<Compiled, Vec<Problem>> {
    let problem = |message: String| vec![Problem { message, span: 0..source.len() }];
    if source.trim().is_empty() {
        return Err(problem("the expression is empty".to_owned()));
    }
    if source.len() > MAX_SOURCE_LEN {
        return Err(problem(format!("an expression may have at most {MAX_SOURCE_LEN} bytes")));
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("compile-expr".to_owned()).stack_size(STACK_LEN);
        let handle = builder
            .spawn_scoped(scope, || read(source, names))
            .map_err(|error| problem(format!("no thread to compile on: {error}")))?;
        // A panic is the parser's way of refusing some malformed texts.
        handle
            .join()
            .unwrap_or_else(|_| Err(problem("the expression cannot be read; check its spelling".to_owned())))
    })
}

fn parser() -> PrattParser {
    PrattParser::new().max_recursion_depth(MAX_DEPTH as u16)
}

fn read(source: &str, names: &[&str]) -> Result<Compiled, Vec<Problem>> {
    let ast = parser().parse(source).map_err(|errors| syntax_problems(source, &errors.errors))?;
    match lower(&ast, names) {
        Ok(Lowered { root, reads }) => Ok(Compiled { source: source.into(), root, reads }),
        Err(found) => Err(locate(source, found)),
    }
}

fn locate(source: &str, found: Vec<Found>) -> Vec<Problem> {
    let offsets = offsets(source);
    let mut problems: Vec<Problem> = Vec::new();
    for Found { message, id } in found {
        let span = offsets.as_ref().and_then(|info| info.offset_for(id));
        let span =
            span.map_or(0..source.len(), |(start, end)| called_name(source, within(source, start, end)));
        let problem = Problem { message, span };
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems.sort_by_key(|problem| problem.span.start);
    problems.truncate(MAX_PROBLEMS);
    problems
}

/// Finds where each node was written. The parser tells only those whose source is wrong, so the source is read again
/// with something wrong at its end; up to there, nodes get the same ids.
fn offsets(source: &str) -> Option<std::sync::Arc<SourceInfo>> {
    let errors = parser().parse(&format!("{source}\n)")).err()?;
    errors.errors.into_iter().find_map(|error| error.source_info)
}

/// A call on a target is found at its parenthesis; the name before it says more.
fn called_name(source: &str, span: Range<usize>) -> Range<usize> {
    if &source[span.clone()] != "(" {
        return span;
    }
    let before = source[..span.start].trim_end();
    let name = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if name.len() == before.len() { span } else { name.len()..before.len() }
}

fn syntax_problems(source: &str, errors: &[ParseError]) -> Vec<Problem> {
    const TOO_DEEP: &str = "expression recursion limit exceeded";
    const GIVEN_UP: &str = "error recovery attempt limit exceeded";
    if errors.iter().any(|error| error.msg.starts_with(TOO_DEEP)) {
        return vec![Problem { message: too_deep(), span: 0..source.len() }];
    }
    let mut problems: Vec<Problem> = Vec::new();
    for error in errors.iter().filter(|error| !error.msg.starts_with(GIVEN_UP)).take(MAX_PROBLEMS) {
        let message = error.msg.trim_start_matches("Syntax error: ").replace("<EOF>", "the end");
        problems.push(Problem { message, span: error_span(source, error) });
    }
    problems
}

pub(super) fn too_deep() -> String {
    format!("the expression is nested more than {MAX_DEPTH} deep")
}

fn error_span(source: &str, error: &ParseError) -> Range<usize> {
    if let Some((start, end)) = error.source_info.as_ref().and_then(|info| info.offset_for(error.expr_id)) {
        return within(source, start, end);
    }
    let (line, column) = error.pos;
    let line_start: usize =
        source.split_inclusive('\n').take(usize::try_from(line - 1).unwrap_or(0)).map(str::len).sum();
    let start = line_start + usize::try_from(column - 1).unwrap_or(0);
    let word = source.get(start..).unwrap_or_default();
    let word_len = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len()).max(1);
    within(source, start as u32, (start + word_len) as u32)
}

/// Spans are cut out of the source by whoever shows them, so they must lie in it and between its characters.
fn within(source: &str, start: u32, end: u32) -> Range<usize> {
    let start = source.floor_char_boundary(start as usize);
    start..source.ceil_char_boundary(end as usize).max(start)
}
