//! Evidence, and waiting until there is some.

use std::time::Duration;

use audit::proof::Evidence;
use model::owed::DELIVERY;
use model::{Code, Refusal, SubmissionId};

use crate::App;
use crate::refusals::no_submission;

/// The time a caller who asked for a proof is kept waiting for the checkpoint.
const PROOF_WITHIN: Duration = Duration::from_secs(10);

impl App {
    /// Waits until all of a submission is under a signed checkpoint, or nearly; tells whether its documents may be revealed
    /// to the visitor.
    pub async fn evidence_awaited(&self, id: SubmissionId) -> Result<bool, Refusal> {
        let found = self.engine.read(move |store| store.submission(id)).await?;
        let (row, _) =
            found.filter(|(row, _)| self.visitor.sees_row(row)).ok_or_else(|| no_submission(id))?;
        match self.engine.proven(id, PROOF_WITHIN).await {
            // What was proven before is still good.
            Err(refusal) if refusal.code != Code::NotProven => return Err(refusal),
            _ => {}
        }
        // A document is proven whole or not at all, and a message has the address to send to in it.
        Ok(&*row.pipeline != DELIVERY || self.visitor.delivers())
    }

    /// Returns the evidence of a submission that [`App::evidence_awaited`] let the visitor see. `known` is the size of a log
    /// that the caller has verified before.
    pub async fn evidence(
        &self,
        id: SubmissionId,
        reveal: bool,
        known: Option<u64>,
    ) -> Result<Evidence, Refusal> {
        self.check_sees(id).await?;
        self.engine.evidence(id, reveal, known).await
    }

    /// Refuses to wait for proofs where nothing is ever proven.
    pub fn check_proves(&self) -> Result<(), Refusal> {
        self.engine.log_keys().map(|_| ())
    }

    /// Waits until what was done is under a signed checkpoint, where that is wanted.
    pub(crate) async fn proven(&self, id: SubmissionId, wanted: bool) -> Result<(), Refusal> {
        if wanted { self.engine.proven(id, PROOF_WITHIN).await } else { Ok(()) }
    }
}
