//! The message of a notification: the text of a mail, the body of a webhook. Bounded, and in a mail only what its
//! template names.

use serde_json::json;

use super::notify::plain;
use crate::event::Event;
use crate::expr::{Expr, GuardError};
use crate::json::{Json, Value};
use crate::links::Links;
use crate::pipeline::{Piece, Pipeline, Template};
use crate::submission::Submission;

/// The text of a mail, the body of a post.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
const SUBJECT_CHARS_MAX: usize = 500;

/// A message, ready to be sent to any number of addresses.
pub(super) struct Written {
    pub(super) subject: Option<String>,
    pub(super) body: Json,
    /// The parts that are missing from the message.
    pub(super) problem: Option<String>,
}

/// The event as receivers get it. Documents stay here; metadata too, where there is too much of it.
pub(super) fn webhook(pipeline: &Pipeline, event: &Event, row: &Submission) -> Written {
    let body = |metadata: Option<&Json>| {
        let leaf = &event.leaf;
        let mut data = json!({
            "submission": row.id,
            "pipeline": *pipeline.name,
            "version": pipeline.version,
            "revision": leaf.revision,
            "from": leaf.from.as_deref(),
            "to": *leaf.to,
            "trigger": *leaf.trigger,
            "status": row.status.as_str(),
            "labels": row.labels,
        });
        if let Some(key) = &row.key {
            data["key"] = json!(**key);
        }
        if let Some(error) = event.error() {
            data["error"] = json!({ "code": *error.code });
        }
        let mut data = data.to_string();
        if let Some(metadata) = metadata {
            // As it is: numbers in it keep every digit.
            data.truncate(data.len() - 1);
            data.push_str(",\"metadata\":");
            data.push_str(metadata.as_str());
            data.push('}');
        }
        let (kind, at) = (leaf.kind.as_str(), leaf.at);
        format!("{{\"type\":\"submission.{kind}\",\"timestamp\":\"{at}\",\"data\":{data}}}")
    };
    let whole = body(event.detail.metadata.as_ref());
    let too_much = whole.len() > BODY_BYTES_MAX;
    let body = Json::from_stored(&if too_much { body(None) } else { whole });
    let problem = too_much.then(|| "its metadata is too large and was left out".to_owned());
    Written { subject: None, body, problem }
}

/// A mail whose notification has no template.
pub(super) fn plain_mail(
    pipeline: &Pipeline,
    event: &Event,
    row: &Submission,
    links: Option<&Links>,
) -> Written {
    let mut mail = Mail::new(pipeline, event, row);
    if let Some(links) = links {
        let link = links.receipt(&pipeline.name, row.id).unwrap_or_else(|| links.page(row.id));
        mail.body.push_str(&format!("{link}\n"));
    }
    mail.written()
}

/// A mail: short and our own until a template says otherwise.
pub(super) struct Mail {
    subject: String,
    body: String,
    problem: Option<String>,
}

impl Mail {
    pub(super) fn new(pipeline: &Pipeline, event: &Event, row: &Submission) -> Self {
        let state = pipeline.known(&event.leaf.to);
        let title = state.title.as_deref().unwrap_or(&state.name);
        let mut body = format!("{}\n\n{}: {title}\n", pipeline.title, state.name);
        if let Some(error) = event.error() {
            body.push_str(&format!("Error: {}\n", error.code));
        }
        if let Some(key) = &row.key {
            body.push_str(&format!("Key: {key}\n"));
        }
        body.push_str(&format!("Submission: {}\nAt: {}\n", row.id, event.leaf.at));
        Mail { subject: format!("{}: {}", pipeline.title, state.name), body, problem: None }
    }

    /// Fills a template in. What cannot be said is left blank: a mail with a gap is better than none.
    pub(super) fn fill(
        &mut self,
        template: &Template,
        say: &mut dyn FnMut(&Expr) -> Result<Value, GuardError>,
    ) {
        let mut filled = |pieces: &[Piece]| {
            let mut text = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(written) => text.push_str(written),
                    Piece::Place(expr) => match say(expr) {
                        Ok(value) => text.push_str(&plain(value)),
                        Err(error) => self.problem = Some(format!("a place is left blank: {error}")),
                    },
                }
                if text.len() > BODY_BYTES_MAX {
                    break;
                }
            }
            text
        };
        let subject = filled(&template.subject);
        if !subject.trim().is_empty() {
            self.subject = subject;
        }
        self.body = filled(&template.body);
    }

    pub(super) fn written(self) -> Written {
        let Mail { subject, body, mut problem } = self;
        let mut body: String = body.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        if body.len() > BODY_BYTES_MAX {
            body.truncate(body.floor_char_boundary(BODY_BYTES_MAX));
            problem = Some("its text is over 64 KB and was cut".to_owned());
        }
        let body = Json::from_value(&Value::String(body));
        Written { subject: Some(one_line(&subject)), body, problem }
    }
}

/// One line of a header, whatever was filled in: nothing in it can begin another.
fn one_line(text: &str) -> String {
    let odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let line: String = text.chars().map(|c| if odd(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").chars().take(SUBJECT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(subject: &str, body: &str) -> Written {
        Mail { subject: subject.to_owned(), body: body.to_owned(), problem: None }.written()
    }

    #[test]
    fn subject_is_one_line_whatever_was_filled_in() {
        let written = mail(" a\r\nBcc: eve@example.com\u{0}\u{2028}b ", "x");
        assert_eq!(written.subject.as_deref(), Some("a Bcc: eve@example.com b"));
        assert_eq!(mail(&"x".repeat(900), "").subject.map(|subject| subject.len()), Some(500));
    }

    #[test]
    fn body_is_plain_and_bounded() {
        let written = mail("a", "x\u{1b}[2J\r\ny\tz");
        assert_eq!(written.body.as_str(), r#""x[2J\ny\tz""#);
        let written = mail("a", &"ä".repeat(40_000));
        assert!(written.problem.is_some());
        assert_eq!(written.body.value().as_str().map(str::len), Some(BODY_BYTES_MAX));
    }
}
