//! The boxes of a drawing.

use model::pipeline::{FinalKind, Kind, State};
use wire::Name;

use super::kind_line;
use crate::layout::Size;
use crate::text::{Font, one_line};

pub(crate) const NAME_FONT: Font = Font { size: 12.5, bold: true };
pub(crate) const TITLE_FONT: Font = Font { size: 11.0, bold: false };
pub(crate) const NOTE_FONT: Font = Font { size: 10.0, bold: false };
pub(crate) const NAME_LINE: f64 = 16.0;
pub(crate) const TITLE_LINE: f64 = 14.0;
pub(crate) const NOTE_LINE: f64 = 15.0;
pub(crate) const PADDING: f64 = 8.0;
const TEXT_WIDTH_MAX: f64 = 200.0;
const WIDTH_MIN: f64 = 116.0;

/// The look of a box: by the kind of its state, or because the box is no state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    Start,
    /// Stands for every state that is not final.
    Open,
    Pass,
    Task,
    Wait,
    Human,
    Join,
    Success,
    Failure,
    Cancelled,
}

impl Look {
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Pass { .. } => Look::Pass,
            Kind::Task { .. } => Look::Task,
            Kind::Wait { .. } => Look::Wait,
            Kind::Human { .. } => Look::Human,
            Kind::Join { .. } => Look::Join,
            Kind::Final { outcome: FinalKind::Success, .. } => Look::Success,
            Kind::Final { outcome: FinalKind::Failure, .. } => Look::Failure,
            Kind::Final { outcome: FinalKind::Cancelled, .. } => Look::Cancelled,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Look::Start => "start",
            Look::Open => "open",
            Look::Pass => "pass",
            Look::Task => "task",
            Look::Wait => "wait",
            Look::Human => "human",
            Look::Join => "join",
            Look::Success => "success",
            Look::Failure => "failure",
            Look::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_final(self) -> bool {
        matches!(self, Look::Success | Look::Failure | Look::Cancelled)
    }
}

/// A box with its texts.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) look: Look,
    /// `None`: no state.
    pub(crate) state: Option<Name>,
    pub(crate) name: Vec<String>,
    pub(crate) title: Vec<String>,
    pub(crate) note: String,
    /// The text about the box for whoever points at it: nothing is cut there.
    pub(crate) about: String,
    pub(crate) size: Size,
    /// The numbers of a path's moves that entered it.
    pub(crate) visits: Vec<usize>,
    /// The events that happened there, each with its time.
    pub(crate) story: Vec<String>,
    /// Set where the submission is, and how it is.
    pub(crate) present: Option<&'static str>,
}

impl Shown {
    /// A box that is no state.
    pub(crate) fn plain(look: Look) -> Self {
        let (name, about, size) = match look {
            Look::Start => (Vec::new(), "Submissions come in here", Size { width: 18.0, height: 18.0 }),
            _ => {
                let name = "any open state".to_owned();
                let size = Size { width: NOTE_FONT.width(&name).ceil() + 24.0, height: 24.0 };
                (vec![name], "Every state that is not final", size)
            }
        };
        Shown { look, state: None, name, about: about.to_owned(), size, ..Shown::empty() }
    }

    fn empty() -> Self {
        Shown {
            look: Look::Start,
            state: None,
            name: Vec::new(),
            title: Vec::new(),
            note: String::new(),
            about: String::new(),
            size: Size::default(),
            visits: Vec::new(),
            story: Vec::new(),
            present: None,
        }
    }

    pub(crate) fn state(state: &State) -> Self {
        let name = NAME_FONT.wrap(&state.name, TEXT_WIDTH_MAX, 2);
        let title = state.title.as_deref().map(one_line).filter(|title| !title.is_empty());
        let title = title.map_or_else(Vec::new, |title| TITLE_FONT.wrap(&title, TEXT_WIDTH_MAX, 3));
        let note = NOTE_FONT.cut(&kind_line(&state.kind), TEXT_WIDTH_MAX);
        let widths = name.iter().map(|line| NAME_FONT.width(line));
        let widths = widths.chain(title.iter().map(|line| TITLE_FONT.width(line)));
        let widest = widths.chain([NOTE_FONT.width(&note)]).fold(WIDTH_MIN, f64::max);
        let lines = name.len() as f64 * NAME_LINE + title.len() as f64 * TITLE_LINE + NOTE_LINE;
        let size = Size { width: widest.ceil() + 24.0, height: lines + 2.0 * PADDING };
        let (look, about) = (Look::of(&state.kind), about(state));
        Shown { look, state: Some(state.name.clone()), name, title, note, about, size, ..Shown::empty() }
    }
}

fn about(state: &State) -> String {
    let mut lines = vec![state.name.to_string()];
    lines.extend(state.title.as_deref().map(one_line));
    lines.extend(state.phase.as_ref().map(|phase| format!("phase: {phase}")));
    lines.push(kind_line(&state.kind));
    if let Some(task) = state.task() {
        let timeout = task.timeout.map_or_else(String::new, |timeout| format!(", timeout {timeout}"));
        lines.push(format!("lease {}{timeout}", task.lease));
    }
    lines.join("\n")
}
