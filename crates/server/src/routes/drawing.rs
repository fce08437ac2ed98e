//! Machines as SVG, with the way of a submission.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use draw::{Path, svg};
use model::{Code, Pipeline, Refusal};

use super::{Asking, At, id, no_submission};
use crate::app::App;
use crate::problem::Answer;
use crate::query::Params;

/// The number of events that are drawn; of a longer history, the newest.
const EVENTS_MAX: u64 = 5_000;
const PAGE: usize = 1_000;
/// A drawing is looked at, not run: should text of others ever get where it does not belong, it does nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let id = id(&text)?;
    let found = app.engine.read(move |store| {
        let Some((row, _)) = store.submission(id)? else { return Ok(None) };
        let mut events = Vec::new();
        let mut after = row.revision.saturating_sub(EVENTS_MAX);
        loop {
            let page = store.history(id, after, PAGE)?;
            let Some(last) = page.last() else { return Ok(Some((row, Path::of(&events)))) };
            after = last.event.leaf.revision;
            events.extend(page.into_iter().map(|recorded| recorded.event));
        }
    });
    let (row, path) =
        found.await?.filter(|(row, _)| asking.sees_row(row)).ok_or_else(|| no_submission(&text))?;
    let versions = app.engine.pipelines().current();
    let pipeline = versions.version(&row.pipeline, row.version).ok_or_else(|| {
        let message = format!("version {} of `{}` is not loaded", row.version, row.pipeline);
        Refusal::new(Code::Internal, message)
    })?;
    Ok(answer(pipeline.clone(), Some(path)).await?)
}

/// Laying a large machine out takes a while: it is done off the threads that serve.
pub(super) async fn answer(pipeline: Arc<Pipeline>, path: Option<Path>) -> Result<Response, Refusal> {
    let drawn = tokio::task::spawn_blocking(move || svg(&pipeline, path.as_ref())).await;
    let drawn = drawn.map_err(|_| Refusal::new(Code::Internal, "the machine could not be drawn"))?;
    let headers =
        [(header::CONTENT_TYPE, "image/svg+xml; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    Ok((headers, drawn).into_response())
}
