//! The log's side: asks the witnesses of a policy for their cosignatures.

use model::Digest;

use crate::note::{Checkpoint, Note, Signature, VerifierKey, decimal};

use super::request::AddCheckpoint;
use tlog::policy::Policy;

/// Carries a body to `<url>/add-checkpoint` and brings status and body back.
pub trait Post {
    fn post(&self, url: &str, body: &str) -> Result<(u16, Vec<u8>), String>;
}

/// The result of asking the witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// The note with every cosignature that was had.
    pub note: Note,
    /// Set if the cosignatures are enough by the policy.
    pub quorum: bool,
    /// The reasons why single witnesses gave none, by name.
    pub missing: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectError {
    /// A witness has seen more of this log than there is: the store was restored from an old copy, or somebody else
    /// signs with this key. Nothing may be signed.
    #[error(
        "witness {witness} has seen {seen} leaves of this log and there are {size}: it was set back; do not sign"
    )]
    Behind { witness: String, seen: u64, size: u64 },
    #[error("witness {witness} has seen another log of {size} leaves under this name; do not sign")]
    Forked { witness: String, size: u64 },
}

/// Asks every witness that has an address. `prove` gives the consistency proof from an older size.
pub fn collect(
    policy: &Policy,
    note: &Note,
    post: &dyn Post,
    prove: &mut dyn FnMut(u64) -> Result<Vec<Digest>, String>,
) -> Result<Collected, CollectError> {
    let mut collected = Collected { note: note.clone(), quorum: false, missing: Vec::new() };
    let mut cosigned = Vec::new();
    let checkpoint: Option<Checkpoint> = note.text.parse().ok();
    for (index, witness) in policy.witnesses.iter().enumerate() {
        let name = String::from_utf8_lossy(&witness.name).into_owned();
        let outcome = match (&witness.url, &checkpoint) {
            (None, _) => Err("it has no address".to_owned()),
            (_, None) => Err("the note is no checkpoint".to_owned()),
            (Some(url), Some(checkpoint)) => {
                Asking { name: &name, url, key: &witness.key, note, checkpoint, post }.ask(prove)?
            }
        };
        match outcome {
            Ok(signature) => {
                collected.note.signatures.push(signature);
                cosigned.push(index);
            }
            Err(reason) => collected.missing.push((name, reason)),
        }
    }
    collected.quorum = policy.is_satisfied_by(&cosigned);
    Ok(collected)
}

struct Asking<'a> {
    name: &'a str,
    url: &'a str,
    key: &'a VerifierKey,
    note: &'a Note,
    checkpoint: &'a Checkpoint,
    post: &'a dyn Post,
}

impl Asking<'_> {
    /// The first question finds out what the witness knows, unless it knows nothing; a few more follow where others ask
    /// at the same time.
    fn ask(
        &self,
        prove: &mut dyn FnMut(u64) -> Result<Vec<Digest>, String>,
    ) -> Result<Result<Signature, String>, CollectError> {
        const TRIES: usize = 4;
        let size = self.checkpoint.size;
        let mut old_size = 0;
        for _ in 0..TRIES {
            let proof = if old_size == 0 || old_size == size { Ok(Vec::new()) } else { prove(old_size) };
            let proof = match proof {
                Ok(proof) => proof,
                Err(reason) => return Ok(Err(reason)),
            };
            let request = AddCheckpoint { old_size, proof, checkpoint: self.note.to_string() };
            let (status, body) = match self.post.post(self.url, &request.to_string()) {
                Ok(answer) => answer,
                Err(reason) => return Ok(Err(reason)),
            };
            let known = || std::str::from_utf8(&body).ok()?.strip_suffix('\n').and_then(decimal);
            match (status, known()) {
                (200, _) => return Ok(self.signature(&body)),
                (409, Some(seen)) if seen > size => {
                    return Err(CollectError::Behind { witness: self.name.to_owned(), seen, size });
                }
                (409, Some(seen)) if seen == old_size && seen == size => {
                    return Err(CollectError::Forked { witness: self.name.to_owned(), size });
                }
                (409, Some(seen)) => old_size = seen,
                (422, _) if old_size > 0 => {
                    return Err(CollectError::Forked { witness: self.name.to_owned(), size: old_size });
                }
                _ => return Ok(Err(format!("it answered {status}"))),
            }
        }
        Ok(Err("it is asked by somebody else at the same time".to_owned()))
    }

    /// The witness's own line among those it answered; others are ignored.
    fn signature(&self, body: &[u8]) -> Result<Signature, String> {
        let lines = std::str::from_utf8(body).map_err(|_| "its answer is no text".to_owned())?;
        let signatures = Signature::parse_lines(lines).map_err(|error| error.to_string())?;
        let own = signatures.into_iter().find(|signature| {
            signature.name == self.key.name()
                && signature.id == self.key.id()
                && self.key.cosigned_at(&self.note.text, &signature.bytes).is_some()
        });
        own.ok_or_else(|| "its answer holds no cosignature of its key".to_owned())
    }
}
