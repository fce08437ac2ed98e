//! `GET /v1/submissions/{id}/evidence`, and waiting until there is some.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use model::owed::DELIVERY;
use model::{Code, Refusal, SubmissionId};

use super::{Asking, At, id, no_submission};
use crate::app::App;
use crate::frame;
use crate::problem::{Answer, invalid, quote};
use crate::query::Params;
use crate::shares::Who;

/// The time a caller who asked for a proof is kept waiting for the checkpoint.
const PROOF_WITHIN: Duration = Duration::from_secs(10);

pub(crate) async fn show(
    State(app): State<App>,
    asking: Asking,
    Extension(who): Extension<Who>,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Response> {
    let params = Params::read(&uri, &["documents", "known"])?;
    let reveal = match params.get("documents") {
        None => true,
        Some("none") => false,
        Some(other) => return Err(invalid(format!("`documents` is `none`, not {}", quote(other))).into()),
    };
    let known = params.parse("known")?;
    let id = id(&text)?;
    let found = app.engine.read(move |store| store.submission(id)).await?;
    let (row, _) = found.filter(|(row, _)| asking.sees_row(row)).ok_or_else(|| no_submission(&text))?;
    // A document is proven whole or not at all, and this one has the address to send to in it.
    let reveal = reveal && (&*row.pipeline != DELIVERY || asking.delivers());
    match app.engine.proven(id, PROOF_WITHIN).await {
        // What was proven before is still good.
        Err(refusal) if refusal.code != Code::NotProven => return Err(refusal.into()),
        _ => {}
    }
    let _set_aside = frame::page(&app, &who).await?;
    let evidence = app.engine.evidence(id, reveal, known).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], evidence.to_text()).into_response())
}

/// Tells whether a caller wants its answer only once what it did is under a signed checkpoint: `?wait=proof`.
pub(super) fn wanted(app: &App, uri: &Uri) -> Result<bool, Refusal> {
    match Params::read(uri, &["wait"])?.get("wait") {
        None => Ok(false),
        // Where nothing is ever proven, nothing is begun.
        Some("proof") => app.engine.log_keys().map(|_| true),
        Some(other) => Err(invalid(format!("`wait` is `proof`, not {}", quote(other)))),
    }
}

/// Waits for it, where it is wanted.
pub(super) async fn proven(app: &App, wanted: bool, id: SubmissionId) -> Result<(), Refusal> {
    if wanted { app.engine.proven(id, PROOF_WITHIN).await } else { Ok(()) }
}
