//! The text of a mail, with places that are filled in: `Subject: ..` in the first line, an empty one, then the body.
//! The text between `{{` and `}}` is an expression.

use std::ops::Range;

use crate::expr::Expr;

/// More places a template does not have: each is evaluated in the commit of its move.
pub(crate) const PLACES_MAX: usize = 100;

/// A template, ready to be filled in.
#[derive(Debug, Clone)]
pub struct Template {
    /// The path it is named by.
    pub path: String,
    pub subject: Vec<Piece>,
    pub body: Vec<Piece>,
}

#[derive(Debug, Clone)]
pub enum Piece {
    Text(String),
    Place(Expr),
}

/// A text and its places as they are written: ranges of bytes of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) subject: Vec<Part>,
    pub(crate) body: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(Range<usize>),
    Place(Range<usize>),
}

impl Part {
    /// The range of a place, if it is one.
    pub(crate) fn place(&self) -> Option<Range<usize>> {
        match self {
            Part::Place(range) => Some(range.clone()),
            Part::Text(_) => None,
        }
    }
}

/// The fault of a template, and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: &'static str,
    pub(crate) at: Range<usize>,
}

impl Layout {
    /// Finds subject, body and places. What stands in the places is not looked at.
    pub(crate) fn of(text: &str) -> Result<Layout, Fault> {
        const SUBJECT: &str = "Subject:";
        let first = text.find('\n').unwrap_or(text.len());
        if !text.starts_with(SUBJECT) {
            return Err(Fault { message: "a template begins with a line `Subject: ..`", at: 0..first });
        }
        let rest = &text[first..];
        let second = rest.strip_prefix('\n').unwrap_or(rest);
        let after = second.strip_prefix("\r\n").or_else(|| second.strip_prefix('\n'));
        let Some(body) = after.filter(|body| !body.trim().is_empty()) else {
            let at = (first + 1).min(text.len());
            let line = second.find('\n').map_or(text.len(), |end| at + end);
            let message = "an empty line and the text of the mail follow the subject";
            return Err(Fault { message, at: at..line.max(at) });
        };
        let start = SUBJECT.len();
        let subject = parts(&text[start..first], start)?;
        if text[start..first].trim().is_empty() {
            return Err(Fault { message: "the subject is empty", at: 0..first });
        }
        let body = parts(body, text.len() - body.len())?;
        let places = |parts: &[Part]| parts.iter().filter(|part| matches!(part, Part::Place(_))).count();
        if places(&subject) + places(&body) > PLACES_MAX {
            return Err(Fault { message: "a template has at most 100 places to fill in", at: 0..first });
        }
        Ok(Layout { subject, body })
    }
}

/// The parts of `text`, which begins at byte `offset` of its file.
fn parts(text: &str, offset: usize) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|found| at + found) {
        let inner = open + 2;
        let Some(close) = text[inner..].find("}}").map(|found| inner + found) else {
            let message = "`{{` opens a place to fill in that no `}}` closes";
            return Err(Fault { message, at: offset + open..offset + inner });
        };
        parts.push(Part::Text(offset + at..offset + open));
        parts.push(Part::Place(offset + inner..offset + close));
        at = close + 2;
    }
    parts.push(Part::Text(offset + at..offset + text.len()));
    parts.retain(|part| !matches!(part, Part::Text(range) if range.is_empty()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<'t>(text: &'t str, parts: &[Part]) -> Vec<&'t str> {
        parts
            .iter()
            .map(|part| match part {
                Part::Text(range) | Part::Place(range) => &text[range.clone()],
            })
            .collect()
    }

    #[test]
    fn subject_and_body_are_told_apart_and_their_places_found() {
        let text = "Subject: about {{ payload.name }}\r\n\r\nDear {{payload.name}},\nbye\n";
        let layout = Layout::of(text).expect("it is a template");
        assert_eq!(written(text, &layout.subject), [" about ", " payload.name ", "\r"]);
        assert_eq!(written(text, &layout.body), ["Dear ", "payload.name", ",\nbye\n"]);
    }

    #[test]
    fn what_is_no_template_is_refused_with_its_place() {
        for (text, at) in [
            ("", 0..0),
            ("Hello\n\nbody\n", 0..5),
            ("Subject: x\nbody\n", 11..15),
            ("Subject: x", 10..10),
            ("Subject: x\n\n \n", 11..11),
            ("Subject:  \n\nbody", 0..10),
            ("Subject: x\n\nbody {{ a", 17..19),
        ] {
            assert_eq!(Layout::of(text).expect_err(text).at, at, "{text:?}");
        }
        let many = format!("Subject: x\n\n{}", "{{a}}".repeat(PLACES_MAX + 1));
        assert!(Layout::of(&many).is_err());
    }
}
