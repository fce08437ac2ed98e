//! The answer of a consumer: what became of each message of a batch.

use std::collections::HashMap;

use model::{Json, Millis};
use serde::Deserialize;
use worker::queue::{AGAIN, Queue};
use worker::{Failure, Outcome, Task};

use crate::tame::tame;

/// The code of an answer that says nothing that can be used.
const INVALID: &str = "invalid-answer";
/// The code of a message that its batch's answer does not name.
const UNANSWERED: &str = "unanswered";
/// The longest pause that a consumer may ask for, as long as a snooze.
const PAUSE_SECONDS_MAX: u64 = 7 * 24 * 3_600;
/// The characters kept of what a consumer says.
const WORDS_CHARS_MAX: usize = 300;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    #[serde(default)]
    acks: Vec<Ack>,
    #[serde(default)]
    retries: Vec<Retry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ack {
    id: String,
    outcome: Option<String>,
    output: Option<Json>,
    result: Option<Json>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Retry {
    id: String,
    delay_seconds: Option<u64>,
    code: Option<String>,
    message: Option<String>,
}

/// An answer that was understood.
#[derive(Debug, Default)]
pub(super) struct Answer {
    words: HashMap<String, Word>,
}

#[derive(Debug)]
enum Word {
    Ack(Ack),
    Retry(Retry),
    /// Said of a message that is named more than once: it cannot be told what is meant.
    Twice,
}

impl Answer {
    /// Reads an answer. One that is not understood has acknowledged nothing.
    pub(super) fn read(body: &[u8]) -> Result<Answer, Failure> {
        let wanted = "answer {\"acks\": [{\"id\", \"outcome\", \"output\"}], \"retries\": [{\"id\", \"delay_seconds\"}]}";
        let invalid = |reason: String| {
            Failure::new(
                INVALID,
                format!("the consumer's answer {}; {wanted}", tame(&reason, WORDS_CHARS_MAX)),
            )
        };
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(invalid("is empty".to_owned()));
        }
        Json::check_bytes(body).map_err(|error| invalid(format!("is not strict JSON: {error}")))?;
        let said: Said =
            serde_json::from_slice(body).map_err(|error| invalid(format!("has another shape: {error}")))?;
        let mut answer = Answer::default();
        said.acks.into_iter().for_each(|ack| answer.note(ack.id.clone(), Word::Ack(ack)));
        said.retries.into_iter().for_each(|retry| answer.note(retry.id.clone(), Word::Retry(retry)));
        Ok(answer)
    }

    fn note(&mut self, id: String, word: Word) {
        self.words.entry(id).and_modify(|known| *known = Word::Twice).or_insert(word);
    }

    /// Returns what became of a message, as its task's worker says it.
    pub(super) fn about(&self, id: &str, task: &Task, queue: &Queue) -> Result<Outcome, Failure> {
        let again = |code: &str, message: String, pause| {
            Err(queue.failure(task.attempt, Failure::new(code, message), pause))
        };
        match self.words.get(id) {
            Some(Word::Ack(ack)) => {
                let mut outcome = Outcome::new(queue.outcome(&task.task, ack.outcome.as_deref())?);
                if let Some(output) = &ack.output {
                    outcome = outcome.output(output.clone());
                }
                if let Some(result) = &ack.result {
                    outcome = outcome.result(result.clone());
                }
                Ok(outcome)
            }
            Some(Word::Retry(retry)) => {
                let pause = retry.delay_seconds.map(|seconds| seconds.min(PAUSE_SECONDS_MAX));
                let message = retry.message.as_deref().unwrap_or("the consumer wants it once more");
                let code = retry.code.as_deref().unwrap_or(AGAIN);
                again(code, tame(message, WORDS_CHARS_MAX), pause.map(Millis::from_secs))
            }
            Some(Word::Twice) => {
                again(INVALID, "the consumer's answer names the message more than once".to_owned(), None)
            }
            None => again(UNANSWERED, "the consumer's answer does not name the message".to_owned(), None),
        }
    }
}
