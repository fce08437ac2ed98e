use std::fmt;

use super::JsonError;
use super::parse::Parser;

/// A JSON number as its literal, so that no value is ever rounded by being carried.
///
/// Equality is of the text: `1`, `1.0` and `1e0` are three numbers here. Expressions compare by worth instead.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

impl Number {
    /// Reads exactly one literal, nothing around it.
    pub fn parse(literal: &str) -> Result<Self, JsonError> {
        Parser::new(literal, 0).lone_number().map(Number::from_literal)
    }

    /// The caller has scanned the literal.
    pub(super) fn from_literal(literal: &str) -> Self {
        Self(literal.into())
    }

    /// The shortest literal that reads back as the same double; none for infinities and NaN, which JSON lacks.
    pub fn from_f64(number: f64) -> Option<Self> {
        number.is_finite().then(|| Self(format!("{number:?}").into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Written without fraction and exponent: `1e3` is a decimal, whatever its worth.
    pub fn is_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }

    /// Returns the integer, if the number is an integer literal that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Returns the integer, if the number is an integer literal that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The nearest double, or none where even that is infinite.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({})", self.0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {
        $(impl From<$integer> for Number {
            fn from(number: $integer) -> Self {
                Self(number.to_string().into())
            }
        })*
    };
}
from_integers!(u8 u16 u32 u64 usize i8 i16 i32 i64);
