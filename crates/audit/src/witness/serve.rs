//! The answer to `add-checkpoint`.

use crate::note::{Checkpoint, Cosigner, Note, VerifierKey};
use crate::tree::verify_consistency;

use super::request::AddCheckpoint;
use super::state::{Remembered, StateError, WitnessState};

/// The answer to a request, whatever carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
}

const TEXT: &str = "text/plain; charset=utf-8";

impl Answer {
    fn refused(status: u16, reason: impl Into<String>) -> Self {
        Answer { status, content_type: TEXT, body: reason.into() + "\n" }
    }

    fn known_size(size: u64) -> Self {
        Answer { status: 409, content_type: "text/x.tlog.size", body: format!("{size}\n") }
    }
}

/// A witness: the keys of the logs it watches, its own key, its memory.
pub struct Witness {
    pub logs: Vec<VerifierKey>,
    pub signer: Box<dyn Cosigner>,
    pub state: Box<dyn WitnessState>,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Witness").field("logs", &self.logs).finish_non_exhaustive()
    }
}

impl Witness {
    /// Answers one request, at a time in seconds since 1970. An error is the witness's own fault: a 500.
    pub fn add_checkpoint(&self, body: &[u8], seconds: u64) -> Result<Answer, StateError> {
        let (request, note, checkpoint) = match self.read(body) {
            Ok(read) => read,
            Err(answer) => return Ok(answer),
        };
        let mut answer = None;
        // Signed before it is remembered and remembered before it leaves: a crash in between forgets a signature nobody
        // has seen.
        self.state.step(&checkpoint.origin, &mut |known| {
            if let Some(refusal) = refuse(&request, &checkpoint, known) {
                answer = Some(Ok(refusal));
                return None;
            }
            match self.signer.cosign(&note.text, seconds) {
                Ok(signature) => {
                    answer =
                        Some(Ok(Answer { status: 200, content_type: TEXT, body: signature.to_string() }));
                    Some(Remembered { size: checkpoint.size, root: checkpoint.root })
                }
                Err(error) => {
                    answer = Some(Err(StateError(error.to_string())));
                    None
                }
            }
        })?;
        answer.unwrap_or_else(|| Err(StateError("the memory took no step".to_owned())))
    }

    /// Checks what needs no memory: the request is well formed, we watch the log, and that log signed the checkpoint.
    fn read(&self, body: &[u8]) -> Result<(AddCheckpoint, Note, Checkpoint), Answer> {
        let request = AddCheckpoint::parse(body).map_err(|error| Answer::refused(400, error.to_string()))?;
        let note = Note::parse(request.checkpoint.as_bytes());
        let note = note.map_err(|error| Answer::refused(400, error.to_string()))?;
        let checkpoint: Checkpoint = note
            .text
            .parse()
            .map_err(|error: crate::note::MalformedCheckpoint| Answer::refused(400, error.to_string()))?;
        let keys: Vec<&VerifierKey> =
            self.logs.iter().filter(|key| key.name() == checkpoint.origin).collect();
        if keys.is_empty() {
            return Err(Answer::refused(404, "no such log here"));
        }
        let signed = note.signatures.iter().any(|signature| {
            let mut known =
                keys.iter().filter(|key| key.name() == signature.name && key.id() == signature.id);
            known.any(|key| key.verifies(&note.text, &signature.bytes))
        });
        if !signed {
            return Err(Answer::refused(403, "the log did not sign this"));
        }
        if request.old_size > checkpoint.size {
            return Err(Answer::refused(400, "the old size is larger than the checkpoint's"));
        }
        Ok((request, note, checkpoint))
    }
}

/// Returns the refusal of a checkpoint that does not follow what is known; `None` for one that does.
fn refuse(request: &AddCheckpoint, next: &Checkpoint, known: Option<&Remembered>) -> Option<Answer> {
    let known_size = known.map_or(0, |known| known.size);
    if request.old_size != known_size {
        return Some(Answer::known_size(known_size));
    }
    let Some(known) = known.filter(|known| known.size > 0) else {
        let empty = request.proof.is_empty() && (next.size > 0 || next.root == crate::tree::empty_root());
        return (!empty).then(|| Answer::refused(422, "nothing is to be proven from an empty log"));
    };
    if known.size == next.size && known.root != next.root {
        return Some(Answer::known_size(known.size));
    }
    match verify_consistency((known.size, &known.root), next.tree(), &request.proof) {
        Ok(()) => None,
        Err(error) => Some(Answer::refused(422, error.to_string())),
    }
}
