//! The file of `milepost ledger queue`: batches as JSON, and the round that comes of them.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::queuer::{Batch, BatchStatus, WINDOW, round};
use crate::seconds::Seconds;

/// The most bytes of a file: some two hundred thousand batches.
pub const FILE_BYTES_MAX: usize = 64 << 20;

/// The lane of batches without a service, as the pipeline spells it.
const NO_SERVICE: &str = "----";

/// A file that is not one of batches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFile {
    #[error("the file has {0} bytes; the most that is read is {FILE_BYTES_MAX}")]
    TooLarge(usize),
    /// The library's message ends with line and column.
    #[error("{0}")]
    Malformed(String),
}

/// The answer: headers of batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub queue: Vec<String>,
    pub later: Vec<Later>,
    pub never: Vec<String>,
}

/// A batch that a later round will queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Later {
    pub batch_header: String,
    pub why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    now: Seconds,
    #[serde(default = "window", deserialize_with = "span")]
    window_seconds: Seconds,
    batches: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    batch_header: String,
    #[serde(default)]
    service_id: Option<String>,
    #[serde(default)]
    nonce: Option<u64>,
    created_at: Seconds,
    submitted: bool,
    #[serde(default, deserialize_with = "status")]
    batch_status: Option<BatchStatus>,
    #[serde(default, deserialize_with = "optional")]
    last_submitted_at: Option<Seconds>,
}

/// Reads the batches of a file, and says what one round makes of them.
pub fn answer(file: &[u8]) -> Result<Answer, InvalidFile> {
    if file.len() > FILE_BYTES_MAX {
        return Err(InvalidFile::TooLarge(file.len()));
    }
    let file: File =
        serde_json::from_slice(file).map_err(|error| InvalidFile::Malformed(error.to_string()))?;
    let batches: Vec<Batch> = file.batches.into_iter().map(Batch::from).collect();
    let round = round(&batches, file.now, file.window_seconds);
    let headers = |batches: &[&Batch]| batches.iter().map(|batch| batch.header.clone()).collect();
    let later = round.later.iter();
    Ok(Answer {
        queue: headers(&round.queue),
        later: later
            .map(|(batch, wait)| Later { batch_header: batch.header.clone(), why: wait.to_string() })
            .collect(),
        never: headers(&round.never),
    })
}

impl From<Entry> for Batch {
    fn from(entry: Entry) -> Batch {
        Batch {
            header: entry.batch_header,
            service: entry.service_id.filter(|service| service != NO_SERVICE),
            nonce: entry.nonce,
            created_at: entry.created_at,
            submitted: entry.submitted,
            status: entry.batch_status,
            last_submitted_at: entry.last_submitted_at,
        }
    }
}

fn window() -> Seconds {
    WINDOW
}

fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
    let span = Seconds::deserialize(deserializer)?;
    match span < Seconds::default() {
        true => Err(D::Error::custom(format!("a window of {span} seconds would end before it begins"))),
        false => Ok(span),
    }
}

fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Seconds>, D::Error> {
    let literal = <&serde_json::value::RawValue>::deserialize(deserializer)?;
    match literal.get() {
        "null" => Ok(None),
        literal => Seconds::parse(literal).map(Some).map_err(D::Error::custom),
    }
}

/// Reads a status by its name, alone or as the document writes it: `Pending` or `Some(Pending)`.
fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BatchStatus>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let name = text.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&text);
    let found = BatchStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(name));
    found.map(Some).ok_or_else(|| {
        let known = BatchStatus::ALL.map(BatchStatus::as_str).join(", ");
        let text: String = text.chars().take(40).collect();
        D::Error::custom(format!("`{text}` is no status of a batch: it is null or one of {known}"))
    })
}
