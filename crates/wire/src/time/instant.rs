use std::fmt;
use std::str::FromStr;

use jiff::civil::{DateTime, date};

use super::{Millis, TimeError};

/// A point in time: milliseconds since the Unix epoch, within the years 0000 to 9999 that RFC 3339 can write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    pub const EPOCH: Self = Self(0);
    /// 0000-01-01T00:00:00.000Z
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// 9999-12-31T23:59:59.999Z
    pub const MAX: Self = Self(253_402_300_799_999);

    /// Returns the time so long after 1970; beyond the years a `Time` can be written in, the nearest one that can.
    pub const fn from_millis(millis: i64) -> Self {
        if millis < Self::MIN.0 {
            Self::MIN
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Stops at [`Time::MAX`].
    #[must_use]
    pub const fn plus(self, span: Millis) -> Self {
        Self::from_millis(self.0.saturating_add_unsigned(span.millis()))
    }

    /// Stops at [`Time::MIN`].
    #[must_use]
    pub const fn minus(self, span: Millis) -> Self {
        Self::from_millis(self.0.saturating_sub_unsigned(span.millis()))
    }

    /// Returns how long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Time) -> Millis {
        if self.0 <= earlier.0 { Millis::ZERO } else { Millis::new(self.0.abs_diff(earlier.0)) }
    }

    /// Returns the time as RFC 3339 has it. Written by hand because rows, events and answers are full of times: by
    /// way of `jiff` and the formatting machinery they were a tenth of the cost of a move.
    #[must_use]
    pub fn text(self) -> [u8; 24] {
        let (days, millis) = (self.0.div_euclid(DAY_MILLIS), self.0.rem_euclid(DAY_MILLIS));
        let (year, month, day) = date_of(days);
        let seconds = millis / 1_000;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        digits(&mut text[..4], year);
        digits(&mut text[5..7], month);
        digits(&mut text[8..10], day);
        digits(&mut text[11..13], seconds / 3_600);
        digits(&mut text[14..16], seconds / 60 % 60);
        digits(&mut text[17..19], seconds % 60);
        digits(&mut text[20..23], millis % 1_000);
        text
    }
}

const DAY_MILLIS: i64 = 86_400_000;

/// Year, month and day of so many days after the epoch, in years that begin in March, so that a leap day is the last.
fn date_of(days: i64) -> (i64, i64, i64) {
    // From 0000-03-01 on, in eras of 400 years, which all have the same length.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

fn digits(text: &mut [u8], mut number: i64) {
    for digit in text.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).expect("digits are text"))
    }
}

impl serde::Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.text()).expect("digits are text"))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Time({self})")
    }
}

impl FromStr for Time {
    type Err = TimeError;

    /// Digits finer than a millisecond are cut off.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let millis = rfc3339(text).ok_or_else(|| {
            TimeError("not a time; write RFC 3339 with an offset, like 2026-02-15T18:00:00Z".to_owned())
        })?;
        if (Self::MIN.0..=Self::MAX.0).contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(TimeError("the time lies outside the years 0000 to 9999".to_owned()))
        }
    }
}

/// Milliseconds since the epoch. `jiff` alone would read more than RFC 3339 (missing seconds, week dates, zone
/// names), and a stored time has one grammar.
fn rfc3339(text: &str) -> Option<i64> {
    let (start, rest) = text.split_at_checked("0000-00-00T00:00:00".len())?;
    let fraction_len = match rest.strip_prefix('.') {
        Some(after) => 1 + after.find(|c: char| !c.is_ascii_digit())?,
        None => 0,
    };
    let offset = &rest[fraction_len..];
    if !has_shape(start, b"0000-00-00T00:00:00") || fraction_len == 1 {
        return None;
    }
    let local: DateTime = text[..start.len() + fraction_len].parse().ok()?;
    let since = local.duration_since(EPOCH).as_nanos().div_euclid(1_000_000);
    Some(i64::try_from(since).ok()? - offset_millis(offset)?)
}

fn offset_millis(offset: &str) -> Option<i64> {
    if matches!(offset, "Z" | "z") {
        return Some(0);
    }
    if !has_shape(offset, b"+00:00") {
        return None;
    }
    let (hours, minutes): (i64, i64) = (offset[1..3].parse().ok()?, offset[4..6].parse().ok()?);
    let millis = (hours * 60 + minutes) * 60_000;
    (hours < 24 && minutes < 60).then_some(if offset.starts_with('-') { -millis } else { millis })
}

/// `0` stands for any digit, `T` for either case, `+` for either sign.
fn has_shape(text: &str, shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape).all(|(byte, want)| match want {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't'),
            b'+' => matches!(byte, b'+' | b'-'),
            _ => byte == *want,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        text.parse().expect(text)
    }

    #[test]
    fn times_print_milliseconds_in_utc() {
        for (text, printed) in [
            ("2026-02-15T18:00:00.123Z", "2026-02-15T18:00:00.123Z"),
            ("2026-02-15t18:00:00z", "2026-02-15T18:00:00.000Z"),
            ("2026-02-15T18:00:00+05:30", "2026-02-15T12:30:00.000Z"),
            ("2026-02-15T18:00:00.5-08:00", "2026-02-16T02:00:00.500Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(time(text).to_string(), printed);
        }
        assert_eq!(time("1970-01-01T00:00:01Z").millis(), 1_000);
        assert_eq!(Time::MIN.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Time::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn times_of_all_years_are_written_as_the_calendar_has_them() {
        let mut at = Time::MIN;
        while at < Time::MAX {
            let civil = EPOCH.checked_add(jiff::SignedDuration::from_millis(at.millis())).unwrap();
            assert_eq!(at.to_string(), format!("{civil:.3}Z"));
            // Odd enough that every day of the year and every second of the day has its turn.
            at = at.plus(Millis::new(37 * DAY_MILLIS.unsigned_abs() + 3_661_007));
        }
    }

    #[test]
    fn only_rfc3339_is_a_time() {
        for text in [
            "",
            "now",
            "2026-02-15",
            "2026-02-15T18:00Z",
            "2026-02-15T18:00:00",
            "2026-02-15 18:00:00Z",
            "2026-02-15T18:00:00.Z",
            "2026-02-15T18:00:00+0530",
            "2026-02-15T18:00:00+05",
            "2026-02-15T18:00:00Z[Europe/Paris]",
            "2026-02-15T18:00:00+01:00[Europe/Paris]",
            "20260215T180000Z",
            "2026-02-30T18:00:00Z",
            "2026-02-15T25:00:00Z",
            "2026-02-15T18:00:00.5",
            "2026-02-15T18:00:00+24:00",
            "2026-02-15T18:00:00+01:60",
            "2026-02-15T18:00:0éZ",
            "2026-02-15T18:00:00é1:00",
            "2026-W07-7T18:00:00Z",
            "-000001-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            " 2026-02-15T18:00:00Z",
        ] {
            assert!(text.parse::<Time>().is_err(), "{text:?} was read as a time");
        }
    }

    #[test]
    fn an_offset_cannot_reach_beyond_the_years() {
        assert!("0000-01-01T00:00:00+01:00".parse::<Time>().is_err());
        assert!("9999-12-31T23:59:59-01:00".parse::<Time>().is_err());
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Time::EPOCH.plus(Millis::MAX), Time::MAX);
        assert_eq!(Time::EPOCH.minus(Millis::MAX), Time::MIN);
        assert_eq!(Time::from_millis(i64::MAX), Time::MAX);
        assert_eq!(Time::from_millis(i64::MIN), Time::MIN);
        let (early, late) = (Time::from_millis(-500), Time::from_millis(1_000));
        assert_eq!(late.since(early), Millis::new(1_500));
        assert_eq!(early.since(late), Millis::ZERO);
        assert_eq!(early.plus(late.since(early)), late);
    }

    #[test]
    fn serde_writes_what_display_prints() {
        let at = time("2026-02-15T18:00:00.123Z");
        let text = serde_json::to_string(&at).unwrap();
        assert_eq!(text, "\"2026-02-15T18:00:00.123Z\"");
        assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), at);
        assert!(serde_json::from_str::<Time>("1").is_err());
    }
}
