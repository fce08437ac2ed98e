//! The wire types of `wire::api` as schemas. They are written by hand, because they say more than the types do; that they
//! say the same where both speak is tested, by reading and writing their examples.

use model::refusal::Code;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tree::{Tree, object};
use super::words::{self, Piece, about};

/// A wire type with a schema.
pub(super) trait Shape: DeserializeOwned + Serialize {
    fn name() -> String {
        let path = std::any::type_name::<Self>();
        path.rsplit("::").next().unwrap_or(path).to_owned()
    }

    fn schema() -> Piece;
}

/// The schema of another type, by its name.
pub(super) fn refer<T: Shape>() -> Piece {
    object([("$ref", format!("#/components/schemas/{}", T::name()).into())])
}

/// A schema that has a name of its own in the document.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) schema: Piece,
    #[cfg(test)]
    pub(super) truth: super::tests::Truth,
}

pub(super) fn named<T: Shape>() -> Named {
    Named {
        name: T::name(),
        schema: T::schema(),
        #[cfg(test)]
        truth: super::tests::Truth::of::<T>(),
    }
}

/// An object, member by member.
pub(super) struct Fields {
    about: String,
    required: Vec<String>,
    properties: Vec<(String, Piece)>,
    is_open: bool,
}

/// Describes what callers send: a member that is not named is refused.
pub(super) fn taken(sentence: &str) -> Fields {
    Fields { is_open: false, ..given(sentence) }
}

/// Describes what callers are given: members may be added in later versions.
pub(super) fn given(sentence: &str) -> Fields {
    Fields { about: sentence.to_owned(), required: Vec::new(), properties: Vec::new(), is_open: true }
}

impl Fields {
    /// A member that is always there.
    pub(super) fn has(mut self, name: &str, piece: Piece, sentence: &str) -> Self {
        self.required.push(name.to_owned());
        self.may(name, piece, sentence)
    }

    /// One that may be left out.
    pub(super) fn may(mut self, name: &str, piece: Piece, sentence: &str) -> Self {
        self.properties.push((name.to_owned(), about(piece, sentence)));
        self
    }

    /// The schema, without an example.
    pub(super) fn plain(self) -> Piece {
        let schema = about(object([("type", "object".into())]), &self.about);
        let schema = schema.with("properties", self.properties.into_iter().collect::<Tree>());
        let schema = if self.required.is_empty() { schema } else { schema.with("required", self.required) };
        if self.is_open { schema } else { schema.with("additionalProperties", false) }
    }

    /// The schema, with what it looks like.
    pub(super) fn like(self, example: Value) -> Piece {
        self.plain().with("examples", Tree::from_iter([Tree::Leaf(example)]))
    }
}

impl Shape for wire::api::Problem {
    fn schema() -> Piece {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        given("A problem of RFC 9457. Some have more members, such as the legal `actions`.")
            .has("type", words::spelled("^urn:milepost:problem:[a-z-]+$"), "")
            .has("title", words::text(), "What the code means.")
            .has("status", words::whole(400, 599), "")
            .has("code", words::one_of(&codes), "Stable: decide by it.")
            .has("detail", words::text(), "For people; it may change.")
            .like(serde_json::json!({
                "type": "urn:milepost:problem:action-not-allowed",
                "title": "the state has no such action",
                "status": 409,
                "code": "action-not-allowed",
                "detail": "state REVIEW has no action `aprove`; it has approve, reject",
                "actions": ["approve", "reject"],
                "state": "REVIEW"
            }))
    }
}
