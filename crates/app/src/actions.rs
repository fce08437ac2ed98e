//! Deeds of people: actions, amendments, redrives, acknowledgements.

use engine::core::{Answered, Once};
use model::command::{Acknowledge, Act, Amend, Redrive};
use model::{Json, Name, Refusal, SubmissionId};
use wire::api::{AcknowledgeBody, ActBody, RedriveBody, SubmissionView};

use crate::App;
use crate::refusals::no_submission;

/// The terms on which something is asked.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Set if a repeat of the request gets the first answer again.
    pub once: Option<Once>,
    /// The revision the caller saw: at any other nothing is done.
    pub if_match: Option<u64>,
    /// Set if the answer waits for a signed checkpoint.
    pub proof: bool,
}

impl App {
    /// Does what a pipeline lets people do.
    pub async fn act(
        &self,
        id: SubmissionId,
        action: Name,
        body: ActBody,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        let ActBody { reason, data, to } = body;
        let caller = self.visitor.caller.clone();
        let act = Act { caller, action, reason, data, to, if_match: terms.if_match };
        self.check_sees(id).await?;
        let answered = match self.engine.act(id, act, terms.once).await {
            Ok(answered) => answered,
            Err(refusal) => return Err(self.unnamed(refusal).await),
        };
        self.done(&answered, terms.proof).await
    }

    /// Changes a payload by a merge patch, in the fields its pipeline allows.
    pub async fn amend(
        &self,
        id: SubmissionId,
        patch: Json,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        let amend = Amend { caller: self.visitor.caller.clone(), patch, if_match: terms.if_match };
        self.check_sees(id).await?;
        let answered = self.engine.amend(id, amend, terms.once).await?;
        self.done(&answered, terms.proof).await
    }

    /// Sets a dead letter going again.
    pub async fn redrive(&self, id: SubmissionId, body: RedriveBody) -> Result<SubmissionView, Refusal> {
        self.check_sees(id).await?;
        let redrive = Redrive { caller: self.visitor.caller.clone(), reason: body.reason };
        let answered = self.engine.redrive(id, redrive).await?;
        self.done(&answered, false).await
    }

    /// Says that somebody looked into an end that asked for it.
    pub async fn acknowledge(
        &self,
        id: SubmissionId,
        body: AcknowledgeBody,
        terms: Terms,
    ) -> Result<SubmissionView, Refusal> {
        self.check_sees(id).await?;
        let caller = self.visitor.caller.clone();
        let acknowledge = Acknowledge { caller, note: body.note, if_match: terms.if_match };
        let answered = self.engine.acknowledge(id, acknowledge, terms.once).await?;
        self.done(&answered, terms.proof).await
    }

    pub(crate) async fn done(&self, answered: &Answered, proof: bool) -> Result<SubmissionView, Refusal> {
        self.proven(answered.row.id, proof).await?;
        Ok(self.view(&answered.row))
    }

    /// Returns a refusal without the id of another submission that the visitor may not see.
    async fn unnamed(&self, mut refusal: Refusal) -> Refusal {
        let named = refusal.details.get("submission").and_then(serde_json::Value::as_str);
        if let Some(other) = named.and_then(|text| text.parse().ok())
            && self.check_sees(other).await.is_err()
        {
            refusal.details.remove("submission");
        }
        refusal
    }

    /// Refuses what the visitor does not see. A submission never changes its pipeline, and its labels only by an amendment
    /// that its pipeline allows: who may see it before the act may see it during it.
    pub(crate) async fn check_sees(&self, id: SubmissionId) -> Result<(), Refusal> {
        if self.visitor.is_unlimited() {
            return Ok(());
        }
        let found = self.engine.read(move |store| store.submission(id)).await?;
        let seen = found.is_some_and(|(row, _)| self.visitor.sees_row(&row));
        if seen { Ok(()) } else { Err(no_submission(id)) }
    }
}
