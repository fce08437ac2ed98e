//! Tier 2: a model behind an OpenAI-compatible endpoint judges what no rule can.

mod answer;
mod prompt;

use std::time::Duration;

use fetch::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use fetch::{Fetch, Limits, Request};
use serde::Deserialize;
use serde_json::json;

use crate::scan::Finding;

pub use answer::{Judgement, Unreadable, read};

/// The most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// The most words of an answer, so that a model that goes on and on ends some time.
const ANSWER_TOKENS_MAX: u32 = 2_000;
const TEMPERATURE: f64 = 0.1;

/// A model that judges.
#[derive(Clone)]
pub struct Judge {
    fetch: Fetch,
    address: String,
    model: String,
    key: Option<HeaderValue>,
    within: Duration,
}

/// The skill that is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub text: &'a str,
    pub findings: &'a [Finding],
    /// A text that nobody could know who wrote the skill.
    pub canary: &'a str,
}

/// The reason why there is no judgement. Another try may go better.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the judge cannot be reached: {0}")]
    Fetch(#[from] fetch::Error),
    #[error("the judge answered with the status {0}")]
    Status(u16),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

impl Judge {
    /// Makes a judge of an endpoint such as `https://api.example.com/v1`.
    #[must_use]
    pub fn new(fetch: Fetch, url: &str, model: String, within: Duration) -> Judge {
        let address = format!("{}/chat/completions", url.trim_end_matches('/'));
        Judge { fetch, address, model, key: None, within }
    }

    /// Sends a key along. `None` where a key cannot be sent in a header.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Option<Judge> {
        let mut value = HeaderValue::try_from(format!("Bearer {key}")).ok()?;
        value.set_sensitive(true);
        self.key = Some(value);
        Some(self)
    }

    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Asks the model once.
    pub async fn judge(&self, case: Case<'_>) -> Result<Judgement, Error> {
        let body = json!({
            "model": self.model,
            "temperature": TEMPERATURE,
            "max_tokens": ANSWER_TOKENS_MAX,
            "stream": false,
            "messages": [
                { "role": "system", "content": prompt::system(case.canary) },
                { "role": "user", "content": prompt::user(case) },
            ],
        });
        let limits = Limits { within: self.within, idle: self.within, body_bytes_max: ANSWER_BYTES_MAX };
        let mut request = Request::post(&self.address, body.to_string().into_bytes())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .limits(limits);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let (head, mut body) = self.fetch.send(request).await?;
        if head.status != 200 {
            return Err(Error::Status(head.status));
        }
        let mut answer = Vec::new();
        while let Some(bytes) = body.chunk().await? {
            answer.extend_from_slice(&bytes);
        }
        let completion: Completion =
            serde_json::from_slice(&answer).map_err(|_| Unreadable::new("it is no chat completion"))?;
        let content = completion.choices.into_iter().next().and_then(|choice| choice.message.content);
        Ok(read(&content.unwrap_or_default(), case.canary)?)
    }
}

/// Leaves the key out, and the address, which may have one in it.
impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge")
            .field("model", &self.model)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}
