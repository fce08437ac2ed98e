//! Times in seconds, exact: a window that ends at this very moment has ended, whatever a double makes of it.

use std::fmt;
use std::ops::Add;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::value::RawValue;

/// The digits after the point that a time may have.
const DIGITS: u32 = 24;
/// The units of a second.
const SECOND: i128 = 10_i128.pow(DIGITS);
/// The largest time either way: three million years. The sum of two of them is a number still.
const MAX: i128 = 50_000_000_000_000 * SECOND;
/// The longest literal that is read.
const LITERAL_MAX: usize = 64;

/// A time, or a span, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(i128);

/// A number that is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time: write seconds as a number of at most 14 digits, with up to 24 after the point")]
pub struct InvalidSeconds(String);

impl Seconds {
    /// Returns so many whole seconds.
    #[must_use]
    pub const fn whole(seconds: u32) -> Seconds {
        // A widening: `From` is no constant function.
        Seconds(seconds as i128 * SECOND)
    }

    /// Returns so many thousandths of a second.
    #[must_use]
    pub const fn of_millis(millis: u64) -> Seconds {
        Seconds(millis as i128 * (SECOND / 1_000))
    }

    /// Reads the literal of a JSON number, with an exponent or without.
    pub fn parse(literal: &str) -> Result<Seconds, InvalidSeconds> {
        let units = units(literal).filter(|units| (-MAX..=MAX).contains(units));
        units.map(Seconds).ok_or_else(|| InvalidSeconds(literal.chars().take(LITERAL_MAX).collect()))
    }
}

fn units(literal: &str) -> Option<i128> {
    if literal.len() > LITERAL_MAX {
        return None;
    }
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    if digits == 0 {
        return Some(0);
    }
    let exponent: i32 = exponent.parse().ok()?;
    let places = exponent.checked_add(i32::try_from(DIGITS).ok()?)?;
    let places = places.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let factor = 10_i128.checked_pow(places.unsigned_abs())?;
    match places >= 0 {
        true => digits.checked_mul(factor),
        false => (digits % factor == 0).then_some(digits / factor),
    }
}

impl Add for Seconds {
    type Output = Seconds;

    fn add(self, span: Seconds) -> Seconds {
        Seconds(self.0 + span.0)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.abs() / SECOND, self.0.abs() % SECOND);
        let rest = format!("{rest:024}");
        match rest.trim_end_matches('0') {
            "" => write!(f, "{sign}{whole}"),
            fraction => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

/// Reads the number as it is written.
impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        let literal = <&RawValue>::deserialize(deserializer)?;
        Seconds::parse(literal.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(literal: &str) -> Seconds {
        Seconds::parse(literal).unwrap()
    }

    #[test]
    fn times_are_exact() {
        assert_eq!(seconds("85.3") + Seconds::whole(15), seconds("100.3"));
        assert_eq!(seconds("0.1") + seconds("0.2"), seconds("0.3"));
        assert!(seconds("0.30000000000000004") > seconds("0.3"));
        for (one, other) in
            [("1.5e1", "15"), ("1500E-2", "15.000"), ("-0", "0"), ("0e999", "0"), ("-1.5", "-15e-1")]
        {
            assert_eq!(seconds(one), seconds(other), "{one} {other}");
        }
        assert_eq!(Seconds::of_millis(14_999), seconds("14.999"));
        assert!(seconds("-2") < seconds("-1.9"));
    }

    #[test]
    fn times_are_shown_as_people_write_them() {
        for text in ["0", "15", "-1.5", "1763532000.25", "0.000000000000000000000001"] {
            assert_eq!(seconds(text).to_string(), text);
        }
        assert_eq!(seconds("1.50e1").to_string(), "15");
    }

    #[test]
    fn numbers_that_are_no_times_are_refused() {
        for text in
            ["1e15", "-1e15", "1e-25", "1e999999999999", "null", "\"1\"", "", "1.5.5", &"9".repeat(65)]
        {
            assert!(Seconds::parse(text).is_err(), "{text}");
        }
    }
}
