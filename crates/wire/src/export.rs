//! Submissions as lines: JSON, or CSV that a spreadsheet may open.

use std::fmt::Write as _;
use std::str::FromStr;

use crate::api::SubmissionView;

/// The form of exported submissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    #[default]
    JsonLines,
    /// RFC 4180, with a line of names first.
    Csv,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "jsonl" => Ok(Format::JsonLines),
            "csv" => Ok(Format::Csv),
            other => Err(format!("unknown format `{other}`; jsonl or csv")),
        }
    }
}

const COLUMNS: &str = "id,pipeline,version,state,status,key,labels,priority,attempt,requeues,parent,worker,error_code,\
                       error_message,created_at,entered_at,finished_at\r\n";

impl Format {
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Format::JsonLines => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8; header=present",
        }
    }

    /// Returns what comes before the first submission.
    #[must_use]
    pub fn head(self) -> &'static str {
        match self {
            Format::JsonLines => "",
            Format::Csv => COLUMNS,
        }
    }

    /// Adds a submission as one line.
    ///
    /// # Panics
    /// Never: a submission has only string keys and finite numbers.
    pub fn add(self, submission: &SubmissionView, lines: &mut String) {
        match self {
            Format::JsonLines => {
                lines.push_str(&serde_json::to_string(submission).expect("string keys and finite numbers"));
                lines.push('\n');
            }
            Format::Csv => add_csv(submission, lines),
        }
    }
}

fn add_csv(submission: &SubmissionView, lines: &mut String) {
    let SubmissionView { version, priority, attempt, requeues, .. } = submission;
    let labels = match submission.labels.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&submission.labels).expect("labels are strings"),
    };
    let worker = submission.lease.as_ref().map_or("", |lease| &lease.worker);
    let error = submission.error.as_ref();
    let time = |at: Option<crate::Time>| at.map(|at| at.to_string()).unwrap_or_default();
    // Numbers are written here and nowhere quoted: a spreadsheet may count with them.
    let _ = write!(lines, "{},{},{version},", submission.id, cell(&submission.pipeline));
    let _ = write!(lines, "{},{},", cell(&submission.state), submission.status.as_str());
    let _ = write!(lines, "{},{},", cell(submission.key.as_deref().unwrap_or_default()), cell(&labels));
    let _ = write!(lines, "{priority},{attempt},{requeues},");
    let parent = submission.parent.map(|id| id.to_string()).unwrap_or_default();
    let _ = write!(lines, "{parent},{},", cell(worker));
    let _ = write!(lines, "{},", cell(error.map_or("", |error| &error.code)));
    let _ = write!(lines, "{},", cell(error.map_or("", |error| &error.message)));
    let _ = write!(lines, "{},{},", submission.created_at, submission.entered_at);
    let _ = write!(lines, "{}\r\n", time(submission.finished_at));
}

/// Writes text of others as a cell. What a spreadsheet would take for a formula begins with an apostrophe, which makes it
/// text: a key such as `=HYPERLINK(..)` must not run on the desk of whoever opens the file.
fn cell(text: &str) -> String {
    const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff20}'];
    let is_formula = text.trim_start_matches([' ', '\u{feff}', '"']).starts_with(FORMULA);
    let mark = if is_formula { "'" } else { "" };
    match is_formula || text.contains(['"', ',', ';', '\r', '\n', '\t']) {
        true => format!("\"{mark}{}\"", text.replace('\0', "\u{fffd}").replace('"', "\"\"")),
        false => text.replace('\0', "\u{fffd}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_formula_is_text() {
        let bad = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\"=1", "\u{feff}=1", "\u{ff1d}1"];
        for text in bad {
            assert!(cell(text).starts_with("\"'"), "{text:?} is {}", cell(text));
        }
        for text in ["", "a", "a=1", "order-7", "Grüße", "1-2"] {
            assert_eq!(cell(text), text);
        }
    }

    #[test]
    fn cells_stay_one_cell() {
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(cell("two\nlines"), "\"two\nlines\"");
        assert_eq!(cell("a\0b"), "a\u{fffd}b");
    }

    #[test]
    fn formats_have_names() {
        assert_eq!(("csv".parse(), "jsonl".parse()), (Ok(Format::Csv), Ok(Format::JsonLines)));
        assert!("xlsx".parse::<Format>().is_err());
        assert_eq!(COLUMNS.split(',').count(), 17);
    }
}
