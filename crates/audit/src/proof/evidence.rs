//! Evidence: everything a third party needs to check what happened to one submission, in one document.

use serde::{Deserialize, Serialize};

use model::token::Bits;
use model::{Digest, Json, Name, SubmissionId};

/// The version of the document. Every version ever written stays readable.
pub const FORMAT: u32 = 1;

/// A document this large is not read: a submission's history is bounded long before.
const BYTES_MAX: usize = 256 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub format: u32,
    pub submission: SubmissionId,
    /// The state the submission is said to be in: the last event must lead exactly there.
    pub state: Name,
    pub revision: u64,
    /// The signed checkpoint all proofs lead to.
    pub checkpoint: String,
    /// The proof from an older checkpoint the verifier asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<Consistency>,
    pub definitions: Vec<Definition>,
    pub events: Vec<EvidenceEvent>,
}

/// A proof that the log had these leaves before, in this order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    pub size: u64,
    pub root: Digest,
    /// Base64, as in the other proofs.
    pub hashes: Vec<String>,
}

/// A definition the events name: that it was logged, and what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The leaf's exact bytes.
    pub leaf: String,
    /// A tlog-proof.
    pub proof: String,
    /// The exact bytes that were applied.
    pub definition: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceEvent {
    /// The leaf's exact bytes.
    pub leaf: String,
    /// A tlog-proof.
    pub proof: String,
    /// The event's documents, as far as they are revealed.
    #[serde(default, skip_serializing_if = "Documents::is_none")]
    pub documents: Documents,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documents {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Document>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Document>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Document>,
}

impl Documents {
    fn is_none(&self) -> bool {
        *self == Documents::default()
    }
}

/// A document and the salt its digest was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub salt: Bits,
    /// The exact text.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    #[error("the document is over {} MB", BYTES_MAX >> 20)]
    TooLarge,
    #[error("not evidence: {0}")]
    Malformed(String),
    #[error("the evidence is of format {0}; a newer version may read it")]
    Format(u32),
    #[error(
        "the evidence is not spelled as it was written, from byte {byte} on: it was changed or formatted anew"
    )]
    Spelling { byte: usize },
}

impl Evidence {
    /// The document as it is written: there is one text for one evidence, so that no byte of it can change unseen.
    #[must_use]
    pub fn to_text(&self) -> String {
        let text =
            serde_json::to_string_pretty(self).expect("evidence has only string keys and whole numbers");
        text + "\n"
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, EvidenceError> {
        if bytes.len() > BYTES_MAX {
            return Err(EvidenceError::TooLarge);
        }
        let evidence: Evidence = serde_json::from_slice(bytes)
            .map_err(|error| EvidenceError::Malformed(Json::fault_of(bytes, &error)))?;
        if evidence.format == FORMAT { Ok(evidence) } else { Err(EvidenceError::Format(evidence.format)) }
    }

    /// Checks that `bytes` are this evidence as `to_text` writes it.
    pub fn check_spelling(&self, bytes: &[u8]) -> Result<(), EvidenceError> {
        let text = self.to_text();
        if text.as_bytes() == bytes {
            return Ok(());
        }
        let same = text.bytes().zip(bytes).take_while(|(ours, theirs)| ours == *theirs).count();
        Err(EvidenceError::Spelling { byte: same })
    }
}
