//! Problems as RFC 9457 has them, with a stable code.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::refusal::{Class, Refusal};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub code: String,
    pub detail: String,
    /// Members that help to do better, such as the legal actions.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        Problem {
            kind: format!("urn:milepost:problem:{}", refusal.code.as_str()),
            title: refusal.code.title().to_owned(),
            status: status(refusal),
            code: refusal.code.as_str().to_owned(),
            detail: refusal.message.clone(),
            more: refusal.details.clone(),
        }
    }
}

fn status(refusal: &Refusal) -> u16 {
    use crate::refusal::Code;
    match (refusal.code, refusal.code.class()) {
        (Code::MethodNotAllowed, _) => 405,
        (Code::UnsupportedMediaType, _) => 415,
        (_, Class::Invalid) => 400,
        (_, Class::Unauthorized) => 401,
        (_, Class::Forbidden) => 403,
        (_, Class::NotFound) => 404,
        (_, Class::Gone) => 410,
        (_, Class::Conflict) => 409,
        (_, Class::Precondition) => 412,
        (_, Class::TooLarge) => 413,
        (_, Class::Unprocessable) => 422,
        (_, Class::TooMany) => 429,
        (_, Class::Unavailable) => 503,
        (_, Class::Internal) => 500,
    }
}
