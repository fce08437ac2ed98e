//! Metered documents: what a schema sees of a document, each look at it counted.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson, cmp, unique};
use serde_json::{Map, Value};

use super::fuel::{spend, spend_member, spend_text};

/// The kind of JSON that validators are built for.
pub(super) struct Metered;

/// A value that counts each look at it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a>(pub(super) &'a Value);

/// An object that counts each look at a member.
pub(super) struct SeenObject<'a>(&'a Map<String, Value>);

/// An array that counts each look at an element.
pub(super) struct SeenArray<'a>(&'a [Value]);

pub(super) struct Members<'a>(serde_json::map::Iter<'a>);

pub(super) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl Json for Metered {
    type Node<'a> = Seen<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Seen<'_>) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, |value| f(Seen(value)))
    }
}

impl<'a> Node<'a, Metered> for Seen<'a> {
    type Object = SeenObject<'a>;
    type Array = SeenArray<'a>;
    type Number = &'a serde_json::Number;

    fn as_object(&self) -> Option<SeenObject<'a>> {
        spend(1);
        self.0.as_object().map(SeenObject)
    }

    fn as_array(&self) -> Option<SeenArray<'a>> {
        spend(1);
        self.0.as_array().map(|elements| SeenArray(elements))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        spend_text(text.map_or(0, str::len));
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a serde_json::Number> {
        spend(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        spend(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        spend(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn string_length(&self) -> Option<u64> {
        let length = Node::<SerdeJson>::string_length(&self.0);
        spend(1 + self.0.as_str().map_or(0, str::len) as u64 / 256);
        length
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend_whole(expected);
        cmp::equal(self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        spend(1);
        Node::<SerdeJson>::identity(&self.0)
    }
}

impl<'a> Object<'a, Metered> for SeenObject<'a> {
    type Node = Seen<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Seen<'a>> {
        spend(1);
        self.0.get(key).map(Seen)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.iter())
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Seen<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| {
            spend_member(key);
            (key.as_str(), Seen(value))
        })
    }
}

impl<'a> Array<'a, Metered> for SeenArray<'a> {
    type Node = Seen<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Elements<'a> {
        Elements(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        self.0.iter().for_each(spend_whole);
        unique::is_unique(self.0)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Seen<'a>;

    fn next(&mut self) -> Option<Seen<'a>> {
        spend(1);
        self.0.next().map(Seen)
    }
}

/// Counts a look at everything in a value: to compare or to hash it takes about as long.
fn spend_whole(value: &Value) {
    match value {
        Value::String(text) => spend(2 + text.len() as u64 / 32),
        Value::Array(elements) => {
            spend(2);
            elements.iter().for_each(spend_whole);
        }
        Value::Object(members) => {
            spend(2 + members.len() as u64);
            members.values().for_each(spend_whole);
        }
        _ => spend(2),
    }
}
