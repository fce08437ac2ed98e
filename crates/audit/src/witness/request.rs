//! The body of `add-checkpoint`: the size the witness knows, a proof from there, and the new checkpoint.

use std::fmt;

use model::Digest;

use crate::note::{decimal, hash_from_base64, to_base64};

/// The most lines of a proof: as many as a tree of any size needs.
pub const PROOF_LINES_MAX: usize = 63;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddCheckpoint {
    pub old_size: u64,
    pub proof: Vec<Digest>,
    /// The signed note, as it came.
    pub checkpoint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an add-checkpoint request: {0}")]
pub struct BadRequest(pub &'static str);

impl AddCheckpoint {
    pub fn parse(body: &[u8]) -> Result<Self, BadRequest> {
        let text = std::str::from_utf8(body).map_err(|_| BadRequest("it is not UTF-8"))?;
        let (head, checkpoint) =
            text.split_once("\n\n").ok_or(BadRequest("no blank line before the checkpoint"))?;
        let mut lines = head.split('\n');
        let old_size = lines.next().and_then(|line| line.strip_prefix("old ")).and_then(decimal);
        let old_size = old_size.ok_or(BadRequest("its first line is not `old SIZE`"))?;
        let proof: Option<Vec<Digest>> = lines.map(hash_from_base64).collect();
        let proof = proof.ok_or(BadRequest("a line of the proof is no hash"))?;
        if proof.len() > PROOF_LINES_MAX {
            return Err(BadRequest("the proof has over 63 lines"));
        }
        Ok(AddCheckpoint { old_size, proof, checkpoint: checkpoint.to_owned() })
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old_size)?;
        self.proof.iter().try_for_each(|hash| writeln!(f, "{}", to_base64(&hash.0)))?;
        write!(f, "\n{}", self.checkpoint)
    }
}
