//! Every reason why a submission is not moving.

use model::owed::DELIVERY;
use model::submission::{Seat, Wait};
use model::why::{Holder, LanePlace, Other, Surroundings, why};
use model::{Millis, Refusal, Status, Submission, SubmissionId};
use store::{LaneKey, Query, Store};
use wire::api::WhyAnswer;

use crate::refusals::{no_submission, not_loaded};
use crate::{App, Visitor};

/// The distance down a line in which a submission's position is looked for.
const LINE_MAX: usize = 1_000;

/// The number of messages about a submission that are looked at.
const UNSENT_MAX: usize = 20;

impl App {
    /// Explains why a submission is not moving.
    pub async fn why(&self, id: SubmissionId) -> Result<WhyAnswer, Refusal> {
        let visitor = self.visitor.clone();
        let found = self.engine.read(move |store| {
            let Some((row, documents)) = store.submission(id)? else { return Ok(None) };
            let (line, key_holder) = (line(store, &visitor, &row)?, key_holder(store, &visitor, &row)?);
            let unsent = unsent(store, id)?;
            Ok(Some((row, documents, line, key_holder, unsent)))
        });
        let seen = found.await?.filter(|(row, ..)| self.visitor.sees_row(row));
        let (row, documents, line, key_holder, unsent) = seen.ok_or_else(|| no_submission(id))?;
        let versions = self.engine.pipelines().current();
        let pipeline = versions.version(&row.pipeline, row.version).ok_or_else(|| not_loaded(&row))?;
        let polled_ago = match &row.wait {
            Wait::Worker { task, .. } => self.engine.polled_ago(task),
            _ => None,
        };
        let millis =
            |ago: std::time::Duration| Millis::new(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX));
        let around = Surroundings {
            now: self.engine.now(),
            holds: self.holds_over(&row),
            line,
            key_holder,
            polled_ago: polled_ago.map(millis),
            unsent,
        };
        let reasons = why(pipeline, &row, Some(&documents), &around);
        Ok(WhyAnswer { submission: row.id, state: row.state, status: row.status, reasons })
    }
}

fn line(store: &dyn Store, visitor: &Visitor, row: &Submission) -> Result<Option<LanePlace>, store::Error> {
    let Some(seat) = row.seat.as_ref().filter(|seat| Seat::waits(seat)) else { return Ok(None) };
    let lane = LaneKey { pipeline: row.pipeline.clone(), lane: seat.lane.clone() };
    let line = store.line(&lane, LINE_MAX)?;
    let holder = match line.holder {
        None => None,
        Some(id) => store.submission(id)?.map(|(row, _)| match visitor.sees_row(&row) {
            true => Other::Seen(Holder { id, state: row.state, status: row.status }),
            false => Other::Unseen,
        }),
    };
    let position = line.waiting.iter().position(|id| *id == row.id).map(|index| index + 1);
    Ok(Some(LanePlace { position, holder }))
}

fn key_holder(
    store: &dyn Store,
    visitor: &Visitor,
    row: &Submission,
) -> Result<Option<Other<SubmissionId>>, store::Error> {
    if !row.key_waits {
        return Ok(None);
    }
    let (pipeline, held_key) = (Some(row.pipeline.clone()), row.key.clone());
    let page = store.find(&Query { pipeline, held_key, limit: 1, ..Query::default() })?;
    let holder = page.rows.first();
    Ok(holder.map(|row| if visitor.sees_row(row) { Other::Seen(row.id) } else { Other::Unseen }))
}

/// Reads the messages about a submission that are dead or failing. They carry its id as a label, so none is looked for in
/// vain.
fn unsent(store: &dyn Store, id: SubmissionId) -> Result<Vec<Submission>, store::Error> {
    let labels = [("submission".into(), id.to_string().into())];
    let about = |status| Query {
        pipeline: Some(DELIVERY.into()),
        status: Some(status),
        labels: labels.clone().into(),
        limit: UNSENT_MAX,
        ..Query::default()
    };
    let mut rows = store.find(&about(Status::Dead))?.rows;
    rows.extend(store.find(&about(Status::Open))?.rows.into_iter().filter(|row| row.error.is_some()));
    Ok(rows)
}
