//! Numbers of different kinds, compared and computed without rounding.

use std::cmp::Ordering;

use super::fuel::{Stop, stop};
use super::node::Arithmetic;

#[derive(Debug, Clone, Copy)]
pub(super) enum Num {
    /// Within 64 bits, signed or unsigned.
    Int(i128),
    /// Finite.
    Double(f64),
}

const SIGNED: std::ops::RangeInclusive<i128> = i64::MIN as i128..=i64::MAX as i128;
const ANY: std::ops::RangeInclusive<i128> = i64::MIN as i128..=u64::MAX as i128;

impl Num {
    /// By worth: `1` equals `1.0`, and 2^53 + 1 does not equal the double nearest to it.
    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (Self::Double(a), Self::Double(b)) => a.partial_cmp(&b).expect("doubles here are finite"),
            (Self::Int(a), Self::Double(b)) => compare_mixed(a, b),
            (Self::Double(a), Self::Int(b)) => compare_mixed(b, a).reverse(),
        }
    }

    pub(super) fn compute(self, operation: Arithmetic, other: Self) -> Result<Self, Stop> {
        if let (Self::Int(a), Self::Int(b)) = (self, other) {
            return compute_integers(operation, a, b);
        }
        let (a, b) = (self.to_double()?, other.to_double()?);
        let result = match operation {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
            Arithmetic::Divide if b == 0.0 => return stop("division by zero"),
            Arithmetic::Divide => a / b,
            Arithmetic::Remainder => return stop("`%` needs two integers"),
        };
        if result.is_finite() {
            Ok(Self::Double(result))
        } else {
            stop("the result is too large for a double")
        }
    }

    pub(super) fn negate(self) -> Result<Self, Stop> {
        match self {
            Self::Int(number) => compute_integers(Arithmetic::Subtract, 0, number),
            Self::Double(number) => Ok(Self::Double(-number)),
        }
    }

    pub(super) fn to_double(self) -> Result<f64, Stop> {
        match self {
            Self::Double(number) => Ok(number),
            Self::Int(number) if number as f64 as i128 == number => Ok(number as f64),
            Self::Int(_) => stop("the integer has no exact double"),
        }
    }

    /// Towards zero.
    pub(super) fn to_integer(self) -> Result<i128, Stop> {
        let integer = match self {
            Self::Int(number) => number,
            // Saturates far outside of 64 bits, where it is refused.
            Self::Double(number) => number.trunc() as i128,
        };
        if ANY.contains(&integer) { Ok(integer) } else { stop("the number does not fit 64 bits") }
    }
}

fn compare_mixed(integer: i128, double: f64) -> Ordering {
    let floor = double.floor();
    // The cast saturates far outside of what `integer` can be.
    integer.cmp(&(floor as i128)).then(if double > floor { Ordering::Less } else { Ordering::Equal })
}

fn compute_integers(operation: Arithmetic, a: i128, b: i128) -> Result<Num, Stop> {
    let result = match operation {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide | Arithmetic::Remainder if b == 0 => return stop("division by zero"),
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Remainder => a.checked_rem(b),
    };
    // Signed operands give a signed result, as in every CEL; only what was unsigned already may stay so.
    let range = if SIGNED.contains(&a) && SIGNED.contains(&b) { SIGNED } else { ANY };
    match result.filter(|result| range.contains(result)) {
        Some(result) => Ok(Num::Int(result)),
        None => stop("integer overflow"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_53: i128 = 1 << 53;

    #[test]
    fn integers_and_doubles_compare_by_worth() {
        let int = |number| Num::Int(number);
        let double = |number| Num::Double(number);
        for (a, b, expected) in [
            (int(92), double(92.0), Ordering::Equal),
            (int(92), double(92.5), Ordering::Less),
            (int(-92), double(-92.5), Ordering::Greater),
            (int(TWO_53 + 1), double(TWO_53 as f64), Ordering::Greater),
            (int(u64::MAX.into()), double(18_446_744_073_709_551_616.0), Ordering::Less),
            (int(u64::MAX.into()), double(1e300), Ordering::Less),
            (int(i64::MIN.into()), double(-1e300), Ordering::Greater),
            (int(0), double(-0.0), Ordering::Equal),
            (int(u64::MAX.into()), int(80), Ordering::Greater),
        ] {
            assert_eq!(a.compare(b), expected, "{a:?} {b:?}");
            assert_eq!(b.compare(a), expected.reverse(), "{b:?} {a:?}");
        }
    }

    #[test]
    fn nothing_is_rounded_on_the_way_into_a_double() {
        assert!(Num::Int(TWO_53 + 1).compute(Arithmetic::Add, Num::Double(0.5)).is_err());
        assert!(Num::Int(TWO_53).compute(Arithmetic::Add, Num::Double(0.5)).is_ok());
    }
}
