//! Small parts that many pages have: times, ids, states, figures.

use askama::Template;
use askama::filters::HtmlSafe;
use wire::api::SubmissionView;
use wire::{Status, SubmissionId};

use crate::fields::{address, part};

/// A time: how far from now, and exactly for whoever points at it.
#[derive(Debug, Clone, Template)]
#[template(path = "part/when.html")]
pub struct When {
    pub(crate) stamp: String,
    pub(crate) exact: String,
    pub(crate) relative: String,
}

/// An id, short, with the whole one to copy.
#[derive(Debug, Clone, Template)]
#[template(path = "part/id.html")]
pub struct Id {
    pub(crate) whole: String,
    pub(crate) short: String,
    /// The page of what has the id; empty: there is none.
    pub(crate) link: String,
}

impl Id {
    /// Makes one that leads to a submission's page.
    #[must_use]
    pub fn of(id: SubmissionId) -> Id {
        let whole = id.to_string();
        Id { short: shortened(&whole), link: format!("/console/submissions/{whole}"), whole }
    }

    /// Makes one of an id that is no submission's.
    #[must_use]
    pub fn named(whole: &str, link: String) -> Id {
        Id { short: shortened(whole), link, whole: whole.to_owned() }
    }
}

/// Begins and ends as the whole does: the beginning is the time, which many share.
fn shortened(whole: &str) -> String {
    let chars: Vec<char> = whole.chars().collect();
    if chars.len() <= 18 {
        return whole.to_owned();
    }
    let end = chars.len() - 6;
    format!("{}…{}", chars[..8].iter().collect::<String>(), chars[end..].iter().collect::<String>())
}

/// A state, as something that can be clicked: its submissions.
#[derive(Debug, Clone, Template)]
#[template(path = "part/state.html")]
pub struct State {
    pub(crate) name: String,
    /// The colour: that of how what is there fares.
    pub(crate) tone: &'static str,
    pub(crate) link: String,
}

impl State {
    pub(crate) fn of(view: &SubmissionView) -> State {
        let tone = if view.investigation.as_ref().is_some_and(is_open) { "warn" } else { tone(view) };
        State { tone, ..State::at(&view.pipeline, &view.state, view.status) }
    }

    /// Makes one that leads to the submissions of a pipeline that are there.
    #[must_use]
    pub fn at(pipeline: &str, state: &str, status: Status) -> State {
        State { name: state.to_owned(), tone: of_status(status), link: list(pipeline, &[("state", state)]) }
    }
}

fn is_open(investigation: &wire::Investigation) -> bool {
    *investigation == wire::Investigation::Open
}

fn tone(view: &SubmissionView) -> &'static str {
    match view.status {
        Status::Open if !view.holds.is_empty() || view.parked.is_some() => "held",
        Status::Open if view.waits_for == "person" => "person",
        status => of_status(status),
    }
}

pub(crate) fn of_status(status: Status) -> &'static str {
    match status {
        Status::Open => "open",
        Status::Dead => "dead",
        Status::Succeeded => "good",
        Status::Failed => "bad",
        Status::Cancelled => "off",
    }
}

/// Returns the address of a list of submissions.
#[must_use]
pub fn list(pipeline: &str, terms: &[(&str, &str)]) -> String {
    let mut filter: Vec<String> = Vec::new();
    if !pipeline.is_empty() {
        filter.push(crate::filter::term("pipeline", pipeline));
    }
    filter.extend(
        terms
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| crate::filter::term(key, value)),
    );
    address("/console/submissions", [("q", filter.join(" ").as_str())])
}

pub(crate) fn pipeline_page(name: &str) -> String {
    format!("/console/pipelines/{}", part(name))
}

/// A link with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) text: String,
    pub(crate) to: String,
}

impl Link {
    pub(crate) fn new(text: impl Into<String>, to: impl Into<String>) -> Link {
        Link { text: text.into(), to: to.into() }
    }
}

/// Writes a number so that it can be read: in groups of three, and never rounded.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Writes a number of bytes in the largest unit of which there is one, and exactly below that.
pub(crate) fn bytes(count: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut size = count as f64;
    let mut shown = format!("{count} bytes");
    for unit in units {
        size /= 1_000.0;
        if size >= 1.0 {
            shown = format!("{size:.1} {unit}");
        }
    }
    shown
}

/// Shortens a text for a cell of a table; pointing at it shows the rest.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl HtmlSafe for When {}
impl HtmlSafe for Id {}
impl HtmlSafe for State {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_grouped() {
        assert_eq!(number(0), "0");
        assert_eq!(number(1_000), "1\u{202f}000");
        assert_eq!(number(u64::MAX).chars().filter(char::is_ascii_digit).count(), 20);
    }

    #[test]
    fn bytes_are_told_in_the_unit_that_fits() {
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(5_899_096), "5.9 MB");
        assert_eq!(bytes(12_000_000_000_000), "12.0 TB");
    }

    #[test]
    fn what_others_chose_is_escaped_wherever_it_is_shown() {
        let hostile = "<img src=x onerror=alert(1)>\u{202e}/\"'";
        let state =
            State { name: hostile.to_owned(), tone: "open", link: list(hostile, &[("state", hostile)]) };
        let id = Id::named(hostile, pipeline_page(hostile));
        for html in [state.to_string(), id.to_string()] {
            assert!(!html.contains("<img") && !html.contains("\"'"), "{html}");
        }
        assert_eq!(cut("añb", 2), "añ…");
    }
}
