//! The quick way through an event's leaf: exactly the bytes the model writes, where no string needs an escape.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::event::Kind;
use model::{ActorKind, Digest, Right, Role, SubmissionId, Time};

use super::EventLeaf;

pub(super) fn event(text: &str) -> Option<EventLeaf<'_>> {
    let mut scan = Scan { rest: text };
    scan.expect("{\"format\":1,\"kind\":\"")?;
    let kind = one_of(&Kind::ALL, Kind::as_str, scan.until_quote()?)?;
    scan.expect(",\"definition\":\"")?;
    let definition = scan.digest()?;
    scan.expect(",\"submission\":\"")?;
    let submission = scan.id()?;
    scan.expect(",\"revision\":")?;
    let revision = scan.number()?;
    let previous = if scan.skip(",\"previous\":\"") { Some(scan.digest()?) } else { None };
    scan.expect(",\"at\":\"")?;
    let at = time(scan.until_quote()?)?;
    let from = if scan.skip(",\"from\":\"") { Some(scan.name()?) } else { None };
    scan.expect(",\"to\":\"")?;
    let to = scan.name()?;
    scan.expect(",\"trigger\":\"")?;
    let trigger = scan.name()?;
    scan.expect(",\"actor\":{\"type\":\"")?;
    let actor = one_of(&ActorKind::ALL, ActorKind::as_str, scan.until_quote()?)?;
    scan.expect(",\"id\":\"")?;
    let actor_id = scan.digest()?;
    scan.expect("},\"right\":")?;
    let right = scan.right()?;
    scan.expect(",\"held\":")?;
    let held = scan.truth()?;
    scan.expect(",\"attempt\":")?;
    let attempt = u32::try_from(scan.number()?).ok()?;
    let payload = if scan.skip(",\"payload\":\"") { Some(scan.digest()?) } else { None };
    let output = if scan.skip(",\"output\":\"") { Some(scan.digest()?) } else { None };
    let metadata = if scan.skip(",\"metadata\":\"") { Some(scan.digest()?) } else { None };
    (scan.rest == "}").then_some(EventLeaf {
        kind,
        definition,
        submission,
        revision,
        previous,
        at,
        from,
        to,
        trigger,
        actor,
        actor_id,
        right,
        held,
        attempt,
        payload,
        output,
        metadata,
    })
}

struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    fn skip(&mut self, literal: &str) -> bool {
        match self.rest.strip_prefix(literal) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, literal: &str) -> Option<()> {
        self.skip(literal).then_some(())
    }

    /// A string's text, without its closing quote. One with an escape is not for the quick way.
    fn until_quote(&mut self) -> Option<&'a str> {
        let end = self.rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20)?;
        let text = self.rest.get(..end)?;
        self.rest = self.rest[end..].strip_prefix('"')?;
        Some(text)
    }

    fn name(&mut self) -> Option<Cow<'a, str>> {
        self.until_quote().map(Cow::Borrowed)
    }

    /// 43 letters and the closing quote.
    fn digest(&mut self) -> Option<Digest> {
        let text = self.rest.get(..43)?;
        let mut bytes = [0; 32];
        let length = URL_SAFE_NO_PAD.decode_slice_unchecked(text, &mut bytes).ok()?;
        self.rest = self.rest[43..].strip_prefix('"')?;
        (length == 32).then_some(Digest(bytes))
    }

    /// Hyphenated, lower case, and the closing quote.
    fn id(&mut self) -> Option<SubmissionId> {
        let text = self.rest.get(..36)?;
        let mut bits: u128 = 0;
        for (index, byte) in text.bytes().enumerate() {
            let digit = match byte {
                b'-' if matches!(index, 8 | 13 | 18 | 23) => continue,
                _ if matches!(index, 8 | 13 | 18 | 23) => return None,
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            bits = bits << 4 | u128::from(digit);
        }
        self.rest = self.rest[36..].strip_prefix('"')?;
        Some(SubmissionId(uuid::Uuid::from_u128(bits)))
    }

    fn number(&mut self) -> Option<u64> {
        let end = self.rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        let digits = &self.rest[..end];
        let leading_zero = digits.len() > 1 && digits.starts_with('0');
        let number = digits.parse().ok().filter(|_| !leading_zero)?;
        self.rest = &self.rest[end..];
        Some(number)
    }

    fn truth(&mut self) -> Option<bool> {
        if self.skip("true") { Some(true) } else { self.expect("false").map(|()| false) }
    }

    fn right(&mut self) -> Option<Right> {
        if self.skip("\"rule\"") {
            return Some(Right::Rule);
        }
        if self.skip("{\"lease\":") {
            let lease = self.number()?;
            return self.expect("}").map(|()| Right::Lease(lease));
        }
        self.expect("{\"role\":\"")?;
        let role = one_of(&Role::ALL, Role::as_str, self.until_quote()?)?;
        self.expect("}").map(|()| Right::Role(role))
    }
}

fn one_of<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, text: &str) -> Option<T> {
    all.iter().copied().find(|one| name(*one) == text)
}

/// `2026-01-31T23:59:59.999Z`, to the letter.
fn time(text: &str) -> Option<Time> {
    let bytes: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|(index, mark)| bytes[*index] != *mark) {
        return None;
    }
    let digits = |start: usize, end: usize| {
        bytes[start..end].iter().try_fold(0_i64, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    };
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second, millis) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?, digits(20, 23)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let days_of_month = *days.get(usize::try_from(month - 1).ok()?)?;
    if !(1..=days_of_month).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970, counting years from March so that the leap day is the last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(Time::from_millis(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_the_model_reads_them() {
        let texts = [
            "1970-01-01T00:00:00.000Z",
            "2026-11-16T12:34:56.789Z",
            "2024-02-29T23:59:59.999Z",
            "2000-02-29T00:00:00.001Z",
            "1900-02-29T00:00:00.000Z",
            "2023-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:60:00.000Z",
            "2026-12-31T23:59:60.000Z",
            "9999-12-31T23:59:59.999Z",
        ];
        for text in texts {
            let model: Option<Time> = text.parse().ok();
            // The model reads a leap second as the one before it; written again it would be another text.
            let model = model.filter(|time| time.to_string() == text);
            assert_eq!(time(text), model, "{text}");
        }
    }
}
