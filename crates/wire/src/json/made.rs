//! The results a parser can make of what it reads: all of it, or the certainty that it is strict.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::{Number, Value};

pub(super) trait Made<'t>: Sized {
    /// The members of an object that is being read.
    type Members: Default;

    fn null() -> Self;
    fn bool(value: bool) -> Self;
    fn number(literal: &'t str) -> Self;
    fn string(text: Cow<'t, str>) -> Self;
    fn element(elements: &mut Vec<Self>, element: Self);
    fn array(elements: Vec<Self>) -> Self;
    /// `false`: the key was there already.
    fn member(members: &mut Self::Members, key: Cow<'t, str>, value: Self) -> bool;
    fn object(members: Self::Members) -> Self;
}

impl<'t> Made<'t> for Value {
    type Members = BTreeMap<String, Value>;

    fn null() -> Self {
        Value::Null
    }

    fn bool(value: bool) -> Self {
        Value::Bool(value)
    }

    fn number(literal: &'t str) -> Self {
        Value::Number(Number::from_literal(literal))
    }

    fn string(text: Cow<'t, str>) -> Self {
        Value::String(text.into_owned())
    }

    fn element(elements: &mut Vec<Self>, element: Self) {
        elements.push(element);
    }

    fn array(elements: Vec<Self>) -> Self {
        Value::Array(elements)
    }

    fn member(members: &mut Self::Members, key: Cow<'t, str>, value: Self) -> bool {
        match members.entry(key.into_owned()) {
            Entry::Vacant(place) => {
                place.insert(value);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    fn object(members: Self::Members) -> Self {
        Value::Object(members)
    }
}

/// The rest of a text that was only checked: the keys of the outermost object, if it is one.
#[derive(Debug, Default)]
pub struct Outline<'t>(BTreeSet<Cow<'t, str>>);

impl Outline<'_> {
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.contains(key)
    }
}

impl<'t> Made<'t> for Outline<'t> {
    type Members = BTreeSet<Cow<'t, str>>;

    fn null() -> Self {
        Outline::default()
    }

    fn bool(_: bool) -> Self {
        Outline::default()
    }

    fn number(_: &'t str) -> Self {
        Outline::default()
    }

    fn string(_: Cow<'t, str>) -> Self {
        Outline::default()
    }

    fn element(_: &mut Vec<Self>, _: Self) {}

    fn array(_: Vec<Self>) -> Self {
        Outline::default()
    }

    fn member(members: &mut Self::Members, key: Cow<'t, str>, _: Self) -> bool {
        members.insert(key)
    }

    fn object(members: Self::Members) -> Self {
        Outline(members)
    }
}
