//! Problems of a pipeline file: stable codes, exact places, and what to do about them.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// A range of bytes of the file.
pub type Span = Range<usize>;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable; one of [`CODES`].
    pub code: &'static str,
    pub message: String,
    /// The file that the pipeline names and the problem stands in; `None` for the pipeline's own.
    pub file: Option<String>,
    pub span: Span,
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        debug_assert!(
            CODES.iter().any(|(known, _)| *known == code),
            "`{code}` is missing from the list of codes"
        );
        Problem { code, message: message.into(), file: None, span, help: None }
    }

    /// Stands in a file that the pipeline names.
    pub(crate) fn within(mut self, file: Option<&str>) -> Self {
        self.file = file.map(str::to_owned);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Suggests the name that was probably meant, if one is near.
    pub(crate) fn suggest(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// Everything that is wrong with a file, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.0.extend(problems);
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&Problem) -> bool) {
        self.0.retain(keep);
    }

    /// File order, and one report for what `defaults` put into many states. A file with more than a thousand problems is
    /// no pipeline; the first thousand say so.
    pub(crate) fn settle(&mut self) {
        let mut seen = BTreeSet::new();
        self.0.retain(|problem| {
            let Problem { file, span, message, .. } = problem;
            seen.insert((file.clone(), span.start, span.end, message.clone()))
        });
        self.0.sort_by(|a, b| (&a.file, a.span.start, a.span.end).cmp(&(&b.file, b.span.start, b.span.end)));
        self.0.truncate(1_000);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
}

/// Collects problems of files that are no pipelines and are reported on the same way.
impl FromIterator<Problem> for Problems {
    fn from_iter<I: IntoIterator<Item = Problem>>(problems: I) -> Self {
        let mut problems = Problems(problems.into_iter().collect());
        problems.settle();
        problems
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}", problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Text of the file inside a message: bounded, and without what could steer a terminal.
pub(crate) fn quote(text: &str) -> String {
    const CHARS_MAX: usize = 64;
    let mut quoted: String =
        text.chars().take(CHARS_MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        quoted.push('…');
    }
    format!("`{quoted}`")
}

/// Every code and what it means.
pub const CODES: &[(&str, &str)] = &[
    ("syntax", "the file is not TOML"),
    ("too-large", "the file or one that it names is over its bound"),
    ("too-many", "a list or table is over its bound"),
    ("unknown-key", "there is no such key here"),
    ("key-not-here", "the key exists, but not for this kind of state or edge"),
    ("missing-key", "a key that must be there is not"),
    ("wrong-type", "a value is of another type than the key takes"),
    ("bad-value", "a value is none of those the key takes"),
    ("bad-name", "a name is spelled in a way that names may not be"),
    ("bad-span", "a span of time or a point in time cannot be read"),
    ("bad-path", "a path leads out of the file's folder"),
    ("bad-expression", "an expression does not compile"),
    ("bad-schema", "a JSON Schema cannot be used"),
    ("bad-template", "a template of a notification cannot be used"),
    ("empty-value", "a template names what no move that it is sent with has"),
    ("bad-metric", "a metric could not be told apart from others, or would be misread"),
    ("missing-file", "a file that is named is not there"),
    ("duplicate", "something is listed twice"),
    ("unknown-state", "there is no such state"),
    ("unknown-outcome", "the state declares no such outcome"),
    ("unknown-label", "there is no such label"),
    ("unknown-notification", "there is no such notification"),
    ("unknown-calendar", "there is no such calendar"),
    ("unknown-parameter", "a deployment sets a parameter that the pipeline does not have"),
    ("parameter-type", "a deployment sets a parameter to a value of another type than its default"),
    ("shadowed-key", "a parameter has the name of a top-level key, which was probably meant"),
    ("useless-default", "a default is legal in no state"),
    ("no-kind", "nothing says what the state waits for"),
    ("mixed-kinds", "a state has the keys of two kinds"),
    ("no-edges", "a list of edges is empty"),
    ("missing-to", "an edge does not say where it leads"),
    ("pick-outside-action", "an edge that nobody picks from leads to several states"),
    ("review-without-action", "a state is reviewed, but the reviewer can do nothing"),
    ("edge-never-taken", "an edge follows one that is always taken"),
    ("guarded-last-edge", "every edge of a list has a guard, and nothing else leads on"),
    ("unreachable-state", "no edge leads to the state"),
    ("dead-end", "no edge leaves the state"),
    ("no-way-out", "no path leads from the state to a final one"),
    ("dead-letter", "a state can end as a dead letter in a pipeline that is to have none"),
    ("pass-cycle", "states that are left at once lead in a circle"),
    ("second-join", "a second state has a task that makes children"),
    ("reserved", "a task has a name that belongs to another pipeline"),
];
