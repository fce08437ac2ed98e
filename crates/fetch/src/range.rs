//! Parts of a document: asking for one, and seeing to it that it is what came.

use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, HeaderMap, HeaderValue};

use crate::error::Error;

/// The part of a document that an answer has, by what its `Content-Range` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub first: u64,
    pub last: u64,
    /// The size of the whole document, where the other side knows it.
    pub total: Option<u64>,
}

impl Part {
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

/// The bytes that are asked for: to the end of the document, unless `last` is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) last: Option<u64>,
}

impl Span {
    pub(crate) fn header(self) -> Result<HeaderValue, Error> {
        if self.last.is_some_and(|last| last < self.first) {
            return Err(Error::OtherPart("it would end before it begins"));
        }
        let last = self.last.map(|last| last.to_string()).unwrap_or_default();
        HeaderValue::try_from(format!("bytes={}-{last}", self.first))
            .map_err(|_| Error::OtherPart("it cannot be written"))
    }

    /// Admits less than was asked for, but nothing else: who appends it needs its first byte to be the one they lack.
    fn admits(self, part: &Part) -> bool {
        part.first == self.first && self.last.is_none_or(|last| part.last <= last)
    }
}

/// Returns the part that an answer has; `None` for the whole document, and for what is none.
pub(crate) fn part_of(
    asked: Option<Span>,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Part>, Error> {
    if status != StatusCode::PARTIAL_CONTENT {
        return Ok(None);
    }
    let asked = asked.ok_or(Error::OtherPart("the whole was asked for"))?;
    let mut values = headers.get_all(CONTENT_RANGE).iter();
    let (value, another) = (values.next(), values.next());
    if another.is_some() {
        return Err(Error::OtherPart("it says twice which it is"));
    }
    let text = value.and_then(|value| value.to_str().ok());
    let part = text.and_then(read).ok_or(Error::OtherPart("it does not say which it is"))?;
    if !asked.admits(&part) {
        return Err(Error::OtherPart("it begins or ends elsewhere"));
    }
    Ok(Some(part))
}

/// Reads `bytes 0-9/10` or `bytes 0-9/*`.
fn read(text: &str) -> Option<Part> {
    let (unit, rest) = text.split_once(' ')?;
    let (span, total) = rest.split_once('/')?;
    let (first, last) = span.split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    let total = if total == "*" { None } else { Some(number(total)?) };
    let is_sound = first <= last && total.is_none_or(|total| last < total);
    (unit.eq_ignore_ascii_case("bytes") && is_sound).then_some(Part { first, last, total })
}

/// Reads digits, and nothing that only looks like a number.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u64, last: Option<u64>, values: &[&'static str]) -> Result<Option<Part>, Error> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_RANGE, HeaderValue::from_static(value));
        }
        part_of(Some(Span { first, last }), StatusCode::PARTIAL_CONTENT, &headers)
    }

    #[test]
    fn a_part_is_what_was_asked_for_or_less() {
        for (first, last, value, expected) in [
            (5, None, "bytes 5-9/10", (5, 9, Some(10))),
            (5, None, "BYTES 5-7/*", (5, 7, None)),
            (5, Some(8), "bytes 5-8/10", (5, 8, Some(10))),
            (5, Some(80), "bytes 5-9/10", (5, 9, Some(10))),
            (0, None, "bytes 0-18446744073709551615/*", (0, u64::MAX, None)),
        ] {
            let (first_got, last_got, total) = expected;
            let expected = Part { first: first_got, last: last_got, total };
            assert_eq!(part(first, last, &[value]), Ok(Some(expected)), "{value}");
        }
    }

    #[test]
    fn any_other_part_is_refused() {
        for value in [
            "bytes 4-9/10",
            "bytes 6-9/10",
            "bytes 5-10/10",
            "bytes 5-4/10",
            "bytes 5-9/+10",
            "bytes +5-9/10",
            "bytes 5-9",
            "bytes=5-9/10",
            "bytes */10",
            "items 5-9/10",
            "bytes 5-99999999999999999999/*",
            "bytes 5-9/",
            "bytes -9/10",
            "",
        ] {
            assert!(part(5, None, &[value]).is_err(), "{value:?}");
        }
        assert!(part(5, Some(7), &["bytes 5-8/10"]).is_err(), "more than was asked for");
        assert!(part(5, None, &[]).is_err(), "without a word");
        assert!(part(5, None, &["bytes 5-9/10", "bytes 5-9/10"]).is_err(), "twice");
        let headers = HeaderMap::new();
        assert!(part_of(None, StatusCode::PARTIAL_CONTENT, &headers).is_err(), "unasked");
    }

    #[test]
    fn a_span_that_ends_before_it_begins_is_not_asked_for() {
        assert!(Span { first: 5, last: Some(4) }.header().is_err());
        assert_eq!(Span { first: 5, last: Some(5) }.header().unwrap(), "bytes=5-5");
        assert_eq!(Span { first: 5, last: None }.header().unwrap(), "bytes=5-");
    }
}
