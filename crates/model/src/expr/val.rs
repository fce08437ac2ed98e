//! Values during an evaluation. What came as JSON stays where it is and is looked at through [`View`].

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Out;
use super::exact::Num;
use super::fuel::{Fuel, Stop, stop};
use crate::json::{Number, Value};
use crate::time::Millis;

/// Copying a node of JSON takes an allocation or two.
const COPY_COST: u64 = 4;

#[derive(Debug, Clone)]
pub(super) enum Val<'a> {
    Null,
    Bool(bool),
    Num(Num),
    Str(&'a str),
    Text(Rc<str>),
    List(Rc<[Val<'a>]>),
    Map(Rc<BTreeMap<String, Val<'a>>>),
    Duration(Millis),
    Json(&'a Value),
}

/// A value with its JSON opened, one level deep.
#[derive(Debug, Clone, Copy)]
pub(super) enum View<'v, 'a> {
    Null,
    Bool(bool),
    Num(Num),
    /// A number too large for 64 bits and doubles: it can be carried and recognised, not computed with.
    Opaque(&'a Number),
    Str(&'v str),
    List(Items<'v, 'a>),
    Map(Members<'v, 'a>),
    Duration(Millis),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Items<'v, 'a> {
    Json(&'a [Value]),
    Made(&'v [Val<'a>]),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Members<'v, 'a> {
    Json(&'a BTreeMap<String, Value>),
    Made(&'v BTreeMap<String, Val<'a>>),
}

impl<'a> Val<'a> {
    pub(super) fn text(text: String) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn view(&self) -> View<'_, 'a> {
        match self {
            Self::Null => View::Null,
            Self::Bool(truth) => View::Bool(*truth),
            Self::Num(number) => View::Num(*number),
            Self::Str(text) => View::Str(text),
            Self::Text(text) => View::Str(text),
            Self::List(items) => View::List(Items::Made(items)),
            Self::Map(members) => View::Map(Members::Made(members)),
            Self::Duration(span) => View::Duration(*span),
            Self::Json(value) => match value {
                Value::Null => View::Null,
                Value::Bool(truth) => View::Bool(*truth),
                Value::Number(number) => view_number(number),
                Value::String(text) => View::Str(text),
                Value::Array(elements) => View::List(Items::Json(elements)),
                Value::Object(members) => View::Map(Members::Json(members)),
            },
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.view() {
            View::Null => "null",
            View::Bool(_) => "bool",
            View::Num(Num::Int(_)) => "int",
            View::Num(Num::Double(_)) => "double",
            View::Opaque(_) => "number beyond 64 bits",
            View::Str(_) => "string",
            View::List(_) => "list",
            View::Map(_) => "map",
            View::Duration(_) => "duration",
        }
    }

    /// With its article.
    pub(super) fn a_kind(&self) -> String {
        match self.kind() {
            "null" => "null".to_owned(),
            "int" => "an int".to_owned(),
            kind => format!("a {kind}"),
        }
    }

    pub(super) fn to_bool(&self) -> Result<bool, Stop> {
        match self.view() {
            View::Bool(truth) => Ok(truth),
            _ => stop(format!("needs a bool, not {}", self.a_kind())),
        }
    }

    pub(super) fn to_i64(&self) -> Result<i64, Stop> {
        match self.view() {
            View::Num(Num::Int(number)) => {
                i64::try_from(number).map_err(|_| Stop::new("needs an int within 64 bits, signed"))
            }
            _ => stop(format!("needs an int, not {}", self.a_kind())),
        }
    }

    pub(super) fn to_str(&self, user: &str) -> Result<&str, Stop> {
        match self.view() {
            View::Str(text) => Ok(text),
            _ => stop(format!("{user} needs a string, not {}", self.a_kind())),
        }
    }

    pub(super) fn exact_text(&self) -> Result<String, Stop> {
        match self.view() {
            View::Str(text) => Ok(text.to_owned()),
            View::Bool(truth) => Ok(truth.to_string()),
            View::Num(Num::Int(number)) => Ok(number.to_string()),
            View::Num(_) | View::Opaque(_) => {
                stop(format!("{} has no one text; use canonical() for it as written", self.a_kind()))
            }
            _ => stop(format!("needs a string, bool or int, not {}", self.a_kind())),
        }
    }

    pub(super) fn to_out(&self, fuel: &mut Fuel) -> Result<Out, Stop> {
        match self {
            Self::Duration(span) => Ok(Out::Duration(*span)),
            _ => self.to_json(fuel).map(Out::Json),
        }
    }

    pub(super) fn to_json(&self, fuel: &mut Fuel) -> Result<Value, Stop> {
        fuel.spend(COPY_COST)?;
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Num(Num::Int(number)) => Value::Number(integer(*number)),
            Self::Num(Num::Double(number)) => {
                Value::Number(Number::from_f64(*number).expect("doubles here are finite"))
            }
            Self::Str(text) => copy_text(text, fuel)?,
            Self::Text(text) => copy_text(text, fuel)?,
            Self::List(items) => {
                Value::Array(items.iter().map(|item| item.to_json(fuel)).collect::<Result<_, _>>()?)
            }
            Self::Map(members) => {
                let copy = |(key, value): (&String, &Val<'_>)| Ok((key.clone(), value.to_json(fuel)?));
                Value::Object(members.iter().map(copy).collect::<Result<_, _>>()?)
            }
            Self::Duration(span) => Value::String(span.to_string()),
            Self::Json(value) => {
                charge_copy(value, fuel)?;
                (*value).clone()
            }
        })
    }
}

impl<'a> Items<'_, 'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Json(elements) => elements.len(),
            Self::Made(items) => items.len(),
        }
    }

    pub(super) fn get(self, index: usize) -> Option<Val<'a>> {
        match self {
            Self::Json(elements) => elements.get(index).map(Val::Json),
            Self::Made(items) => items.get(index).cloned(),
        }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Val<'a>> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

impl<'a> Members<'_, 'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Json(members) => members.len(),
            Self::Made(members) => members.len(),
        }
    }

    pub(super) fn has(self, key: &str) -> bool {
        match self {
            Self::Json(members) => members.contains_key(key),
            Self::Made(members) => members.contains_key(key),
        }
    }

    pub(super) fn get(self, key: &str) -> Option<Val<'a>> {
        match self {
            Self::Json(members) => members.get(key).map(Val::Json),
            Self::Made(members) => members.get(key).cloned(),
        }
    }

    pub(super) fn keys(self) -> Vec<Val<'a>> {
        match self {
            Self::Json(members) => members.keys().map(|key| Val::Str(key)).collect(),
            Self::Made(members) => members.keys().map(|key| Val::Text(key.as_str().into())).collect(),
        }
    }
}

fn view_number<'a>(number: &'a Number) -> View<'a, 'a> {
    let num = if number.is_integer() {
        let signed = number.as_i64().map(i128::from);
        signed.or_else(|| number.as_u64().map(i128::from)).map(Num::Int)
    } else {
        number.as_f64().map(Num::Double)
    };
    num.map_or(View::Opaque(number), View::Num)
}

fn integer(number: i128) -> Number {
    match i64::try_from(number) {
        Ok(signed) => signed.into(),
        Err(_) => u64::try_from(number).expect("integers here fit 64 bits").into(),
    }
}

fn copy_text(text: &str, fuel: &mut Fuel) -> Result<Value, Stop> {
    fuel.spend_bytes(text.len())?;
    Ok(Value::String(text.to_owned()))
}

fn charge_copy(value: &Value, fuel: &mut Fuel) -> Result<(), Stop> {
    fuel.spend(COPY_COST)?;
    match value {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::Number(number) => fuel.spend_bytes(number.as_str().len()),
        Value::String(text) => fuel.spend_bytes(text.len()),
        Value::Array(elements) => elements.iter().try_for_each(|element| charge_copy(element, fuel)),
        Value::Object(members) => members.iter().try_for_each(|(key, value)| {
            fuel.spend_bytes(key.len())?;
            charge_copy(value, fuel)
        }),
    }
}
