//! The audit log as static files, and what its operators ask of it.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use engine::Standing;
use model::{Code, Digest, Refusal};
use wire::api::{AuditView, ForkBody, LogKeyAnswer, LogKeyBody, WitnessView};

use super::{Asking, At};
use crate::app::App;
use crate::body::Given;
use crate::problem::{Answer, quote};
use crate::query::Params;

const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";
/// The caching of files that never change: they may be kept for ever.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// The caching of files that the next checkpoint replaces.
const FOR_NOW: &str = "no-cache";

fn file(content_type: &'static str, caching: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
    ];
    (headers, body.into()).into_response()
}

fn missing(path: &str) -> Refusal {
    Refusal::new(Code::UnknownTile, format!("the log has no {}, or not yet", quote(path)))
}

pub(crate) async fn checkpoint(State(app): State<App>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let note = app.engine.checkpoint().await?.ok_or_else(|| missing("checkpoint"))?;
    Ok(file(TEXT, FOR_NOW, note))
}

/// Leaves are of all pipelines: whoever may see some of them only gets the evidence of theirs.
pub(crate) async fn tile(
    State(app): State<App>,
    asking: Asking,
    At(rest): At<String>,
    uri: Uri,
) -> Answer<Response> {
    Params::read(&uri, &[])?;
    if !asking.is_unlimited() {
        let message = "the log is of everything, and this token for a part; ask for evidence";
        return Err(Refusal::new(Code::RoleRequired, message).into());
    }
    let path = format!("tile/{rest}");
    let tile: audit::tiles::TilePath = path.parse().map_err(|_| missing(&path))?;
    let bytes = app.engine.tile(tile).await?.ok_or_else(|| missing(&path))?;
    Ok(file(BYTES, FOR_EVER, bytes))
}

pub(crate) async fn definition(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    uri: Uri,
) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let unknown = || missing(&format!("definition/{text}"));
    let digest: Digest = text.parse().map_err(|_| unknown())?;
    let pipeline = app.engine.definition(digest).await?.filter(|pipeline| asking.sees(&pipeline.name));
    let definition = pipeline.ok_or_else(unknown)?.definition.as_str().to_owned();
    Ok(file("application/json", FOR_EVER, definition))
}

/// One line for each key.
pub(crate) async fn keys(State(app): State<App>, uri: Uri) -> Answer<Response> {
    Params::read(&uri, &[])?;
    let lines: String = app.engine.log_keys()?.iter().map(|key| format!("{key}\n")).collect();
    Ok(file(TEXT, FOR_NOW, lines))
}

pub(crate) async fn show(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<AuditView>> {
    Params::read(&uri, &[])?;
    let view = view(&app).await?;
    if asking.is_unlimited() {
        return Ok(Json(view));
    }
    // What a checkpoint says is for everybody. Errors and what waits for the next are of all pipelines.
    Ok(Json(AuditView { unpublished: None, reason: None, witnesses: Vec::new(), ..view }))
}

async fn view(app: &App) -> Result<AuditView, Refusal> {
    let (report, unpublished) = app.engine.log_report().await?;
    let (standing, reason) = match report.standing {
        Standing::Running => ("running", None),
        Standing::Refused { reason, .. } => ("refused", Some(reason)),
        Standing::Failing(reason) => ("failing", Some(reason)),
    };
    let witnesses = report.witnesses.into_iter().map(|witness| WitnessView {
        name: witness.name,
        cosigned: witness.cosigned,
        missing: witness.missing,
    });
    Ok(AuditView {
        origin: report.origin,
        size: report.size,
        checkpoint_at: report.published_at,
        unpublished: Some(unpublished),
        standing: standing.to_owned(),
        reason,
        keys: report.keys,
        witnesses: witnesses.collect(),
    })
}

pub(crate) async fn fork(
    State(app): State<App>,
    asking: Asking,
    Given(ForkBody { reason }): Given<ForkBody>,
) -> Answer<Json<AuditView>> {
    app.engine.by(&asking.caller).fork(reason).await?;
    Ok(Json(view(&app).await?))
}

pub(crate) async fn change_keys(
    State(app): State<App>,
    asking: Asking,
    Given(LogKeyBody { retire }): Given<LogKeyBody>,
) -> Answer<Json<LogKeyAnswer>> {
    let engine = app.engine.by(&asking.caller);
    let key = match retire {
        None => engine.add_log_key().await?,
        Some(key) => engine.retire_log_key(&key).await?,
    };
    Ok(Json(LogKeyAnswer { key, keys: app.engine.log_keys()? }))
}
