//! The proofs handed out: one for a single leaf (C2SP tlog-proof), and the evidence about a submission.

mod evidence;
mod prove;

pub use evidence::{
    Consistency, Definition, Document, Documents, Evidence, EvidenceError, EvidenceEvent, FORMAT,
};
pub use prove::{EvidenceRequest, LoggedDefinition, LoggedEvent, ProveError, assemble};
pub use tlog::{BadProof, TlogProof};
