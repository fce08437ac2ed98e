//! The functions an expression may call.

use sha2::{Digest as _, Sha256};

use super::exact::Num;
use super::fuel::{Fuel, Stop, stop};
use super::repository::Repository;
use super::val::{Val, View};
use crate::json::Number;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    String,
    Int,
    Double,
    Host,
    Owner,
    OwnerAsWritten,
    Repository,
    Lower,
    Sha256,
    Canonical,
    Duration,
}

/// The form in which a function is written, for messages and checks. `matches` and the macros are handled where they
/// are read.
pub(super) struct Form {
    pub(super) function: Function,
    pub(super) name: &'static str,
    /// Callable as `target.name(..)`.
    pub(super) on_target: bool,
    /// Callable as `name(..)`.
    pub(super) alone: bool,
    /// The target included.
    pub(super) arguments: usize,
}

const fn alone(function: Function, name: &'static str) -> Form {
    Form { function, name, on_target: false, alone: true, arguments: 1 }
}

const fn on_target(function: Function, name: &'static str) -> Form {
    Form { function, name, on_target: true, alone: false, arguments: 2 }
}

pub(super) const FORMS: [Form; 15] = [
    Form { function: Function::Size, name: "size", on_target: true, alone: true, arguments: 1 },
    on_target(Function::Contains, "contains"),
    on_target(Function::StartsWith, "startsWith"),
    on_target(Function::EndsWith, "endsWith"),
    alone(Function::String, "string"),
    alone(Function::Int, "int"),
    alone(Function::Double, "double"),
    alone(Function::Host, "host"),
    alone(Function::Owner, "owner"),
    alone(Function::OwnerAsWritten, "ownerAsWritten"),
    alone(Function::Repository, "repository"),
    alone(Function::Lower, "lower"),
    alone(Function::Sha256, "sha256"),
    alone(Function::Canonical, "canonical"),
    alone(Function::Duration, "duration"),
];

/// `arguments` are as many as the form says.
pub(super) fn call<'a>(function: Function, arguments: &[Val<'a>], fuel: &mut Fuel) -> Result<Val<'a>, Stop> {
    let value = &arguments[0];
    match function {
        Function::Size => size(value, fuel),
        Function::Contains => search(arguments, "contains()", fuel, |text, part| text.contains(part)),
        Function::StartsWith => search(arguments, "startsWith()", fuel, |text, part| text.starts_with(part)),
        Function::EndsWith => search(arguments, "endsWith()", fuel, |text, part| text.ends_with(part)),
        Function::String if matches!(value.view(), View::Str(_)) => Ok(value.clone()),
        Function::String => value.exact_text().map(Val::text),
        Function::Int => to_int(value).map(|number| Val::Num(Num::Int(number))),
        Function::Double => to_double(value).map(|number| Val::Num(Num::Double(number))),
        Function::Host => of_repository(value, "host()", fuel, |read| read.host()),
        Function::Owner => of_repository(value, "owner()", fuel, |read| read.owner()),
        Function::OwnerAsWritten => {
            of_repository(value, "ownerAsWritten()", fuel, |read| read.owner_as_written())
        }
        Function::Repository => of_repository(value, "repository()", fuel, |read| read.normal_form()),
        Function::Lower => {
            let text = value.to_str("lower()")?;
            fuel.spend_bytes(text.len())?;
            let lower = text.to_lowercase();
            fuel.make_string(lower.len())?;
            Ok(Val::text(lower))
        }
        Function::Sha256 => {
            let text = value.to_str("sha256()")?;
            fuel.spend_bytes(text.len())?;
            Ok(Val::text(hex(&Sha256::digest(text))))
        }
        Function::Canonical => {
            let text = value.to_json(fuel)?.canonical();
            fuel.make_string(text.len())?;
            Ok(Val::text(text))
        }
        Function::Duration => match value.to_str("duration()")?.parse() {
            Ok(span) => Ok(Val::Duration(span)),
            Err(_) => stop("duration() needs text like 30s, 5m, 12h, 7d or 1h30m"),
        },
    }
}

fn size<'a>(value: &Val<'a>, fuel: &mut Fuel) -> Result<Val<'a>, Stop> {
    let size = match value.view() {
        View::Str(text) => {
            fuel.spend_bytes(text.len())?;
            text.chars().count()
        }
        View::List(items) => items.len(),
        View::Map(members) => members.len(),
        _ => return stop(format!("size() needs a string, list or map, not {}", value.a_kind())),
    };
    Ok(Val::Num(Num::Int(size as i128)))
}

fn search<'a>(
    arguments: &[Val<'a>],
    name: &str,
    fuel: &mut Fuel,
    found: fn(&str, &str) -> bool,
) -> Result<Val<'a>, Stop> {
    let (text, part) = (arguments[0].to_str(name)?, arguments[1].to_str(name)?);
    fuel.spend_bytes(text.len() + part.len())?;
    Ok(Val::Bool(found(text, part)))
}

fn of_repository<'a>(
    url: &Val<'a>,
    name: &str,
    fuel: &mut Fuel,
    part: fn(&Repository<'_>) -> String,
) -> Result<Val<'a>, Stop> {
    let url = url.to_str(name)?;
    fuel.spend_bytes(url.len())?;
    let Some(repository) = Repository::parse(url) else {
        return stop(format!(
            "{name} needs an address like https://host/owner/repository, without user, port, query or anything after it"
        ));
    };
    let text = part(&repository);
    fuel.make_string(text.len())?;
    Ok(Val::text(text))
}

fn to_int(value: &Val<'_>) -> Result<i128, Stop> {
    match value.view() {
        View::Num(number) => number.to_integer(),
        View::Str(text) => match text.parse::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => stop("int() needs text that is a whole number within 64 bits"),
        },
        _ => stop(format!("int() needs a number or a string, not {}", value.a_kind())),
    }
}

fn to_double(value: &Val<'_>) -> Result<f64, Stop> {
    match value.view() {
        View::Num(number) => number.to_double(),
        View::Str(text) => Number::parse(text)
            .ok()
            .and_then(|number| number.as_f64())
            .ok_or_else(|| Stop::new("double() needs text that is a number")),
        _ => stop(format!("double() needs a number or a string, not {}", value.a_kind())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
