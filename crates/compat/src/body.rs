//! Bodies of messages: JSON, text and bytes, as payloads and back.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Json;

use crate::envelope::Trouble;

/// The kind of a message's body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ContentType {
    #[default]
    Json,
    Text,
    Bytes,
}

/// The payload of a message of bytes: nothing else has this key alone.
const BASE64: &str = "base64";

/// Returns the payload that a body is submitted as: JSON as it is, a text as a text of JSON, bytes as `{"base64": ".."}`.
pub(crate) fn payload(body: Option<Json>, kind: ContentType) -> Result<Json, Trouble> {
    let body = body.ok_or_else(|| Trouble::new(400, "the message has no `body`"))?;
    let text = || match body.to_serde() {
        Value::String(text) => Ok(text),
        _ => Err(Trouble::new(400, "the `body` of a message of this `content_type` is a text")),
    };
    match kind {
        ContentType::Json => Ok(body),
        ContentType::Text => Ok(json!(text()?).into()),
        ContentType::Bytes => {
            let encoded = text()?;
            let is_base64 = BASE64_STANDARD.decode(&encoded).is_ok();
            let wrong = || Trouble::new(400, "the `body` of a message of bytes is base64");
            is_base64.then(|| json!({ BASE64: encoded }).into()).ok_or_else(wrong)
        }
    }
}

/// Returns a body as it is pulled, and its content type: texts as they are, everything else in base64.
pub(crate) fn pulled(body: &Json) -> (String, &'static str) {
    match body.to_serde() {
        Value::String(text) => (text, "text"),
        Value::Object(object) => match (object.len(), object.get(BASE64).and_then(Value::as_str)) {
            (1, Some(encoded)) if BASE64_STANDARD.decode(encoded).is_ok() => (encoded.to_owned(), "bytes"),
            _ => (BASE64_STANDARD.encode(body.as_str()), "json"),
        },
        _ => (BASE64_STANDARD.encode(body.as_str()), "json"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_comes_back_as_it_was_sent() {
        let body = |text: &str| Some(Json::parse(text).unwrap());
        let sent = |text: &str, kind| payload(body(text), kind).unwrap();
        let (pulled_json, kind) = pulled(&sent(r#"{"n": 1.50}"#, ContentType::Json));
        assert_eq!(
            (BASE64_STANDARD.decode(pulled_json).unwrap(), kind),
            (br#"{"n": 1.50}"#.to_vec(), "json")
        );
        assert_eq!(pulled(&sent(r#""hi""#, ContentType::Text)), ("hi".to_owned(), "text"));
        assert_eq!(pulled(&sent(r#""aGk=""#, ContentType::Bytes)), ("aGk=".to_owned(), "bytes"));
        for (text, kind) in
            [("1", ContentType::Text), ("{}", ContentType::Bytes), (r#""?""#, ContentType::Bytes)]
        {
            assert!(payload(body(text), kind).is_err(), "{text}");
        }
        assert!(payload(None, ContentType::Json).is_err());
    }
}
