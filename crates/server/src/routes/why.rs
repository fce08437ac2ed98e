//! `GET /v1/submissions/{id}/why`: every reason it is not moving.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use model::owed::DELIVERY;
use model::submission::{Seat, Wait};
use model::why::{Holder, Line, Other, Surroundings, why};
use model::{Code, Millis, Refusal, Status, Submission, SubmissionId};
use store::{LaneKey, Query, Store};
use wire::api::WhyAnswer;

use super::holds::over;
use super::{Asking, At, id, no_submission};
use crate::access::Visitor;
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

/// The distance down a line in which a submission's position is looked for.
const LINE_MAX: usize = 1_000;

/// The number of messages about a submission that are looked at.
const UNSENT_MAX: usize = 20;

pub(crate) async fn explain(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Json<WhyAnswer>> {
    Params::read(&uri, &[])?;
    let id = id(&text)?;
    let visitor = asking.0.clone();
    let found = app.engine.read(move |store| {
        let Some((row, documents)) = store.submission(id)? else { return Ok(None) };
        let (line, key_holder) = (line(store, &visitor, &row)?, key_holder(store, &visitor, &row)?);
        let unsent = unsent(store, id)?;
        Ok(Some((row, documents, line, key_holder, unsent)))
    });
    let (row, documents, line, key_holder, unsent) =
        found.await?.filter(|(row, ..)| asking.sees_row(row)).ok_or_else(|| no_submission(&text))?;
    let versions = app.engine.pipelines().current();
    let pipeline = versions.version(&row.pipeline, row.version).ok_or_else(|| {
        let message = format!("version {} of `{}` is not loaded", row.version, row.pipeline);
        Refusal::new(Code::Internal, message)
    })?;
    let polled_ago = match &row.wait {
        Wait::Worker { task, .. } => app.engine.polled_ago(task),
        _ => None,
    };
    let around = Surroundings {
        now: app.engine.now(),
        holds: over(&app, &row),
        line,
        key_holder,
        polled_ago: polled_ago.map(|ago| Millis::new(u64::try_from(ago.as_millis()).unwrap_or(u64::MAX))),
        unsent,
    };
    let reasons = why(pipeline, &row, Some(&documents), &around);
    Ok(Json(WhyAnswer { submission: row.id, state: row.state, status: row.status, reasons }))
}

fn line(store: &dyn Store, visitor: &Visitor, row: &Submission) -> Result<Option<Line>, store::Error> {
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
    Ok(Some(Line { position, holder }))
}

fn key_holder(
    store: &dyn Store,
    visitor: &Visitor,
    row: &Submission,
) -> Result<Option<Other<SubmissionId>>, store::Error> {
    if !row.key_waits {
        return Ok(None);
    }
    let (pipeline, key) = (Some(row.pipeline.clone()), row.key.clone());
    let page = store.find(&Query { pipeline, key, limit: 1, ..Query::default() })?;
    let holder = page.rows.first();
    Ok(holder.map(|row| if visitor.sees_row(row) { Other::Seen(row.id) } else { Other::Unseen }))
}

/// Messages about it that are dead or failing. They carry its id as a label, so none is looked for in vain.
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
