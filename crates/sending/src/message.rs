//! A message as the payload of its delivery has it.

use engine::Engine;
use model::{Digest, Json, Name};
use serde::Deserialize;
use serde_json::value::RawValue;
use worker::Failure;

use crate::places::Submitter;

#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    /// The event that asks for it. With `name` it is the same for every try, and for every replay.
    pub(crate) cause: String,
    pub(crate) name: String,
    pub(crate) to: String,
    pub(crate) subject: Option<String>,
    /// To the letter: what is signed is what was asked for.
    #[serde(borrow)]
    pub(crate) body: &'a RawValue,
    /// The submission that it is about, and its pipeline.
    submission: Option<String>,
    pipeline: Option<Name>,
}

impl Message<'_> {
    /// Reads a message. One that cannot be read will not be readable the next time either.
    pub(crate) fn read(payload: &Json) -> Result<Message<'_>, Failure> {
        let unexpected = |error: serde_json::Error| {
            Failure::new("unexpected-payload", format!("the delivery's payload: {error}")).permanent()
        };
        serde_json::from_str(payload.as_str()).map_err(unexpected)
    }

    /// Finds who submitted what it is about. That may be gone; then its pipeline has to do.
    pub(crate) async fn submitter(&self, engine: &Engine) -> Submitter {
        let found = match self.submission.as_deref().and_then(|id| id.parse().ok()) {
            Some(id) => engine.submitter_of(id).await,
            None => None,
        };
        match (found, &self.pipeline) {
            (Some(subject), _) => Submitter::Subject(subject),
            (None, Some(pipeline)) => Submitter::OfPipeline(pipeline.clone()),
            (None, None) => Submitter::Nobody,
        }
    }

    /// Returns the name by which the message is known outside: the same cause and name give the same text, without a full stop.
    pub(crate) fn id(&self) -> String {
        let length = u64::try_from(self.cause.len()).unwrap_or(u64::MAX).to_be_bytes();
        let digest = Digest::of_parts(&[&length, self.cause.as_bytes(), self.name.as_bytes()]);
        digest.0.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(cause: &str, name: &str) -> String {
        let payload =
            serde_json::json!({ "cause": cause, "name": name, "to": "x", "body": {}, "channel": "webhook" });
        Message::read(&Json::from(payload)).unwrap().id()
    }

    #[test]
    fn a_message_is_known_by_its_cause_and_its_name() {
        assert_eq!(id("e1", "author"), id("e1", "author"));
        assert_eq!(id("e1", "author").len(), 32);
        assert_ne!(id("e1", "author"), id("e1", "reviewer"));
        assert_ne!(id("e1", "author"), id("e2", "author"));
        assert_ne!(id("ab", "c"), id("a", "bc"));
        assert!(!id("1.2", "a.b").contains('.'));
    }

    #[test]
    fn the_body_is_kept_to_the_letter() {
        let text = r#"{"cause":"e","name":"n","to":"t","body":{"z":1.50,  "a":12345678901234567890}}"#;
        let payload: Json = Json::parse(text).unwrap();
        assert!(Message::read(&payload).unwrap().body.get().contains("1.50"));
        assert!(Message::read(&Json::from(serde_json::json!({ "cause": 1 }))).is_err());
    }
}
