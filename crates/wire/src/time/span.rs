use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::TimeError;

/// A span of time in whole milliseconds, written like `30s` or `1h30m`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

/// Longest first: the order in which a text must name them. Weeks are read but never printed, for `7d` says the same.
const UNITS: [(&str, u64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Millis {
    pub const ZERO: Self = Self(0);
    pub const MAX: Self = Self(u64::MAX);

    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    pub const fn millis(self) -> u64 {
        self.0
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Stops at [`Millis::MAX`].
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Stops at zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Stops at [`Millis::MAX`].
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl From<Millis> for Duration {
    fn from(span: Millis) -> Self {
        Self::from_millis(span.0)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for (unit, millis) in &UNITS[1..] {
            let count = rest / millis;
            rest %= millis;
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Millis({self})")
    }
}

impl FromStr for Millis {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        if text.is_empty() {
            return refuse("a duration is missing");
        }
        if text.starts_with('-') {
            return refuse("a duration cannot be negative");
        }
        let mut total = Self::ZERO.0;
        let mut units = UNITS.as_slice();
        let mut rest = text;
        while !rest.is_empty() {
            let (count, after) = split_where(rest, |c| !c.is_ascii_digit());
            let (unit, after) = split_where(after, |c| !c.is_ascii_alphabetic());
            if count.is_empty() {
                return refuse("a duration needs a whole number before each unit");
            }
            if unit.is_empty() {
                return refuse("a duration needs a unit after each whole number");
            }
            let Some(place) = units.iter().position(|(name, _)| *name == unit) else {
                return refuse_unit(unit);
            };
            let part = count.parse::<u64>().ok().and_then(|count| count.checked_mul(units[place].1));
            let Some(sum) = part.and_then(|part| part.checked_add(total)) else {
                return refuse("the duration is too long");
            };
            total = sum;
            units = &units[place + 1..];
            rest = after;
        }
        Ok(Self(total))
    }
}

fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

fn refuse<T>(reason: &str) -> Result<T, TimeError> {
    Err(TimeError(format!("{reason}; write it like 500ms, 30s, 5m, 12h, 7d, 2w or 1h30m")))
}

fn refuse_unit<T>(unit: &str) -> Result<T, TimeError> {
    if UNITS.iter().any(|(name, _)| *name == unit) {
        return refuse("a duration names each unit once, the longest first");
    }
    let shown: String = unit.chars().take(16).collect();
    refuse(&format!("`{shown}` is not a unit of time"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<Millis>().expect_err(text).to_string()
    }

    #[test]
    fn durations_are_read_and_printed() {
        for (text, millis, printed) in [
            ("500ms", 500, "500ms"),
            ("0s", 0, "0s"),
            ("0ms", 0, "0s"),
            ("30s", 30_000, "30s"),
            ("90s", 90_000, "1m30s"),
            ("5m", 300_000, "5m"),
            ("12h", 43_200_000, "12h"),
            ("36h", 129_600_000, "1d12h"),
            ("7d", 604_800_000, "7d"),
            ("2w", 1_209_600_000, "14d"),
            ("1h30m", 5_400_000, "1h30m"),
            ("1w1d1h1m1s1ms", 694_861_001, "8d1h1m1s1ms"),
            ("18446744073709551615ms", u64::MAX, "213503982334d14h25m51s615ms"),
        ] {
            let span: Millis = text.parse().expect(text);
            assert_eq!((span.millis(), span.to_string().as_str()), (millis, printed), "{text}");
        }
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        for (text, reason) in [
            ("", "missing"),
            ("-5s", "cannot be negative"),
            ("30", "needs a unit"),
            ("1h30", "needs a unit"),
            ("s", "whole number before"),
            ("1.5h", "needs a unit"),
            (" 30s", "whole number before"),
            ("30 s", "needs a unit"),
            ("5bd", "`bd` is not a unit"),
            ("5S", "`S` is not a unit"),
            ("30m1h", "the longest first"),
            ("5m5m", "the longest first"),
            ("18446744073709551616ms", "too long"),
            ("18446744073709551615s", "too long"),
            ("30500568905w1000000000000000000ms", "too long"),
            ("٣s", "whole number before"),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(reason), "{text:?} gave {refusal}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Millis::MAX.plus(Millis::new(1)), Millis::MAX);
        assert_eq!(Millis::new(1).minus(Millis::new(2)), Millis::ZERO);
        assert_eq!(Millis::MAX.times(2), Millis::MAX);
        assert_eq!(Millis::from_secs(u64::MAX), Millis::MAX);
        assert_eq!(Duration::from(Millis::new(1_500)), Duration::from_millis(1_500));
    }

    #[test]
    fn serde_writes_text() {
        assert_eq!(serde_json::to_string(&Millis::from_secs(30)).unwrap(), "\"30s\"");
        assert_eq!(serde_json::from_str::<Millis>("\"1h\\u0033m\"").unwrap(), Millis::from_secs(3_780));
        assert!(serde_json::from_str::<Millis>("30").is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(millis: u64) {
            let span = Millis::new(millis);
            prop_assert_eq!(span.to_string().parse::<Millis>().unwrap(), span);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9wdhms.\\-é ]{0,12}") {
            let _ = text.parse::<Millis>();
        }
    }
}
