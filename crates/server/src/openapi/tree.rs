//! JSON whose members stay in the order they were written in: the document is for people, too.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Leaf(Value),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

pub(super) fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
}

impl Tree {
    /// The same with one member more, or with this one instead of the one it had.
    pub(super) fn with(mut self, name: &str, value: impl Into<Tree>) -> Tree {
        if let Tree::Object(members) = &mut self {
            match members.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = value.into(),
                None => members.push((name.to_owned(), value.into())),
            }
        }
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The member of this name; an empty object is put where there is none.
    pub(super) fn enter(&mut self, name: &str) -> &mut Tree {
        let Tree::Object(members) = self else { return self };
        let index = members.iter().position(|(known, _)| known == name).unwrap_or(members.len());
        if index == members.len() {
            members.push((name.to_owned(), object([])));
        }
        &mut members[index].1
    }
}

impl<T: Into<Value>> From<T> for Tree {
    fn from(value: T) -> Tree {
        Tree::Leaf(value.into())
    }
}

impl FromIterator<Tree> for Tree {
    fn from_iter<I: IntoIterator<Item = Tree>>(items: I) -> Tree {
        Tree::List(items.into_iter().collect())
    }
}

impl FromIterator<(String, Tree)> for Tree {
    fn from_iter<I: IntoIterator<Item = (String, Tree)>>(members: I) -> Tree {
        Tree::Object(members.into_iter().collect())
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Leaf(value) => value.serialize(serializer),
            Tree::List(items) => items.serialize(serializer),
            Tree::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}
