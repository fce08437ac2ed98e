//! Rows of submissions, as most lists show them.

use askama::Template;
use askama::filters::HtmlSafe;
use wire::api::SubmissionView;

use crate::look::Eye;
use crate::parts::{Id, Link, State, When, cut, list, pipeline_page};

/// A submission in a list.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: Id,
    pub(crate) pipeline: Link,
    pub(crate) state: State,
    pub(crate) key: String,
    pub(crate) labels: Vec<Link>,
    /// The one thing it waits for, or what became of it.
    pub(crate) about: String,
    pub(crate) whole: String,
    pub(crate) is_error: bool,
    pub(crate) created: When,
    pub(crate) entered: When,
    pub(crate) late: bool,
}

/// Whose review a submission is.
#[derive(Debug, Clone)]
pub(crate) struct Assigned {
    pub(crate) to: String,
    pub(crate) until: When,
}

pub(crate) fn assigned(eye: &Eye, held: &wire::submission::Assignment) -> Assigned {
    Assigned { to: held.to.to_string(), until: eye.when(held.until) }
}

/// A table of submissions.
#[derive(Debug, Clone, Template)]
#[template(path = "part/rows.html")]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    /// Set if rows can be chosen for what is done to many.
    pub(crate) picks: bool,
}

impl HtmlSafe for Rows {}

impl Rows {
    pub(crate) fn of(eye: &Eye, views: &[SubmissionView]) -> Rows {
        Rows { rows: views.iter().map(|view| row(eye, view)).collect(), picks: false }
    }
}

const ABOUT_CHARS: usize = 90;

pub(crate) fn row(eye: &Eye, view: &SubmissionView) -> Row {
    let (whole, is_error) = about(eye, view);
    let label = |(name, value): (&wire::Name, &wire::Name)| {
        let term = format!("label.{name}");
        Link::new(format!("{name}: {}", cut(value, 32)), list("", &[(&term, value)]))
    };
    Row {
        id: Id::of(view.id),
        pipeline: Link::new(&*view.pipeline, pipeline_page(&view.pipeline)),
        state: State::of(view),
        key: view.key.as_deref().map(|key| cut(key, 48)).unwrap_or_default(),
        labels: view.labels.iter().map(label).collect(),
        about: cut(&whole, ABOUT_CHARS),
        whole,
        is_error,
        created: eye.when(view.created_at),
        entered: eye.when(view.entered_at),
        late: view.sla.iter().any(|level| level.late),
    }
}

/// Tells in a few words why a submission is where it is.
fn about(eye: &Eye, view: &SubmissionView) -> (String, bool) {
    let error = view.error.as_ref().map(|error| format!("{}: {}", error.code, error.message));
    if let Some(hold) = view.holds.first() {
        return (format!("held: {}", hold.reason), false);
    }
    if let Some(parked) = &view.parked {
        return (format!("set aside by {parked}"), false);
    }
    if let Some(lease) = &view.lease {
        let progress = lease.progress.as_ref().map_or_else(String::new, |told| format!(": {told}"));
        return (format!("{} works on it{progress}", lease.worker), false);
    }
    let retries = view.error.is_some() && view.wake_at.is_some();
    let waits = match (&*view.waits_for, view.wake_at) {
        ("worker", _) => "waits for a worker".to_owned(),
        ("person", _) => match &view.assigned {
            Some(held) => format!("{} reviews it", held.to),
            None => "waits for a person".to_owned(),
        },
        ("guard", _) => "waits until a condition holds".to_owned(),
        ("line", _) => "waits in its lane".to_owned(),
        ("key", _) => "waits for its key".to_owned(),
        ("children", _) => format!("waits for {} of {} children", view.children.open, view.children.total),
        ("delay" | "clock", Some(at)) => format!("goes on {}", eye.when(at).relative),
        ("nothing" | "redrive", _) => String::new(),
        (other, _) => format!("waits for {other}"),
    };
    match error {
        Some(error) if retries => (format!("{error} ({waits})"), true),
        Some(error) => (error, true),
        None => (waits, false),
    }
}
