//! Dead letters: listing them, and setting them going again.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use model::Status;
use model::command::Redrive;
use wire::api::{RedriveBody, SubmissionPage};

use super::actions::check_sees;
use super::submissions::{self, Only, view};
use super::{Asking, At, etag, id};
use crate::app::App;
use crate::problem::Answer;
use crate::{body, conditions};

pub(crate) async fn list(State(app): State<App>, asking: Asking, uri: Uri) -> Answer<Json<SubmissionPage>> {
    Ok(Json(submissions::page(&app, &asking, &uri, Only::Of(Status::Dead)).await?))
}

pub(crate) async fn redrive(
    State(app): State<App>,
    asking: Asking,
    At(text): At<String>,
    request: Request,
) -> Answer<Response> {
    conditions::never_once(request.headers())?;
    let id = id(&text)?;
    let (_, RedriveBody { reason }) = body::read_or_default(&request)?;
    check_sees(&app, &asking, id).await?;
    let answered = app.engine.redrive(id, Redrive { caller: asking.caller.clone(), reason }).await?;
    let view = view(&app, &answered.row);
    Ok(([etag(view.revision)], Json(view)).into_response())
}
