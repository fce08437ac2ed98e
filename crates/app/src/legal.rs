//! The actions and deeds that are open to the visitor, for a submission as it stands.

use model::decide::{Current, actions, deeds};
use model::submission::Submission;
use model::{Context, Refusal, SubmissionId};
use store::{LaneKey, Query, Store};
use wire::api::ActionsAnswer;

use crate::App;
use crate::refusals::{no_submission, not_loaded};

impl App {
    /// Returns each action with its form, and why the others are not open.
    pub async fn actions(&self, id: SubmissionId) -> Result<ActionsAnswer, Refusal> {
        let found = self.engine.read(move |store| {
            let Some((row, documents)) = store.submission(id)? else { return Ok(None) };
            let around = (is_lane_free(store, &row)?, key_holder(store, &row)?);
            Ok(Some((row, documents, around)))
        });
        let seen = found.await?.filter(|(row, ..)| self.visitor.sees_row(row));
        let (row, documents, (lane_free, key_holder)) = seen.ok_or_else(|| no_submission(id))?;
        let versions = self.engine.pipelines().current();
        let pipeline = versions.version(&row.pipeline, row.version).ok_or_else(|| not_loaded(&row))?;
        let hold = self.engine.holds().current().over(&row).next().map(|hold| hold.id.clone());
        let context = Context {
            hold,
            lane_free,
            key_holder: key_holder.as_ref().map(|holder| holder.id),
            ..Context::of_look(self.engine.now())
        };
        let current = Current { row: &row, documents: &documents };
        let caller = &self.visitor.caller;
        let mut answer = ActionsAnswer {
            submission: row.id,
            pipeline: row.pipeline.clone(),
            version: row.version,
            state: row.state.clone(),
            status: row.status,
            revision: row.revision,
            actions: actions(pipeline, current, caller, &context),
            deeds: deeds(pipeline, current, caller, &context),
        };
        if key_holder.as_ref().is_some_and(|holder| !self.visitor.sees_row(holder)) {
            unnamed(&mut answer);
        }
        Ok(answer)
    }
}

/// Takes the id of the other submission out of every refusal.
fn unnamed(answer: &mut ActionsAnswer) {
    for action in &mut answer.actions {
        let targets = action.forms.iter_mut().flat_map(|form| &mut form.to);
        let refusals = targets.map(|target| &mut target.refusal).chain([&mut action.refusal]);
        for problem in refusals.flatten() {
            problem.more.remove("submission");
        }
    }
}

/// Tells whether nobody holds the submission's lane and nobody else is before it.
fn is_lane_free(store: &dyn Store, row: &Submission) -> Result<bool, store::Error> {
    let Some(seat) = &row.seat else { return Ok(false) };
    let lane = LaneKey { pipeline: row.pipeline.clone(), lane: seat.lane.clone() };
    let line = store.line(&lane, 1)?;
    Ok(line.holder.is_none() && line.waiting.first().is_none_or(|first| *first == row.id))
}

/// Returns the submission that has the key this one would need to go on.
fn key_holder(store: &dyn Store, row: &Submission) -> Result<Option<Submission>, store::Error> {
    let Some(key) = row.key.clone().filter(|_| row.status.is_final()) else { return Ok(None) };
    let query = Query { pipeline: Some(row.pipeline.clone()), key: Some(key), limit: 1, ..Query::default() };
    let holder = store.find(&query)?.rows.into_iter().next();
    Ok(holder.filter(|holder| holder.id != row.id))
}
