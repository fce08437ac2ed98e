//! Operators on two values.

use std::cmp::Ordering;

use super::exact::Num;
use super::fuel::{Fuel, Stop, stop};
use super::node::{Arithmetic, Comparison};
use super::val::{Val, View};
use crate::json::Number;

pub(super) fn compute<'a>(
    operation: Arithmetic,
    a: &Val<'a>,
    b: &Val<'a>,
    fuel: &mut Fuel,
) -> Result<Val<'a>, Stop> {
    match (operation, a.view(), b.view()) {
        (_, View::Num(a), View::Num(b)) => a.compute(operation, b).map(Val::Num),
        (Arithmetic::Add, View::Str(a), View::Str(b)) => {
            fuel.make_string(a.len() + b.len())?;
            Ok(Val::text([a, b].concat()))
        }
        (Arithmetic::Add, View::List(a), View::List(b)) => {
            fuel.list(a.len() + b.len())?;
            Ok(Val::List(a.iter().chain(b.iter()).collect()))
        }
        _ => stop(format!("`{}` does not work on {} and {}", symbol(operation), a.kind(), b.kind())),
    }
}

pub(super) fn compare(
    comparison: Comparison,
    a: &Val<'_>,
    b: &Val<'_>,
    fuel: &mut Fuel,
) -> Result<bool, Stop> {
    Ok(match comparison {
        Comparison::Equal => equal(a, b, fuel)?,
        Comparison::NotEqual => !equal(a, b, fuel)?,
        Comparison::Less => order(a, b, fuel)?.is_lt(),
        Comparison::LessOrEqual => order(a, b, fuel)?.is_le(),
        Comparison::Greater => order(a, b, fuel)?.is_gt(),
        Comparison::GreaterOrEqual => order(a, b, fuel)?.is_ge(),
    })
}

/// Values of different kinds are unequal, which is no error; numbers are equal by worth.
pub(super) fn equal(a: &Val<'_>, b: &Val<'_>, fuel: &mut Fuel) -> Result<bool, Stop> {
    fuel.spend(1)?;
    match (a.view(), b.view()) {
        (View::Null, View::Null) => Ok(true),
        (View::Bool(a), View::Bool(b)) => Ok(a == b),
        (View::Num(a), View::Num(b)) => Ok(a.compare(b).is_eq()),
        (View::Opaque(a), View::Opaque(b)) => equal_opaque(a, b),
        (View::Opaque(opaque), View::Num(Num::Int(_))) | (View::Num(Num::Int(_)), View::Opaque(opaque))
            if opaque.is_integer() =>
        {
            Ok(false)
        }
        (View::Opaque(_), View::Num(_)) | (View::Num(_), View::Opaque(_)) => stop(TOO_LARGE),
        (View::Str(a), View::Str(b)) => {
            fuel.spend_bytes(a.len().min(b.len()))?;
            Ok(a == b)
        }
        (View::Duration(a), View::Duration(b)) => Ok(a == b),
        (View::List(a), View::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(&a, &b, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (View::Map(a), View::Map(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for key in a.keys() {
                let key = key.to_str("a key")?;
                fuel.spend_bytes(key.len())?;
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) if equal(&a, &b, fuel)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

pub(super) fn contains(element: &Val<'_>, container: &Val<'_>, fuel: &mut Fuel) -> Result<bool, Stop> {
    match container.view() {
        View::List(items) => {
            for item in items.iter() {
                if equal(element, &item, fuel)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        View::Map(members) => Ok(members.has(element.to_str("`in` on a map")?)),
        _ => stop(format!("`in` needs a list or a map, not {}", container.a_kind())),
    }
}

const TOO_LARGE: &str = "a number beyond 64 bits can only be compared with the same literal";

fn equal_opaque(a: &Number, b: &Number) -> Result<bool, Stop> {
    // Integer literals have one spelling each; decimals have many.
    if a == b || (a.is_integer() && b.is_integer()) { Ok(a == b) } else { stop(TOO_LARGE) }
}

fn order(a: &Val<'_>, b: &Val<'_>, fuel: &mut Fuel) -> Result<Ordering, Stop> {
    match (a.view(), b.view()) {
        (View::Num(a), View::Num(b)) => Ok(a.compare(b)),
        (View::Str(a), View::Str(b)) => {
            fuel.spend_bytes(a.len().min(b.len()))?;
            Ok(a.cmp(b))
        }
        (View::Duration(a), View::Duration(b)) => Ok(a.cmp(&b)),
        (View::Bool(a), View::Bool(b)) => Ok(a.cmp(&b)),
        (View::Opaque(_), _) | (_, View::Opaque(_)) => stop(TOO_LARGE),
        _ => stop(format!("{} and {} have no order", a.kind(), b.kind())),
    }
}

fn symbol(operation: Arithmetic) -> char {
    match operation {
        Arithmetic::Add => '+',
        Arithmetic::Subtract => '-',
        Arithmetic::Multiply => '*',
        Arithmetic::Divide => '/',
        Arithmetic::Remainder => '%',
    }
}
